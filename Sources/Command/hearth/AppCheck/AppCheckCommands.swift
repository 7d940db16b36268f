import ArgumentParser
import CommandClient
import HearthJSON

/// `hearth appcheck:apps`: lists, registers and removes apps.
struct AppCheckApps: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "appcheck:apps", abstract: "Lists the apps that may exchange proofs for App Check tokens; registers and removes apps.",
        discussion: """
            Examples:
              hearth appcheck:apps
              hearth appcheck:apps --add 1:123456789012:ios:0123456789abcdef --name Chat
              hearth appcheck:apps --remove 1:123456789012:ios:0123456789abcdef
            """)

    @Option(help: ArgumentHelp("Register this app.", valueName: "app"))
    var add: String?
    @Option(help: ArgumentHelp("The name of the registered app.", valueName: "name"))
    var name: String?
    @Option(help: ArgumentHelp("Remove this registered app with its debug tokens.", valueName: "app"))
    var remove: String?
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if add != nil && remove != nil { throw ValidationError("--add and --remove exclude each other") }
        if name != nil && add == nil { throw ValidationError("--name needs --add") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let service = AppCheckClient(client)
        if let add {
            try service.register(add, name: name)
            return Outcome(text: "\(PrintableText.line(add)) is registered", json: ["appId": .string(add)])
        }
        if let remove {
            try service.remove(remove)
            return Outcome(text: "\(PrintableText.line(remove)) is removed", json: ["appId": .string(remove)])
        }
        let apps = try service.apps()
        guard !apps.isEmpty else { return Outcome(text: "No apps.", json: ["apps": []]) }
        let rows = apps.map { app in
            let from = app["isConfigured"]?.bool == true ? "functions.json" : "registered"
            return [PrintableText.line(app["appId"]?.string ?? ""), from, PrintableText.line(app["displayName"]?.string ?? "")]
        }
        return Outcome(text: TextTable.lines([["APP", "FROM", "NAME"]] + rows).joined(separator: "\n"), json: ["apps": .array(apps)])
    }
}

/// `hearth appcheck:debug-tokens`: lists, adds and removes the debug tokens of an app.
struct AppCheckDebugTokens: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "appcheck:debug-tokens", abstract: "Lists the debug tokens of an app; adds and removes them.",
        discussion: """
            A debug token is the secret of a developer's device. It is printed once, when it is added: the host keeps only a hash.

            Examples:
              hearth appcheck:debug-tokens 1:123456789012:ios:0123456789abcdef
              hearth appcheck:debug-tokens 1:123456789012:ios:0123456789abcdef --add laptop
              hearth appcheck:debug-tokens 1:123456789012:ios:0123456789abcdef --remove ID
            """)

    @Argument(help: ArgumentHelp("The id of the app.", valueName: "app"))
    var app: String
    @Option(help: ArgumentHelp("Add a token of this name.", valueName: "name"))
    var add: String?
    @Option(help: ArgumentHelp("The secret of the added token, a UUID of version 4. By default, a new one.", valueName: "uuid"))
    var secret: String?
    @Option(help: ArgumentHelp("Remove the token of this id.", valueName: "id"))
    var remove: String?
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if add != nil && remove != nil { throw ValidationError("--add and --remove exclude each other") }
        if secret != nil && add == nil { throw ValidationError("--secret needs --add") }
    }

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let service = AppCheckClient(client)
        if let add {
            let token = try service.addDebugToken(to: app, name: add, secret: secret)
            if let warning = token["warning"]?.string { Terminal.writeError("warning: \(PrintableText.line(warning))") }
            return Outcome(text: token["token"]?.string ?? "", json: .object(token))
        }
        if let remove {
            try service.removeDebugToken(remove, of: app)
            return Outcome(text: "\(PrintableText.line(remove)) is removed", json: ["id": .string(remove)])
        }
        let tokens = try service.debugTokens(of: app)
        guard !tokens.isEmpty else { return Outcome(text: "No debug tokens.", json: ["debugTokens": []]) }
        let rows = tokens.map { token in
            let id = (token["name"]?.string ?? "").split(separator: "/").last.map(String.init) ?? ""
            return [PrintableText.line(id), PrintableText.line(token["displayName"]?.string ?? "")]
        }
        return Outcome(text: TextTable.lines([["ID", "NAME"]] + rows).joined(separator: "\n"), json: ["debugTokens": .array(tokens)])
    }
}
