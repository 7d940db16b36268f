import AdminProtocol
public import HearthJSON

/// The service accounts of a host, whose key files Admin SDKs take.
public final class KeysClient {
    private let client: HostClient
    private let project: String

    /// Asks the host for its project, whose accounts are meant.
    public init(_ client: HostClient) throws(ClientFailure) {
        self.client = client
        project = try client.hostDescription().project
    }

    /// The accounts: `client_email`, `private_key_id`, `createTime` and `scopes`.
    public func accounts() throws(ClientFailure) -> [JSONValue] { try ask("GET", "")["credentials"]?.array ?? [] }

    /// The address of an account with this name, or the address itself.
    public func address(of name: String) -> String { name.contains("@") ? name : "\(name)@\(project).iam.gserviceaccount.com" }

    /// Adds an account and returns its key file, which the host does not show again.
    ///
    /// - Parameters:
    ///   - scopes: what it may do; empty for everything.
    ///   - server: the URL of the host for those who use the file.
    public func add(_ name: String, scopes: [String], server: HostURL) throws(ClientFailure) -> JSONObject {
        var body: JSONObject = ["name": .string(name)]
        if !scopes.isEmpty { body["scopes"] = .array(scopes.map { .string($0) }) }
        var file = try ask("POST", "", body)
        guard file["private_key"]?.string != nil else { throw client.isNoHost }
        file["token_uri"] = .string("\(server)/token")
        return file
    }

    /// Removes an account. Its tokens end at once.
    public func remove(_ address: String) throws(ClientFailure) { _ = try ask("DELETE", "/\(PercentCoding.encoded(address))") }

    private func ask(_ method: String, _ rest: String, _ body: JSONObject? = nil) throws(ClientFailure) -> JSONObject {
        let target = "/_messaging/v1/projects/\(PercentCoding.encoded(project))/credentials\(rest)"
        let headers = body == nil ? [] : [(name: "Content-Type", value: "application/json")]
        let answer = try client.ask(
            HostRequest(method, target, headers: headers, body: body.map { .bytes(JSONValue.object($0).serialized()) } ?? .none))
        guard let object = (try? JSONValue(parsing: answer.body))?.object else { throw client.isNoHost }
        return object
    }
}
