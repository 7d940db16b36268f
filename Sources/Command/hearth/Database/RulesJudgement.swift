import AdminProtocol
import ArgumentParser
import HearthBytes
import CommandClient
import HearthJSON

extension JudgementRequest.Operation: ExpressibleByArgument {}

/// The arguments for a simulated request.
struct JudgementOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The path from the root: /users/ada", valueName: "path"))
    var path: String

    @Option(help: "The operation: read, write (replace; null removes) or update (replace some keys).")
    var operation: JudgementRequest.Operation

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The auth variable, with uid and token; null for a signed-out user.", valueName: "json"))
    var auth = "null"

    @Option(name: .shortAndLong, parsing: .unconditional, help: ArgumentHelp("What is written.", valueName: "json"))
    var data: String?

    @Option(help: ArgumentHelp("A rules file to use instead of the rules in force.", valueName: "file"))
    var rules: String?

    @OptionGroup var query: QueryOptions

    func validate() throws {
        if operation == .read, data != nil { throw ValidationError("a read takes no --data") }
        if operation == .update, data == nil { throw ValidationError("an update needs --data: an object with the keys to replace") }
        if operation == .write, data == nil { throw ValidationError("a write needs --data: what is written, or null to remove") }
    }

    /// Sends the simulation to the host.
    func judge(_ client: HostClient, _ database: DatabaseOptions) throws(ClientFailure) -> Judgement {
        var request = JudgementRequest(operation: operation, path: "\(try database.target(path))")
        request.auth = try InputData.json(auth, "--auth")
        if let data { request.data = try InputData.json(data, "--data") }
        let parameters = query.query.parameters
        if !parameters.isEmpty {
            request.query = .object(JSONObject(parameters.map { ($0.name, (try? JSONValue(parsing: $0.value)) ?? .string($0.value)) }))
        }
        if let rules {
            let input = try InputData(data: nil, file: rules)
            var buffer = ByteBuffer()
            var count = -1
            while count != buffer.count {
                count = buffer.count
                try input.read(into: &buffer)
            }
            request.rules = .string(buffer.string())
        }
        let place = "databases/\(PercentCoding.encoded(database.name))/rules:judge"
        return Judgement(answer: try client.administer(JudgementAnswer.self, "POST", place, request.json))
    }
}

/// The decision of the rules about a request.
struct Judgement {
    let answer: JudgementAnswer

    var isAllowed: Bool { answer.allowed }

    /// The decision in one word.
    var verdict: String { Self.coloured(isAllowed ? "Allowed" : "Denied", isGood: isAllowed) }

    /// A sentence, and three lines for each evaluated rule: outcome and location, text, and reason.
    var explanation: String {
        var lines = [answer.sentence].compactMap { $0 }
        for rule in answer.rules {
            let place = rule.line.map { " at line \($0)" } ?? ""
            lines.append("")
            let word = Self.coloured(rule.outcome, isGood: rule.outcome == "true")
            lines.append("  \(word)  \(rule.rule)\(place), asked for \(rule.path)")
            if let expression = rule.expression { lines.append("    \(expression)") }
            if let reason = rule.reason { lines.append("    \(reason)") }
        }
        return lines.joined(separator: "\n")
    }

    private static func coloured(_ word: String, isGood: Bool) -> String {
        Terminal.hasColour ? "\u{1B}[\(isGood ? 32 : 31)m\(word)\u{1B}[0m" : word
    }
}

/// `hearth database:rules test`.
struct RulesTest: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Tests whether rules allow a read or a write, without doing it.",
        discussion: """
            Exit status: 0 if it is allowed, 1 if it is denied.

            Examples:
              hearth database:rules test --path /users/ada --operation read --auth '{"uid": "ada"}'
              hearth database:rules test --path /users/ada/born --operation write --data 1815 --rules new.rules.json
            """)

    @OptionGroup var judgement: JudgementOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let result = try judgement.judge(client, database)
        return Outcome(text: result.verdict, json: .object(["allowed": .bool(result.isAllowed)]), isSuccess: result.isAllowed)
    }
}

/// `hearth database:rules explain`.
struct RulesExplain: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Shows which rule at which path allows or denies a read or a write, without doing it.",
        discussion: """
            Examples:
              hearth database:rules explain --path /users/ada --operation read --auth '{"uid": "bob"}'
              hearth database:rules explain --path /users/ada --operation update --data '{"born": "no"}' --auth '{"uid": "ada"}'
            """)

    @OptionGroup var judgement: JudgementOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let result = try judgement.judge(client, database)
        return Outcome(text: [result.verdict, result.explanation].joined(separator: "\n"), json: result.answer.json)
    }
}
