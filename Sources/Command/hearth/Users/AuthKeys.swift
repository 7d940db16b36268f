import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth auth:keys`: lists, makes and removes the key files of service accounts.
struct AuthKeys: HostCommand {
    /// A part of the host to which an account can be limited.
    enum Scope: String, CaseIterable, ExpressibleByArgument { case auth, database, messaging }

    static let configuration = CommandConfiguration(
        commandName: "auth:keys", abstract: "Lists the service accounts of a host; makes key files for Admin SDKs, and removes accounts.",
        discussion: """
            A key file is the credential of a server: Admin SDKs administer users, databases and messages with it. The host keeps only the
            public key. The file is written once, with mode 0600.

            Examples:
              hearth auth:keys
              hearth auth:keys --add backend
              hearth auth:keys --add reports --scope database --output secrets/reports.json --server-url https://api.example.org
              hearth auth:keys --remove backend
            """)

    @Option(help: ArgumentHelp("Add a service account of this name.", valueName: "name"))
    var add: String?
    @Option(help: ArgumentHelp("Limit the account to this part; can be repeated. By default, it administers everything.", valueName: "scope"))
    var scope: [Scope] = []
    @Option(help: ArgumentHelp("The key file; - for standard output. (default: NAME-key.json)", valueName: "file"))
    var output: String?
    @Option(
        name: .customLong("server-url"),
        help: ArgumentHelp("The URL of the host for the servers that use the file. (default: that of --url)", valueName: "url"))
    var serverURL: String?
    @Option(help: ArgumentHelp("Remove the account of this name or address. Its tokens end at once.", valueName: "name"))
    var remove: String?
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if add != nil && remove != nil { throw ValidationError("--add and --remove exclude each other") }
        if add == nil && !(scope.isEmpty && output == nil && serverURL == nil) {
            throw ValidationError("--scope, --output and --server-url need --add")
        }
        if let add, !add.isAccountName { throw ValidationError("--add takes 1 to 63 of the characters a-z, 0-9 and -") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let service = try KeysClient(client)
        if let add { return try make(add, service, client) }
        if let remove {
            let address = service.address(of: remove)
            guard try service.accounts().contains(where: { $0["client_email"]?.string == address }) else {
                throw ClientFailure(.invalidInput, "there is no account \(PrintableText.line(address)); hearth auth:keys lists all")
            }
            try service.remove(address)
            return Outcome(text: "\(address) is removed", json: ["client_email": .string(address)])
        }
        let accounts = try service.accounts()
        guard !accounts.isEmpty else { return Outcome(text: "No keys.", json: ["keys": []]) }
        let rows = accounts.map { account in
            let scopes = (account["scopes"]?.array ?? []).compactMap(\.string).joined(separator: ",")
            return [account["client_email"]?.string ?? "", scopes, account["createTime"]?.string ?? ""].map { PrintableText.line($0) }
        }
        let table = TextTable.lines([["ACCOUNT", "SCOPES", "CREATED"]] + rows)
        return Outcome(text: table.joined(separator: "\n"), json: ["keys": .array(accounts)])
    }

    private func make(_ name: String, _ service: KeysClient, _ client: HostClient) throws(ClientFailure) -> Outcome {
        let address = service.address(of: name)
        // The host would replace the account, and its servers would lose their permission.
        guard try !service.accounts().contains(where: { $0["client_email"]?.string == address }) else {
            throw ClientFailure(.invalidInput, "\(address) has a key already; remove it with hearth auth:keys --remove \(name), or take another name")
        }
        let server = try serverURL.map { text throws(ClientFailure) in try HostURL(parsing: text) } ?? client.url
        let file = output ?? "\(name)-key.json"
        guard file != "-" else {
            let key = JSONValue.object(try service.add(name, scopes: scope.map(\.rawValue), server: server))
            return Outcome(text: key.description, json: key)
        }
        guard FileStatus(file, followsLinks: false) == nil else {
            throw ClientFailure(.invalidInput, "\(file) exists already; name another file with --output")
        }
        // Before the account: a file that cannot be written must not leave an account without one.
        let written = try OutputFile(file, isPrivate: true)
        let key = try service.add(name, scopes: scope.map(\.rawValue), server: server)
        try written.write(JSONValue.object(key).description)
        try written.finish()
        let plain = server.isTLS || server.isLoopback ? "" : "\nIts servers send tokens over http, which others on the network can read: use https."
        return Outcome(
            text: "The key of \(address) is in \(file)\(plain)",
            json: ["client_email": .string(address), "private_key_id": key["private_key_id"] ?? .null, "file": .string(file)])
    }
}

extension String {
    /// Whether it can be the name of a service account.
    fileprivate var isAccountName: Bool {
        (1...63).contains(utf8.count) && utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") }
    }
}
