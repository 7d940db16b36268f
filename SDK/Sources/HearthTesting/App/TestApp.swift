public import HearthFunctions
public import HearthJSON

/// The functions under test, ready to be called.
public struct TestApp: Sendable {
    private let backend: any TestBackend
    private let endpoints: JSONObject

    init(_ backend: any TestBackend, manifest: JSONValue) {
        self.backend = backend
        endpoints = manifest["endpoints"]?.object ?? [:]
    }

    /// The services in memory, to be looked into and changed; nil on a host.
    public var memory: InMemoryServices? { (backend as? InMemoryBackend).map { InMemoryServices(host: $0.host) } }

    // MARK: Callables

    /// Calls a callable function.
    ///
    ///     let sum = try await app.call("add", ["first": 3, "second": 4], as: Int.self, auth: "ada")
    ///
    /// - Parameters:
    ///   - name: the function's name.
    ///   - data: any `Encodable`.
    ///   - type: the type of the result. For a function without a result, call ``call(_:_:auth:app:instanceIDToken:headers:)``.
    ///   - auth: the user who calls; nil for a client that has not signed in.
    ///   - app: the app that App Check vouches for.
    ///   - instanceIDToken: the client's messaging token.
    ///   - headers: further header fields of the request.
    /// - Throws: `HttpsError` as the client gets it; a `DecodingError` where the result has another type.
    public func call<Output: Decodable>(
        _ name: String, _ data: some Encodable, as type: Output.Type, auth: TestUser? = nil, app: TestAppCheck? = nil,
        instanceIDToken: String? = nil, headers: Headers = [:]
    ) async throws -> Output {
        let caller = TestCaller(auth: auth, app: app, instanceIDToken: instanceIDToken, headers: headers)
        let result = try await call(name, try JSONEncoder().encodeValue(data), caller)
        return try JSONDecoder().decode(type, from: result)
    }

    /// Calls a callable function with data written down as JSON, and returns its result as JSON.
    @discardableResult
    public func call(
        _ name: String, _ data: JSONValue = .null, auth: TestUser? = nil, app: TestAppCheck? = nil, instanceIDToken: String? = nil,
        headers: Headers = [:]
    ) async throws -> JSONValue {
        let caller = TestCaller(auth: auth, app: app, instanceIDToken: instanceIDToken, headers: headers)
        return try await call(name, data, caller)
    }

    /// Calls a callable function with data written down as JSON, and returns its result as a type.
    public func call<Output: Decodable>(
        _ name: String, _ data: JSONValue, as type: Output.Type, auth: TestUser? = nil, app: TestAppCheck? = nil,
        instanceIDToken: String? = nil, headers: Headers = [:]
    ) async throws -> Output {
        let result = try await call(name, data, auth: auth, app: app, instanceIDToken: instanceIDToken, headers: headers)
        return try JSONDecoder().decode(type, from: result)
    }

    /// Calls a callable function as a client that wants its messages.
    ///
    /// - Returns: the messages that the function sent, and its result.
    public func stream(
        _ name: String, _ data: JSONValue = .null, auth: TestUser? = nil, app: TestAppCheck? = nil
    ) async throws -> (messages: [JSONValue], result: JSONValue) {
        let caller = TestCaller(auth: auth, app: app, instanceIDToken: nil, headers: [:])
        try requireCallable(name)
        let outcome = try await backend.call(name, data, caller, streams: true)
        return (outcome.messages, try outcome.result.get())
    }

    private func call(_ name: String, _ data: JSONValue, _ caller: TestCaller) async throws -> JSONValue {
        try requireCallable(name)
        return try await backend.call(name, data, caller, streams: false).result.get()
    }

    private func requireCallable(_ name: String) throws {
        guard endpoints[name]?["callableTrigger"] == nil else { return }
        throw HttpsError(.notFound, "There is no callable function \(name).")
    }

    // MARK: Plain HTTP

    /// Sends a request to a plain HTTP function.
    ///
    ///     let response = try await app.request("hook", method: "POST", path: "/orders?dry=1", body: Array("{}".utf8))
    ///
    /// - Parameters:
    ///   - name: the function's name.
    ///   - method: the HTTP method.
    ///   - path: the part of the address behind the function's name, with the query.
    ///   - headers: header fields.
    ///   - body: the bytes of the body.
    /// - Throws: `TestFailure` if there is no such function.
    public func request(
        _ name: String, method: String = "GET", path: String = "/", headers: Headers = [:], body: [UInt8] = []
    ) async throws -> TestResponse {
        guard endpoints[name]?["httpsTrigger"] != nil else { throw TestFailure("There is no plain HTTP function \(name).") }
        return try await backend.request(method, name, path, headers, body)
    }

    /// Sends a request with text as its body, such as JSON.
    ///
    ///     let response = try await app.request("hook", method: "POST", headers: ["Content-Type": "application/json"], body: "{}")
    public func request(
        _ name: String, method: String = "POST", path: String = "/", headers: Headers = [:], body: String
    ) async throws -> TestResponse {
        try await request(name, method: method, path: path, headers: headers, body: Array(body.utf8))
    }

    // MARK: Database events

    /// Writes to the database as described by `write`, and waits until the functions that run on it have ended.
    ///
    ///     try await app.deliver(.created("hello"), at: "messages/m1/original")
    ///
    /// For `.updated` and `.deleted` the value before is written first, which is an event of its own and runs the functions for it.
    ///
    /// - Throws: `TestFailure` if one of these functions fails, with its name and error, or if the write itself runs no function.
    public func deliver(_ write: TestWrite, at path: String, on database: Database = HearthFunctions.database) async throws {
        let failuresBefore = try await failedEvents().count
        let place = database.reference(path)
        if !write.before.isNull {
            try await place.setValue(write.before)
            try await waitForEvents()
        }
        let deliveriesBefore = try await backend.eventDeliveries()
        try await place.setValue(write.after)
        try await waitForEvents()
        guard try await backend.eventDeliveries() > deliveriesBefore else { throw TestFailure(noFunctionRan(write, path)) }
        if let failure = try await failedEvents().dropFirst(failuresBefore).first {
            throw TestFailure("\(failure.function) failed for \(failure.path): \(failure.message)")
        }
    }

    private func noFunctionRan(_ write: TestWrite, _ path: String) -> String {
        let triggers = endpoints.compactMap { TestTrigger(function: $0.key, endpoint: $0.value)?.description }.sorted()
        let list = triggers.isEmpty ? "No function has a database event." : "Functions with database events: \(triggers.joined(separator: ", "))."
        return "No function ran when \(path) was \(write.verb). \(list)"
    }

    /// Waits until no database event is waiting for a function, or being handled by one.
    public func waitForEvents() async throws { try await backend.waitForEvents() }

    /// The events for which functions have failed, oldest first.
    public func failedEvents() async throws -> [FailedEvent] { try await backend.failedEvents() }

    // MARK: Users

    /// Runs the functions for the creation or deletion of a user. The user need not exist.
    ///
    ///     try await app.deliver(.created(AuthUserRecord(uid: "ada", email: "ada@example.com")))
    ///
    /// - Throws: `TestFailure` if one of these functions fails, with its name and error, or if there is none.
    public func deliver(_ event: TestUserEvent) async throws {
        let functions = endpoints.filter { event.runs($0.value) }.map(\.key).sorted()
        guard !functions.isEmpty else { throw TestFailure("No function runs when the user \(event.user.uid) is \(event.verb).") }
        for function in functions {
            if let failure = try await backend.deliver(event, to: function) {
                throw TestFailure("\(function) failed for the user \(event.user.uid): \(failure)")
            }
        }
    }

    /// Calls a blocking function with an event, in memory only.
    ///
    ///     let answer = try await app.ask("onlyOurs", TestBlockingEvent(user: AuthUserRecord(uid: "ada", email: "ada@example.com")))
    ///
    /// - Returns: the function's answer as JSON, such as `{"customClaims": {"staff": true}}`; null if it changes nothing.
    /// - Throws: the function's `HttpsError`; `TestFailure` if there is no such function, or the test runs on a host: there, sign up.
    @discardableResult
    public func ask(_ name: String, _ event: TestBlockingEvent) async throws -> JSONValue {
        guard let type = endpoints[name]?["blockingTrigger"]?["eventType"]?.string else {
            throw TestFailure("There is no blocking function \(name).")
        }
        guard let memory = backend as? InMemoryBackend else { throw TestFailure("On a host, blocking functions run when users sign in.") }
        return try await memory.ask(name, event.context(type: type, project: memory.host.project), event.user?.json ?? .null)
    }

    // MARK: Schedules

    /// Runs a scheduled function, as if it were due now. A failed run is not repeated.
    ///
    ///     try await app.runSchedule("nightly")
    ///
    /// - Throws: `TestFailure` if the function fails, with its error, or if there is none of this name.
    public func runSchedule(_ name: String) async throws {
        guard endpoints[name]?["scheduleTrigger"] != nil else { throw TestFailure("There is no scheduled function \(name).") }
        if let failure = try await backend.runSchedule(name) { throw TestFailure("\(name) failed: \(failure)") }
    }

    // MARK: Tasks

    /// Runs a function with a task queue once, with a task that is in no queue. A failed task is not repeated.
    ///
    ///     try await app.runTask("sendMail", ["to": "ada@example.com", "text": "Hello"])
    ///
    /// - Throws: `TestFailure` if the function fails, with its error, or if there is none of this name.
    public func runTask(_ name: String, _ data: JSONValue) async throws {
        guard endpoints[name]?["taskQueueTrigger"] != nil else { throw TestFailure("There is no task queue \(name).") }
        if let failure = try await backend.runTask(name, data) { throw TestFailure("\(name) failed: \(failure)") }
    }

    // MARK: Messages

    /// Registers a device with the messaging service.
    public func registerDevice() async throws -> TestDevice { TestDevice(token: try await backend.registerDevice(), backend: backend) }

    // MARK: Log

    /// The lines that functions have logged, oldest first.
    public func logs() async throws -> [TestLogLine] { try await backend.logs() }
}

/// The services of a test in memory.
public struct InMemoryServices: Sendable {
    let host: InMemoryHost

    /// Every message that was accepted, in the form of the HTTP v1 API.
    public func sentMessages() async -> [JSONValue] { await host.run { $0.messaging.sent } }

    /// Answers the requests that functions send with `http`. Without this they fail with `denied`: a test in memory sends nothing.
    ///
    ///     await app.memory?.answerHTTP { request in
    ///         guard request.url == "https://api.example.com/weather" else { throw HTTPError(.unreachable, "No such host.") }
    ///         return HTTPResponse(text: #"{"degrees": 21}"#)
    ///     }
    ///
    /// - Parameter answer: gets each request, and returns its answer or throws an `HTTPError`.
    public func answerHTTP(_ answer: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse) async {
        await host.run { $0.servers = answer }
    }

    /// Lets time pass for the values of `cache`.
    public func advanceCache(seconds: Double) async { await host.run { $0.cache.advance(seconds: seconds) } }

    /// The requests that functions have sent with `http`, oldest first.
    public func sentRequests() async -> [HTTPRequest] { await host.run { $0.requests } }

    /// The tasks that functions have enqueued, each with `queue`, `id`, `data` and the options that were given. In memory, tasks do not run by
    /// themselves: see ``TestApp/runTask(_:_:)``.
    public func enqueuedTasks() async -> [JSONValue] { await host.run { $0.tasks.enqueued.map { .object($0) } } }

    /// Answers the calls of a service in its place: `database`, `messaging`, `auth`, `tasks`, or one of your own.
    ///
    ///     await app.memory?.stub("messaging") { method, payload in
    ///         throw HttpsError(.unavailable, "The service is down.")
    ///     }
    ///
    /// - Parameters:
    ///   - service: the name of the service.
    ///   - answer: gets the method and the payload of a call, and returns the answer; nil to leave the call to the service.
    public func stub(_ service: String, _ answer: @escaping @Sendable (String, JSONValue) throws -> JSONValue?) async {
        await host.run { $0.stubs[service] = answer }
    }
}
