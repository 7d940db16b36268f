import AdminProtocol
import HearthBytes
import CommandClient
import HearthJSON

/// Executes the statements of the prompt.
final class ShellSession {
    enum Outcome {
        case done, failed, exit
    }

    let caller: FunctionCaller
    private let who: FunctionCaller.Caller
    private let uid: String?
    private let functions: [HostFunction]?
    private let isJSON: Bool

    /// - Parameter isJSON: whether to print one JSON object per line, for programs.
    init(caller: FunctionCaller, who: FunctionCaller.Caller, uid: String?, functions: [HostFunction]?, isJSON: Bool) {
        self.isJSON = isJSON
        self.caller = caller
        self.who = who
        self.uid = uid
        self.functions = functions
    }

    /// The functions with this prefix, in the form they are typed.
    func names(beginning word: String) -> [String] {
        let names = (functions ?? []).map(\.name) + ["help", "exit"]
        let plain = names.filter { $0.hasPrefix(word) }
        return (plain.isEmpty ? names.map { String($0.map { $0 == "-" ? "." : $0 }) }.filter { $0.hasPrefix(word) } : plain).sorted()
    }

    /// Executes a statement and prints its result.
    func perform(_ text: String) -> Outcome {
        do throws(ClientFailure) {
            let statement: ShellStatement
            do throws(RelaxedJSONError) {
                statement = try ShellStatement(parsing: text)
            } catch {
                throw ClientFailure(.invalidInput, "at character \(text.utf8.prefix(error.offset).count + 1): \(error.message)")
            }
            switch statement {
            case .nothing: return .done
            case .exit: return .exit
            case .help: help()
            case .show(let name): try show(name)
            case .call(let name, let method, let arguments): return try call(name, method, arguments) ? .done : .failed
            }
            return .done
        } catch {
            Terminal.writeError("hearth: \(error.message)")
            return .failed
        }
    }

    // MARK: Statements

    private func help() {
        let rows = (functions ?? []).sorted { $0.name < $1.name }.map { [$0.name, $0.trigger, Self.example($0)] }
        if rows.isEmpty { Terminal.write("The host does not tell which functions it has; call them by name: addNumbers({firstNumber: 1})") }
        for line in TextTable.lines(rows) { Terminal.write(line) }
    }

    private func show(_ name: String) throws(ClientFailure) {
        guard let function = try find(name) else { return Terminal.write("\(name)({...}) calls it") }
        Terminal.write("\(function.name): \(function.trigger); \(Self.example(function))")
    }

    private static func example(_ function: HostFunction) -> String {
        let name = function.name
        switch function.trigger {
        case "callable": return "\(name)({...}, {auth: {uid: 'ada'}})"
        case "scheduled": return "\(name)()"
        case "task queue": return "\(name)(data)"
        case "https": return "\(name).get('/path'), \(name).post('/path', {body: {...}})"
        case let type where type.hasSuffix("created") || type.hasSuffix("create") || type.hasSuffix("deleted") || type.hasSuffix("delete"):
            return "\(name)(data, {params: {...}})"
        default: return "\(name)({before: ..., after: ...}, {params: {...}})"
        }
    }

    private func find(_ text: String) throws(ClientFailure) -> HostFunction? {
        guard let functions else { return nil }
        let name = FunctionCaller.name(text)
        if let found = functions.first(where: { $0.name == name }) { return found }
        let hint = Spelling.question(for: name, among: functions.map(\.name)).map { "; \($0)" } ?? "; help shows all"
        throw ClientFailure(.invalidInput, "there is no function \(name)\(hint)")
    }

    /// - Returns: whether the function succeeded.
    private func call(_ text: String, _ method: String?, _ arguments: [JSONValue]) throws(ClientFailure) -> Bool {
        let function = try find(text)
        let name = FunctionCaller.name(text)
        if method != nil, function.map({ $0.trigger != "https" }) == true {
            throw ClientFailure(.invalidInput, "\(name) is not a plain HTTP function; call it as \(function.map(Self.example) ?? name)")
        }
        if arguments.count > 2 { throw ClientFailure(.invalidInput, "a function takes at most two arguments: data and options") }
        if method != nil || function?.trigger == "https" { return try request(name, method, arguments) }
        if function?.isEvent == true { return try invoke(name, function?.trigger ?? "", arguments) }
        switch try caller.call(name, data: arguments.first ?? .null, as: try caller(arguments)) {
        case .result(let result): return report(200, ["result": result])
        case .failed(let failure):
            var error: JSONObject = ["message": .string(failure.message), "status": .string(failure.code)]
            if let details = failure.details { error["details"] = details }
            return report(failure.status, ["error": .object(error)])
        }
    }

    private func report(_ status: Int, _ body: JSONValue) -> Bool {
        if isJSON {
            Terminal.write(JSONValue.object(["status": status < 400 ? "success" : "error", "code": JSONValue(status), "body": body]).description)
        } else {
            Terminal.write("RESPONSE RECEIVED FROM FUNCTION: \(status), \(IndentedJSON.text(body))")
        }
        return status < 400
    }

    /// The identity of the caller: from the member `auth` of the options, or from the command line.
    private func caller(_ arguments: [JSONValue]) throws(ClientFailure) -> FunctionCaller.Caller {
        guard arguments.count > 1, let auth = arguments[1]["auth"] else { return who }
        var caller = who
        caller.idToken = nil
        guard !auth.isNull else { return caller }
        guard let uid = auth["uid"]?.string else { throw ClientFailure(.invalidInput, "auth must be null or have a uid: {auth: {uid: 'ada'}}") }
        caller.idToken = try self.caller.unsignedToken(uid: uid, claims: auth["token"]?.object ?? [:])
        return caller
    }

    private func request(_ name: String, _ method: String?, _ arguments: [JSONValue]) throws(ClientFailure) -> Bool {
        // Without a method, the argument is data to POST.
        let path = method == nil ? "" : arguments.first?.string ?? ""
        guard path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?"), path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ClientFailure(.invalidInput, "a path must begin with / and be percent-encoded: \(name).get('/today')")
        }
        let options = arguments.count > 1 ? arguments[1] : .null
        let data = method == nil ? arguments.first : options["body"]
        var headers = (options["headers"]?.object ?? [:]).map { (name: $0.key, value: $0.value.string ?? $0.value.description) }
        guard headers.allSatisfy({ !$0.name.isEmpty && !"\($0.name)\($0.value)".contains(where: \.isNewline) }) else {
            throw ClientFailure(.invalidInput, "a header must be a name with a string of one line")
        }
        var body: [UInt8]?
        if let data {
            body = data.string.map { Array($0.utf8) } ?? data.serialized()
            let hasType = headers.contains { $0.name.lowercased() == "content-type" }
            if !hasType { headers.append(("Content-Type", data.string == nil ? "application/json" : "text/plain; charset=utf-8")) }
        }
        var answer: [UInt8] = []
        let verb = method?.uppercased() ?? (data == nil ? "GET" : "POST")
        let head = try caller.request(name, method: verb, path: path, headers: headers, body: body, as: try caller(arguments)) {
            (_, piece) throws(ClientFailure) in
            for index in 0..<piece.count { answer.append(piece[index]) }
        }
        let text = String(decoding: answer, as: UTF8.self)
        return report(head.status, (try? JSONValue(parsing: answer)) ?? .string(text))
    }

    private func invoke(_ name: String, _ trigger: String, _ arguments: [JSONValue]) throws(ClientFailure) -> Bool {
        var event = SyntheticEvent()
        let data = arguments.first ?? .null
        if trigger.hasSuffix("created") || trigger.hasSuffix("create") {
            event.after = data
        } else if trigger.hasSuffix("deleted") || trigger.hasSuffix("delete") {
            event.before = data
        } else {
            guard let members = data.object, members.keys.allSatisfy({ $0 == "before" || $0 == "after" }) else {
                throw ClientFailure(.invalidInput, "\(name) runs on changes: \(name)({before: ..., after: ...})")
            }
            (event.before, event.after) = (members["before"] ?? .null, members["after"] ?? .null)
        }
        if let uid { (event.authType, event.authId) = ("app_user", uid) }
        if arguments.count > 1 {
            event.params = arguments[1]["params"]?.object ?? [:]
            if let uid = arguments[1]["auth"]?["uid"]?.string { (event.authType, event.authId) = ("app_user", uid) }
            if let type = arguments[1]["authType"]?.string { event.authType = type == "user" ? "app_user" : type }
        }
        switch try caller.invoke(name, event: event) {
        case .result: return report(200, .null)
        case .failed(let failure): return report(failure.status, ["error": .string(failure.message)])
        }
    }
}
