internal import HearthFunctions
internal import HearthJSON

/// Runs the functions of a test on a host, over HTTP.
struct HostBackend: TestBackend {
    private let process: HostProcess
    let project: String
    private let endpoints: JSONObject
    private let owner = ("Authorization", "Bearer owner")

    init(_ process: HostProcess, project: String, manifest: JSONValue) {
        self.process = process
        self.project = project
        endpoints = manifest["endpoints"]?.object ?? [:]
    }

    /// Sends a request as an administrator.
    func administer(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8] = []
    ) async throws -> WebClient.Answer {
        try await process.client.send(method, target, headers: [owner] + headers, body: body)
    }

    private func address(of function: String) -> String {
        "/\(project)/\(endpoints[function]?["region"]?[0]?.string ?? "us-central1")/\(function)"
    }

    // MARK: Functions

    func call(_ name: String, _ data: JSONValue, _ caller: TestCaller, streams: Bool) async throws -> TestOutcome {
        var headers = [("Content-Type", "application/json")] + caller.headers.map { ($0.name, $0.value) }
        if let auth = caller.auth { headers.append(("Authorization", "Bearer \(TestToken.text(auth.token(project: project)))")) }
        if let app = caller.app { headers.append(("X-Firebase-AppCheck", TestToken.text(app.token(project: project)))) }
        if let token = caller.instanceIDToken { headers.append(("Firebase-Instance-ID-Token", token)) }
        if streams { headers.append(("Accept", "text/event-stream")) }
        let body: JSONValue = ["data": data]
        let answer = try await process.client.send("POST", address(of: name), headers: headers, body: body.serialized())
        if answer.header("content-type")?.hasPrefix("text/event-stream") == true { return try Self.outcome(ofStream: answer.body) }
        if let value = try? JSONValue(parsing: answer.body) { return TestOutcome(messages: [], result: Self.result(of: value)) }
        let code: HttpsError.Code = answer.status == 404 ? .notFound : .internal
        return TestOutcome(messages: [], result: .failure(HttpsError(code, String(decoding: answer.body, as: UTF8.self))))
    }

    private static func result(of answer: JSONValue) -> Result<JSONValue, HttpsError> {
        if let error = answer["error"] { return .failure(HttpsError(parsing: unwrapped(error))) }
        return .success(unwrapped(answer["result"] ?? .null))
    }

    private static func outcome(ofStream body: [UInt8]) throws -> TestOutcome {
        var outcome = TestOutcome(messages: [], result: .success(.null))
        for line in String(decoding: body, as: UTF8.self).split(separator: "\n") where line.hasPrefix("data:") {
            let event = try JSONValue(parsing: String(line.dropFirst(5)))
            if let message = event["message"] { outcome.messages.append(unwrapped(message)) } else { outcome.result = result(of: event) }
        }
        return outcome
    }

    /// The value with the protocol's wrappers of large integers replaced by numbers.
    private static func unwrapped(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(unwrapped))
        case .object(let members):
            if let type = members["@type"]?.string, type.hasSuffix("Int64Value"), let number = members["value"]?.string {
                return (try? JSONValue(parsing: number)) ?? value
            }
            return .object(JSONObject(members.map { ($0.key, unwrapped($0.value)) }))
        default: return value
        }
    }

    func request(_ method: String, _ name: String, _ path: String, _ headers: Headers, _ body: [UInt8]) async throws -> TestResponse {
        let target = address(of: name) + (path.hasPrefix("/") ? path : "/\(path)")
        let answer = try await process.client.send(method, target, headers: headers.map { ($0.name, $0.value) }, body: body)
        var fields: Headers = [:]
        for (name, value) in answer.headers { fields.append(name, value) }
        return TestResponse(status: answer.status, headers: fields, body: answer.body)
    }

    // MARK: Events

    func deliver(_ event: TestUserEvent, to function: String) async throws -> String? {
        try await invoke(function, [event.verb == "created" ? "after" : "before": event.user.json])
    }

    func runSchedule(_ name: String) async throws -> String? { try await invoke(name, [:]) }

    func runTask(_ name: String, _ data: JSONValue) async throws -> String? { try await invoke(name, ["after": data]) }

    /// Runs a function once for a made-up event, and returns the text of its error.
    private func invoke(_ function: String, _ body: JSONValue) async throws -> String? {
        let answer = try await administer(
            "POST", "/_/api/functions/\(function):invoke", headers: [("Content-Type", "application/json")], body: body.serialized())
        guard answer.status == 200 else {
            throw TestFailure("The host did not run \(function): \(String(decoding: answer.body, as: UTF8.self))")
        }
        return try JSONValue(parsing: answer.body)["error"]?.string
    }

    func waitForEvents() async throws {
        while try await metric("hearth_outbox_events_waiting") > 0 { try await Task.sleep(for: .milliseconds(10)) }
    }

    func eventDeliveries() async throws -> Int { try await metric("hearth_outbox_deliveries_total") }

    /// The sum of a metric's values.
    private func metric(_ name: String) async throws -> Int {
        let answer = try await administer("GET", "/_/metrics")
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
        let values = lines.filter { $0.hasPrefix("\(name) ") || $0.hasPrefix("\(name){") }.compactMap { $0.split(separator: " ").last }
        guard !values.isEmpty else { throw TestFailure("The host has no metric \(name).") }
        return values.reduce(0) { $0 + (Int($1) ?? 0) }
    }

    func failedEvents() async throws -> [FailedEvent] {
        let answer = try await administer("GET", "/_/api/databases/-/dead-letters?limit=1000")
        guard answer.status == 200 else { return [] }
        return (try JSONValue(parsing: answer.body)["deadLetters"]?.array ?? []).map { letter in
            let path = (letter["path"]?.string ?? "").split(separator: "/").joined(separator: "/")
            return FailedEvent(function: letter["function"]?.string ?? "", path: path, message: letter["error"]?.string ?? "")
        }
    }

    // MARK: Messages

    func registerDevice() async throws -> String {
        let answer = try await administer(
            "POST", "/_messaging/v1/projects/\(project)/devices", body: Array(#"{"platform":"android","package":"com.example.app"}"#.utf8))
        guard let token = try JSONValue(parsing: answer.body)["token"]?.string else {
            throw TestFailure("The host did not register a device: \(String(decoding: answer.body, as: UTF8.self))")
        }
        return token
    }

    func messages(for token: String) async throws -> [JSONValue] {
        let answer = try await administer("GET", "/_messaging/v1/devices/\(token)/messages")
        return try JSONValue(parsing: answer.body)["messages"]?.array ?? []
    }

    func unregister(_ token: String) async throws {
        _ = try await administer("POST", "/_messaging/v1/devices/\(token)/unregister")
    }

    // MARK: Log

    func logs() async throws -> [TestLogLine] {
        let names = endpoints.keys.joined(separator: ",")
        let answer = try await administer("GET", "/_/api/logs?limit=10000&function=\(names)")
        return try answer.body.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let line = try JSONValue(parsing: Array(line))
            // A line of the host about a function, for example about an event that failed.
            if line["label"] == "hearth", line["function"] != "hearth" { return nil }
            return TestLogLine(
                function: line["function"]?.string, level: FunctionLogger.Level(rawValue: line["severity"]?.string ?? "") ?? .info,
                message: line["message"]?.string ?? "", fields: line["fields"]?.object ?? [:])
        }
    }
}
