import AdminProtocol
import ArgumentParser
import HearthBytes
import CommandClient
import HearthJSON

/// `hearth functions:call`: calls a function manually.
struct FunctionsCall: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "functions:call", abstract: "Calls a function and prints its answer.",
        discussion: """
            A callable gets DATA and prints its result as JSON. A plain HTTP function gets DATA as the body, with --method and \
            --path. An event function gets a synthetic event, with DATA as the created or deleted value or user.

            DATA is JSON, also without quotes around keys; @FILE reads it from a file, and - or @- from standard input.

            Examples:
              hearth functions:call addNumbers '{"firstNumber": 1, "secondNumber": 2}'
              hearth functions:call addMessage '{text: "hello"}' --as ada
              hearth functions:call report @orders.json --stream
              hearth functions:call status --path '/today?verbose=1' --header 'Accept: text/plain'
              hearth functions:call makeUppercase '"hello"' --params '{pushId: "m1"}'
            """)

    @Argument(help: ArgumentHelp("The function; group.name is group-name.", valueName: "name"))
    var name: String

    @Argument(help: ArgumentHelp("The data: JSON, @FILE, or - for standard input. (default: null)", valueName: "data"))
    var data: String?

    @OptionGroup var who: CallerOptions

    @Flag(help: "Print the chunks of a callable before its result, one per line, as they arrive.")
    var stream = false

    @Flag(help: "Indent the result.")
    var pretty = false

    @OptionGroup var web: WebOptions
    @OptionGroup var event: EventOptions
    @OptionGroup var connection: ConnectionOptions

    func perform(_ client: HostClient) throws(ClientFailure) -> Outcome {
        let caller = FunctionCaller(client)
        let name = FunctionCaller.name(name)
        let known = try? caller.functions()
        let trigger = known?.first { $0.name == name }?.trigger ?? (web.isGiven ? "https" : event.isGiven ? "event" : "callable")
        if let known, !known.isEmpty, !known.contains(where: { $0.name == name }) {
            let hint = Spelling.question(for: name, among: known.map(\.name)).map { "; \($0)" } ?? "; hearth functions:list shows all"
            throw ClientFailure(.invalidInput, "there is no function \(name) at \(client.url)\(hint)")
        }
        try web.require(trigger == "https", name)
        try event.require(trigger != "https" && trigger != "callable", name)
        switch trigger {
        case "callable": return try call(name, caller)
        case let type where type.contains("/user.before"):
            throw ClientFailure(.invalidInput, "\(name) is called by sign-ins, as a part of them; sign in to run it")
        case "https": return try web.request(name, data, caller, try who.caller(caller), isJSON: connection.json)
        default: return try invoke(name, trigger, caller)
        }
    }

    private func call(_ name: String, _ caller: FunctionCaller) throws(ClientFailure) -> Outcome {
        let data = try CallData.json(data) ?? .null
        let (isJSON, isPretty) = (connection.json, pretty)
        let print: (JSONValue) throws(ClientFailure) -> Void = { message in
            Terminal.write(isJSON ? JSONValue.object(["status": "message", "message": message]).description : Self.text(message, isPretty))
        }
        return try outcome(caller.call(name, data: data, as: try who.caller(caller), didReceive: stream ? print : nil), of: name)
    }

    private func invoke(_ name: String, _ trigger: String, _ caller: FunctionCaller) throws(ClientFailure) -> Outcome {
        var synthetic = try event.event(data: try CallData.json(data), trigger: trigger, name: name)
        if let uid = who.uid { (synthetic.authType, synthetic.authId) = ("app_user", uid) }
        let answer = try caller.invoke(name, event: synthetic)
        if case .result = answer { return Outcome(text: "\(name) succeeded", json: .null) }
        return try outcome(answer, of: name)
    }

    private func outcome(_ answer: FunctionCaller.CallOutcome, of name: String) throws(ClientFailure) -> Outcome {
        switch answer {
        case .result(let result): return Outcome(text: Self.text(result, pretty), json: result)
        case .failed(let failure): throw failure.asFailure(of: name)
        }
    }

    private static func text(_ value: JSONValue, _ isPretty: Bool) -> String { isPretty ? IndentedJSON.text(value) : value.description }
}

/// Options for the identity of the caller.
struct CallerOptions: ParsableArguments {
    @Option(name: .customLong("as"), parsing: .unconditional, help: ArgumentHelp("Call as this user; only in development mode.", valueName: "uid"))
    var uid: String?

    @Option(help: ArgumentHelp("More claims of that user's token, as JSON.", valueName: "json"))
    var claims: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Call with this ID token.", valueName: "token"))
    var idToken: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Call with this App Check token.", valueName: "token"))
    var appCheck: String?

    func validate() throws {
        if uid != nil, idToken != nil { throw ValidationError("--as and --id-token exclude each other") }
        if uid == nil, claims != nil { throw ValidationError("--claims needs --as") }
    }

    func caller(_ functions: FunctionCaller) throws(ClientFailure) -> FunctionCaller.Caller {
        var caller = FunctionCaller.Caller()
        caller.idToken = idToken
        caller.appCheckToken = appCheck
        if let uid {
            let more = try CallData.parsed(claims ?? "{}", "what --claims says")
            guard let object = more.object else { throw ClientFailure(.invalidInput, "--claims must be an object, as in '{\"admin\": true}'") }
            caller.idToken = try functions.unsignedToken(uid: uid, claims: object)
        }
        return caller
    }
}

extension FunctionFailure {
    /// One sentence for a person.
    var sentence: String {
        let text = message.isEmpty || message == code ? code : "\(code): \(message)"
        guard let details, !details.isNull else { return text }
        return "\(text) \(details)"
    }

    func asFailure(of name: String) -> ClientFailure {
        var members: JSONObject = ["code": .string(code), "message": .string(message)]
        if let details { members["details"] = details }
        // If a function fails without an `HttpsError`, the host writes the reason to the log only.
        let hint = sentence == "INTERNAL" ? "; the reason is in the log: hearth functions:log --only \(name)" : ""
        return ClientFailure(.refused(status: status), "\(name) failed: \(sentence)\(hint)", details: .object(members))
    }
}
