import AdminProtocol
import ArgumentParser
import HearthBytes
import CommandClient
import HearthJSON

/// `hearth database:rules`: the security rules of a database.
struct DatabaseRules: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database:rules", abstract: "Shows, uploads, tests and explains the security rules of a database.",
        discussion: """
            Examples:
              hearth database:rules get
              hearth database:rules set database.rules.json
              hearth database:rules test --path /users/ada --operation read --auth '{"uid": "ada"}'
              hearth database:rules explain --path /users/ada --operation write --data '{"born": "no"}'
            """,
        subcommands: [RulesGet.self, RulesSet.self, RulesTest.self, RulesExplain.self])
}

/// `hearth database:rules get`.
struct RulesGet: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints the rules in force, as they were written.",
        discussion: """
            Examples:
              hearth database:rules get --output database.rules.json
              hearth database:rules get --strict
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write to instead of standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "As strict JSON, without comments.")
    var strict = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let query = strict || connection.json ? [(name: "format", value: "strict")] : []
        let answer = try client.ask(HostRequest("GET", RulesPlace.target(database).target(query)))
        guard output != nil || !connection.json else {
            guard let rules = try? JSONValue(parsing: answer.body) else {
                throw ClientFailure(.notHTTP, "the server at \(client.url) is not a Hearth host; check --url")
            }
            return Outcome(json: rules)
        }
        let file = try OutputFile(output)
        try file.write(answer.body.span)
        try file.finish()
        guard let output else { return Outcome() }
        return Outcome(text: "Rules written to \(output)", json: .object(["file": .string(output)]))
    }
}

/// `hearth database:rules set`.
struct RulesSet: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Puts rules in force, or reports their errors.",
        discussion: """
            If functions.json names a rules file, a change of that file replaces the rules set here.

            Examples:
              hearth database:rules set database.rules.json
              hearth database:rules set database.rules.json --dry-run
            """)

    @Argument(help: ArgumentHelp("A file with rules; - for standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Only check them.")
    var dryRun = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let input = try InputData(data: nil, file: file)
        try RulesPlace.put(
            input.body(), of: input.name, to: RulesPlace.target(database), client, dryRun: dryRun, onFailure: "the rules in force are as before")
        var json: JSONObject = ["valid": true, "inForce": .bool(!dryRun)]
        guard !dryRun else { return Outcome(text: "\(input.name) is valid; the rules in force are as before", json: .object(json)) }
        var text = "Rules of \(input.name) are in force"
        if let file = RulesPlace.rulesFile(client) {
            text += " until the host's \(file) changes, which functions.json names"
            json["untilChangeOf"] = .string(file)
        }
        return Outcome(text: text, json: .object(json))
    }
}

enum RulesPlace {
    static func target(_ database: DatabaseOptions) -> DatabaseTarget { target(instance: database.instance) }

    static func target(instance: String?) -> DatabaseTarget { DatabaseTarget(path: "/.settings/rules", instance: instance) }

    /// Puts rules in force, or only checks them.
    ///
    /// - Parameter onFailure: the end of the message for rules with an error, whose line and column come first.
    static func put(
        _ body: HostRequest.Body, of file: String, to target: DatabaseTarget, _ client: HostClient, dryRun: Bool, onFailure: String
    ) throws(ClientFailure) {
        let query = dryRun ? [(name: "dryRun", value: "true")] : []
        let headers = [(name: "Content-Type", value: "application/json")]
        let answer = try client.send(HostRequest("PUT", target.target(query), headers: headers, body: body))
        guard answer.status >= 400 else { return }
        let failure = client.refusal(answer)
        guard answer.status == 400, failure.message.first?.isNumber == true else { throw failure }
        throw ClientFailure(failure.kind, "\(file):\(failure.message); \(onFailure)")
    }

    /// The rules file whose next change would replace the uploaded rules; nil if there is none or the host does not tell.
    static func rulesFile(_ client: HostClient) -> String? {
        try? client.hostDescription().rulesFile
    }
}
