internal import HearthFunctions
internal import HearthJSON

/// Answers the service calls of a test's body, outside of any function, over the REST interface of a host.
struct HostDatabase: ServiceBackend {
    private let backend: HostBackend

    init(_ backend: HostBackend) { self.backend = backend }

    func answer(_ service: String, _ method: String, _ payload: [UInt8]) async -> ServiceOutcome {
        do {
            if service == "auth" { return try await HostUsers(backend).answer(method, try JSONValue(parsing: payload)) }
            guard service == "database" else {
                throw HttpsError(.unimplemented, "On a host, only the database and users can be used outside of functions.")
            }
            return try await database(method, try JSONValue(parsing: payload))
        } catch {
            let thrown = error as? HttpsError ?? HttpsError(.unavailable, "\(error)")
            let object: JSONValue = ["code": .string(thrown.code.rawValue), "message": .string(thrown.message)]
            return ServiceOutcome(isOK: false, body: object.serialized())
        }
    }

    private func database(_ method: String, _ payload: JSONValue) async throws -> ServiceOutcome {
        let path = payload["path"]?.string ?? ""
        let value = payload["value"] ?? .null
        switch method {
        case "get":
            var parameters = payload["form"] == "export" ? [("format", "export")] : []
            if let query = payload["query"] { parameters += Self.parameters(of: query) }
            let headers = payload["etag"] == true ? [("X-Firebase-ETag", "true")] : []
            let answer = try await send("GET", path, payload, parameters, headers: headers)
            return try reply(answer, path) { ["value": $0, "etag": .string(answer.header("etag") ?? "")] }
        case "observe": return try await observe(payload)
        case "set": return try reply(try await send("PUT", path, payload, body: Self.value(value, payload["priority"])), path) { _ in .null }
        case "setPriority":
            return try reply(try await send("PUT", path + "/.priority", payload, body: payload["priority"] ?? .null), path) { _ in .null }
        case "update": return try reply(try await send("PATCH", path, payload, body: value), path) { _ in .null }
        case "push": return try reply(try await send("POST", path, payload, body: Self.value(value, payload["priority"])), path) { $0 }
        case "remove": return try reply(try await send("DELETE", path, payload), path) { _ in .null }
        case "transaction":
            let headers = [("if-match", payload["etag"]?.string ?? ""), ("X-Firebase-ETag", "true")]
            let answer = try await send("PUT", path, payload, headers: headers, body: Self.value(value, payload["priority"]))
            if answer.status == 412 {
                let current = try JSONValue(parsing: answer.body)
                let conflict: JSONValue = ["committed": false, "value": current, "etag": .string(answer.header("etag") ?? "")]
                return ServiceOutcome(isOK: true, body: conflict.serialized())
            }
            return try reply(answer, path) { ["committed": true, "value": $0] }
        default: throw HttpsError(.unimplemented, "database has no method \"\(method)\"")
        }
    }

    /// The interval for reading a value again that the body of a test observes.
    private static let observeInterval = Duration.milliseconds(20)

    /// Reads the value until it is another one than the caller has.
    private func observe(_ payload: JSONValue) async throws -> ServiceOutcome {
        let end = payload["timeoutMilliseconds"]?.int.map { ContinuousClock.now + .milliseconds($0) }
        while true {
            let answer = try await database("get", payload)
            guard answer.isOK else { return answer }
            let value = try JSONValue(parsing: answer.body)["value"] ?? .null
            let mark = JSONValue.string(MemoryTree.etag(value))
            if mark != payload["mark"] { return .value(["changed": true, "value": value, "mark": mark]) }
            if Task.isCancelled || end.map({ $0 <= .now }) == true { return .value(["changed": false]) }
            try? await Task.sleep(for: Self.observeInterval)
        }
    }

    private func send(
        _ method: String, _ path: String, _ payload: JSONValue, _ parameters: [(String, String)] = [], headers: [(String, String)] = [],
        body: JSONValue? = nil
    ) async throws -> WebClient.Answer {
        var parameters = parameters
        parameters.append(("ns", payload["instance"]?.string ?? "\(backend.project)-default-rtdb"))
        if let auth = payload["auth"] { parameters.append(("auth_variable_override", "\(auth)")) }
        let query = parameters.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
        let keys = path.split(separator: "/").map { $0 == ".priority" ? ".priority" : Self.escaped(String($0)) }
        return try await backend.administer(
            method, "/\(keys.joined(separator: "/")).json?\(query)", headers: headers, body: body?.serialized() ?? [])
    }

    private func reply(_ answer: WebClient.Answer, _ path: String, _ make: (JSONValue) -> JSONValue) throws -> ServiceOutcome {
        let value = answer.body.isEmpty ? .null : try JSONValue(parsing: answer.body)
        if answer.status < 300 { return ServiceOutcome(isOK: true, body: make(value).serialized()) }
        let message = value["error"]?.string ?? "The host answered \(answer.status)."
        let reason =
            switch answer.status {
            case 401, 403: "permission-denied"
            case 400 where message.hasPrefix("Index not defined"): "index-not-defined"
            case 400: "invalid-argument"
            case 404: "unknown-instance"
            case 503: "unavailable"
            default: "internal"
            }
        let error: JSONValue = ["code": .string(reason), "message": .string(message), "details": ["reason": .string(reason), "path": .string(path)]]
        return ServiceOutcome(isOK: false, body: error.serialized())
    }

    /// A value with its priority, as the body of a write.
    private static func value(_ value: JSONValue, _ priority: JSONValue?) -> JSONValue {
        guard let priority else { return value }
        if case .object(var members) = value {
            members[".priority"] = priority
            return .object(members)
        }
        return value.isNull ? .null : [".value": value, ".priority": priority]
    }

    private static func parameters(of query: JSONValue) -> [(String, String)] {
        (query.object ?? [:]).map { name, value in
            guard let bound = value["value"] else { return (name, "\(value)") }
            return (name, value["key"].map { "\(bound),\($0)" } ?? "\(bound)")
        }
    }

    /// Percent-encoded for a path or a query.
    private static func escaped(_ text: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~".utf8)
        return text.utf8.map { byte in
            plain.contains(byte) ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
