import AdminProtocol
import ArgumentParser
import HearthBytes
import CommandClient
import HearthJSON

/// Options for requests to plain HTTP functions.
struct WebOptions: ParsableArguments {
    @Option(name: [.customShort("X"), .long], help: ArgumentHelp("The HTTP method. (default: GET, with data POST)", valueName: "method"))
    var method: String?

    @Option(help: ArgumentHelp("The path and query after the function's name: /path?query", valueName: "path"))
    var path: String?

    @Option(name: [.customShort("H"), .long], help: ArgumentHelp("A header, as in 'Accept: text/html'; may be repeated.", valueName: "header"))
    var header: [String] = []

    @Flag(name: .shortAndLong, help: "Print status and headers, too.")
    var include = false

    /// Whether an option was given that only applies to such functions.
    var isGiven: Bool { method != nil || path != nil || !header.isEmpty || include }

    func validate() throws {
        if let path, !path.hasPrefix("/"), !path.hasPrefix("?") { throw ValidationError("--path must begin with / or ?") }
        if let path, !path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw ValidationError("--path must be percent-encoded: it holds a space or another character that a URL cannot have")
        }
        if let method, method.isEmpty || !method.utf8.allSatisfy({ ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 == UInt8(ascii: "-") }) {
            throw ValidationError("--method must be a word such as PUT")
        }
        for text in header where !text.contains(":") || text.contains(where: \.isNewline) {
            throw ValidationError("a header must be a name, a colon and a value, as in 'Accept: text/html'")
        }
    }

    func require(_ isWeb: Bool, _ name: String) throws(ClientFailure) {
        guard !isWeb, isGiven else { return }
        throw ClientFailure(.invalidInput, "--method, --path, --header and --include are for plain HTTP functions, and \(name) is not one")
    }

    func request(
        _ name: String, _ data: String?, _ functions: FunctionCaller, _ caller: FunctionCaller.Caller, isJSON: Bool
    ) throws(ClientFailure) -> Outcome {
        let body = try data.map { (data) throws(ClientFailure) in Array(try CallData.content(data).text.utf8) }
        var headers = header.map { text in
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
        }
        if let body, !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            let isValue = (try? JSONScan.validate(body)) != nil
            headers.append(("Content-Type", isValue ? "application/json" : "text/plain; charset=utf-8"))
        }
        let method = method?.uppercased() ?? (body == nil ? "GET" : "POST")
        let file = try OutputFile(nil)
        var whole = ByteBuffer()
        var isBegun = false
        let head = try functions.request(name, method: method, path: path ?? "", headers: headers, body: body, as: caller) {
            (head, piece) throws(ClientFailure) in
            if isJSON { return whole.append(piece) }
            if include, !isBegun { try file.write(Self.text(head)) }
            isBegun = true
            try file.write(piece)
        }
        if !isJSON, include, !isBegun { try file.write(Self.text(head)) }
        if !isJSON, file.count > 0 { try file.finish() }
        if head.status >= 400 {
            throw ClientFailure(.refused(status: head.status), "\(name) answered with status \(head.status)", details: Self.json(head, whole.array()))
        }
        return Outcome(json: Self.json(head, whole.array()))
    }

    private static func text(_ head: HostAnswerHead) -> String {
        (["\(head.status)"] + head.headers.map { "\($0.name): \($0.value)" } + ["", ""]).joined(separator: "\n")
    }

    private static func json(_ head: HostAnswerHead, _ body: [UInt8]) -> JSONValue {
        let text = String(decoding: body, as: UTF8.self)
        return [
            "status": .int(Int64(head.status)), "headers": .object(JSONObject(head.headers.map { ($0.name, .string($0.value)) })),
            "body": (try? JSONValue(parsing: body)) ?? .string(text),
        ]
    }
}

/// Options for the event of an event function.
struct EventOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The value before the write, as JSON.", valueName: "json"))
    var before: String?

    @Option(help: ArgumentHelp("The value after the write, as JSON.", valueName: "json"))
    var after: String?

    @Option(help: ArgumentHelp("The values of the wildcards in the function's path, as JSON.", valueName: "json"))
    var params: String?

    /// Whether an option was given that only applies to such functions.
    var isGiven: Bool { before != nil || after != nil || params != nil }

    func require(_ isEvent: Bool, _ name: String) throws(ClientFailure) {
        guard !isEvent, isGiven else { return }
        throw ClientFailure(.invalidInput, "--before, --after and --params are for event functions, and \(name) is not one")
    }

    func event(data: JSONValue?, trigger: String, name: String) throws(ClientFailure) -> SyntheticEvent {
        var event = SyntheticEvent()
        if let before { event.before = try CallData.parsed(before, "what --before says") }
        if let after { event.after = try CallData.parsed(after, "what --after says") }
        let params = try CallData.parsed(params ?? "{}", "what --params says")
        guard let object = params.object, object.values.allSatisfy({ $0.string != nil }) else {
            throw ClientFailure(.invalidInput, "--params must be an object of strings, as in '{\"pushId\": \"m1\"}'")
        }
        event.params = object
        guard let data else { return event }
        guard before == nil, after == nil else {
            throw ClientFailure(.invalidInput, "give either the data, or --before and --after")
        }
        if trigger == "scheduled" { throw ClientFailure(.invalidInput, "\(name) runs at due times, without data") }
        if trigger == "task queue" {
            event.after = data
        } else if trigger.hasSuffix("deleted") || trigger.hasSuffix("delete") {
            event.before = data
        } else if trigger.hasSuffix("created") || trigger.hasSuffix("create") || trigger.hasSuffix("written") || trigger.hasSuffix("write") {
            event.after = data
        } else {
            throw ClientFailure(.invalidInput, "\(name) runs on changes; give the old value with --before and the new one with --after")
        }
        return event
    }
}
