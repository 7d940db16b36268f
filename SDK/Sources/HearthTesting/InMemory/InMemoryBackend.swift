internal import CHearth
internal import HearthFunctions
internal import HearthJSON
internal import Synchronization

/// Runs the functions of a test in the test's own process.
struct InMemoryBackend: TestBackend {
    let host: InMemoryHost

    init(_ host: InMemoryHost) { self.host = host }

    func call(_ name: String, _ data: JSONValue, _ caller: TestCaller, streams: Bool) async throws -> TestOutcome {
        let context = callContext(caller, streams: streams)
        let refusal = await host.run { host -> HttpsError? in
            let isRefused = host.endpoints[name]?["enforceAppCheck"] == true && caller.app == nil
            return isRefused ? HttpsError(.unauthenticated, "Unauthenticated") : nil
        }
        if let refusal { return TestOutcome(messages: [], result: .failure(refusal)) }
        let outcome = await start(name, context, data.serialized())
        let messages = try outcome.chunks.map { try JSONValue(parsing: $0) }
        if outcome.kind == HEARTH_RESULT {
            return TestOutcome(messages: messages, result: .success(outcome.body.isEmpty ? .null : try JSONValue(parsing: outcome.body)))
        }
        return TestOutcome(messages: messages, result: .failure(HttpsError(parsing: try JSONValue(parsing: outcome.body))))
    }

    private func start(_ name: String, _ context: JSONValue, _ payload: [UInt8]) async -> InMemoryHost.Outcome {
        await withCheckedContinuation { continuation in
            host.loop.post { [host] in
                host.start(name, context: context, payload: payload) { continuation.resume(returning: $0) }
            }
        }
    }

    private func callContext(_ caller: TestCaller, streams: Bool) -> JSONValue {
        var context = requestContext("POST", "/", caller.headers)
        if let auth = caller.auth {
            let token = auth.token(project: host.project)
            context["auth"] = ["uid": .string(auth.uid), "token": token, "rawToken": .string(TestToken.text(token))]
        }
        if let app = caller.app { context["app"] = ["appId": .string(app.appID), "token": app.token(project: host.project)] }
        context["instanceIdToken"] = caller.instanceIDToken.map { .string($0) }
        context["acceptsStreaming"] = .bool(streams)
        return .object(context)
    }

    private func requestContext(_ method: String, _ path: String, _ headers: Headers) -> JSONObject {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let location = parts.first.map(String.init) ?? ""
        var context: JSONObject = [
            "method": .string(method), "path": .string(location.hasPrefix("/") ? location : "/\(location)"),
            "headers": .array(headers.flatMap { [.string($0.name.lowercased()), .string($0.value)] }), "peer": "127.0.0.1:50000",
        ]
        if parts.count > 1 { context["query"] = .string(String(parts[1])) }
        return context
    }

    func request(_ method: String, _ name: String, _ path: String, _ headers: Headers, _ body: [UInt8]) async throws -> TestResponse {
        let outcome = await start(name, .object(requestContext(method, path, headers)), body)
        if outcome.kind == HEARTH_ERROR {
            let error = HttpsError(parsing: try JSONValue(parsing: outcome.body))
            return TestResponse(status: error.code.httpStatus, headers: [:], body: outcome.body)
        }
        let head = try JSONValue(parsing: outcome.head)
        let texts = (head["headers"]?.array ?? []).compactMap(\.string)
        var fields: Headers = [:]
        for index in stride(from: 0, to: texts.count - 1, by: 2) { fields.append(texts[index], texts[index + 1]) }
        return TestResponse(status: head["status"]?.int ?? 200, headers: fields, body: outcome.chunks.flatMap { $0 } + outcome.body)
    }

    func deliver(_ event: TestUserEvent, to function: String) async throws -> String? {
        let outcome = await start(function, event.context(project: host.project), event.user.json.serialized())
        guard outcome.kind == HEARTH_ERROR else { return nil }
        let error = HttpsError(parsing: try JSONValue(parsing: outcome.body))
        return "\(error.code.rawValue): \(error.message)"
    }

    func runSchedule(_ name: String) async throws -> String? {
        let region = await host.run { $0.endpoints[name]?["region"]?[0]?.string ?? "us-central1" }
        let job = "firebase-schedule-\(name)-\(region)"
        let time = JSONValue.string(TestTime.now)
        let event: JSONObject = [
            "id": "test-schedule", "type": "google.cloud.scheduler.job.v1.executed",
            "source": .string("//cloudscheduler.googleapis.com/projects/\(host.project)/locations/\(region)/jobs/\(job)"), "time": time,
            "jobName": .string(job), "scheduleTime": time, "location": .string(region), "params": [:], "authType": "unknown", "attempt": 1,
            "chainDepth": 0,
        ]
        let outcome = await start(name, ["event": .object(event)], Array("{}".utf8))
        guard outcome.kind == HEARTH_ERROR else { return nil }
        let error = HttpsError(parsing: try JSONValue(parsing: outcome.body))
        return "\(error.code.rawValue): \(error.message)"
    }

    func runTask(_ name: String, _ data: JSONValue) async throws -> String? {
        let region = await host.run { $0.endpoints[name]?["region"]?[0]?.string ?? "us-central1" }
        let time = JSONValue.string(TestTime.now)
        let event: JSONObject = [
            "id": "test-task", "type": "google.cloud.tasks.task.v2.dispatched",
            "source": .string("//cloudtasks.googleapis.com/projects/\(host.project)/locations/\(region)/queues/\(name)"), "time": time,
            "queueName": .string(name), "scheduledTime": time, "location": .string(region), "retryCount": 0, "executionCount": 0, "headers": [:],
            "params": [:], "authType": "unknown", "attempt": 1, "chainDepth": 0,
        ]
        let outcome = await start(name, ["event": .object(event)], data.serialized())
        guard outcome.kind == HEARTH_ERROR else { return nil }
        let error = HttpsError(parsing: try JSONValue(parsing: outcome.body))
        return "\(error.code.rawValue): \(error.message)"
    }

    /// Calls a blocking function.
    func ask(_ function: String, _ context: JSONValue, _ payload: JSONValue) async throws -> JSONValue {
        let outcome = await start(function, context, payload.serialized())
        let body = outcome.body.isEmpty ? .null : try JSONValue(parsing: outcome.body)
        if outcome.kind == HEARTH_ERROR { throw HttpsError(parsing: body) }
        return body
    }

    func waitForEvents() async throws {
        await withCheckedContinuation { continuation in
            host.loop.post { [host] in host.events.whenIdle { continuation.resume() } }
        }
    }

    func eventDeliveries() async throws -> Int { await host.run { $0.events.deliveries } }
    func failedEvents() async throws -> [FailedEvent] { await host.run { $0.events.failures } }
    func registerDevice() async throws -> String { await host.run { $0.messaging.register() } }
    func messages(for token: String) async throws -> [JSONValue] { await host.run { $0.messaging.messages(for: token) } }
    func unregister(_ token: String) async throws { await host.run { $0.messaging.unregister(token) } }
    func logs() async throws -> [TestLogLine] { await host.run { host in host.lines.withLock { $0 } } }
}

extension HttpsError.Code {
    /// The status of an HTTP answer with this error.
    var httpStatus: Int {
        switch self {
        case .ok: 200
        case .cancelled: 499
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .resourceExhausted: 429
        case .unimplemented: 501
        case .unavailable: 503
        case .deadlineExceeded: 504
        case .unknown, .internal, .dataLoss: 500
        }
    }
}
