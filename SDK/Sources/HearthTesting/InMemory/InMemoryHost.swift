internal import CHearth
import Glibc
internal import HearthFunctions
internal import HearthJSON
internal import Synchronization

/// A host in the test's own process: it calls functions through the tables of `hearth.h`, on a thread of its own, and offers them a
/// database, a messaging service and users in memory.
// Everything but `lines` belongs to the loop's thread.
final class InMemoryHost: @unchecked Sendable {
    /// The end of an invocation, as the plugin says it.
    struct Outcome: Sendable {
        var kind: hearth_answer_kind
        var head: [UInt8] = []
        var body: [UInt8] = []
        /// The parts of the answer that were sent before its end.
        var chunks: [[UInt8]] = []
    }

    private struct OpenInvocation {
        var function: String
        var chainDepth: Int
        var acceptsChunks: Bool
        var outcome = Outcome(kind: HEARTH_END)
        var completion: (Outcome) -> Void
    }

    let loop = TestLoop()
    let project: String
    private(set) var endpoints: JSONObject = [:]
    var database: MemoryDatabase
    var messaging: MemoryMessaging
    var users: MemoryUsers
    var cache = MemoryCache()
    var tasks = MemoryTasks()
    var events = EventQueue()
    var observers = MemoryObservers()
    /// Answers the requests of functions to other servers.
    var servers: (@Sendable (HTTPRequest) throws -> HTTPResponse)?
    private(set) var requests: [HTTPRequest] = []
    var stubs: [String: @Sendable (String, JSONValue) throws -> JSONValue?] = [:]
    let lines = Mutex<[TestLogLine]>([])

    private let memory: UnsafeMutablePointer<HostTable.Layout>
    private var plugin: UnsafePointer<hearth_plugin>?
    private var open: [UInt64: OpenInvocation] = [:]
    private var lastID: UInt64 = 0

    /// Attaches the functions to a new host.
    ///
    /// - Throws: `TestFailure` where a definition is not valid; standard error says why.
    init(_ functions: Functions, project: String) throws {
        self.project = project
        database = MemoryDatabase(project: project)
        messaging = MemoryMessaging(project: project)
        users = MemoryUsers(project: project)
        memory = .allocate(capacity: 1)
        // The plugin may use the table until the process ends, so that neither the table nor the host is ever freed.
        memory.initialize(to: HostTable.layout(for: self))
        guard let table = functions.attach(to: UnsafeRawPointer(memory))?.assumingMemoryBound(to: hearth_plugin.self) else {
            loop.stop()
            throw TestFailure("The functions are not valid: see standard error.")
        }
        plugin = table
        let text = UnsafeRawBufferPointer(start: table.pointee.manifest.data, count: table.pointee.manifest.size)
        endpoints = (try? JSONValue(parsing: Array(text)))?["endpoints"]?.object ?? [:]
        events.triggers = endpoints.compactMap { TestTrigger(function: $0.key, endpoint: $0.value) }
    }

    /// Cancels what still runs and ends the thread.
    func stop() async {
        await run { host in
            host.plugin?.pointee.shutdown?()
            host.observers.stop()
        }
        loop.stop()
        Functions.detach()
    }

    /// Runs `body` on the loop's thread.
    func run<R: Sendable>(_ body: @escaping @Sendable (InMemoryHost) -> R) async -> R {
        await withCheckedContinuation { continuation in
            loop.post { continuation.resume(returning: body(self)) }
        }
    }

    // MARK: Invocations

    /// Calls a function. On the loop's thread.
    func start(
        _ function: String, context: JSONValue, payload: [UInt8], chainDepth: Int = 0, completion: @escaping (Outcome) -> Void
    ) {
        lastID += 1
        let id = lastID
        guard let plugin, let number = endpoints.keys.firstIndex(of: function) else {
            return completion(.failure("not-found", "There is no function \(function)."))
        }
        open[id] = OpenInvocation(
            function: function, chainDepth: chainDepth, acceptsChunks: context["acceptsStreaming"]?.bool ?? true, completion: completion)
        let seconds = max(endpoints[function]?["timeoutSeconds"]?.int ?? 0, 0)
        let timeout = Duration.seconds(seconds == 0 ? 60 : seconds)
        loop.post(after: timeout) { [weak self] in self?.expire(id) }
        let deadline = Self.monotonicNanoseconds + UInt64(timeout.components.seconds) * 1_000_000_000
        // Copies, since a plugin must not keep what it is lent.
        let (name, context, payload) = (Array(function.utf8), context.serialized(), Array(payload))
        let index = endpoints.keys.distance(from: endpoints.keys.startIndex, to: number)
        name.withUnsafeBytes { name in
            context.withUnsafeBytes { context in
                payload.withUnsafeBytes { payload in
                    var call = hearth_invocation(
                        id: id, function: UInt32(index), context_format: 0, name: hearth_bytes(name), deadline_ns: deadline,
                        context: hearth_bytes(context), payload: hearth_bytes(payload))
                    plugin.pointee.invoke?(&call)
                }
            }
        }
    }

    private func expire(_ id: UInt64) {
        guard open[id] != nil else { return }
        plugin?.pointee.cancel?(id)
        finish(id, .failure("deadline-exceeded", "DEADLINE_EXCEEDED"))
    }

    func answered(_ id: UInt64, _ kind: hearth_answer_kind, head: [UInt8], body: [UInt8]) {
        guard var outcome = open[id]?.outcome else { return }
        outcome.kind = kind
        if kind != HEARTH_END { outcome.head = head }
        outcome.body = body
        finish(id, outcome)
    }

    private func finish(_ id: UInt64, _ outcome: Outcome) {
        let invocation = open.removeValue(forKey: id)
        observers.end(id)
        invocation?.completion(outcome)
    }

    func startedResponse(_ id: UInt64, head: [UInt8]) -> hearth_flow {
        guard open[id] != nil else { return HEARTH_GONE }
        open[id]?.outcome.head = head
        return HEARTH_CONTINUE
    }

    func sentChunk(_ id: UInt64, _ chunk: [UInt8]) -> hearth_flow {
        guard open[id]?.acceptsChunks == true else { return HEARTH_GONE }
        open[id]?.outcome.chunks.append(chunk)
        return HEARTH_CONTINUE
    }

    func logged(_ id: UInt64, level: UInt32, message: [UInt8], fields: [UInt8]) {
        let line = TestLogLine(
            function: open[id]?.function, level: TestLogLine.level(level), message: String(decoding: message, as: UTF8.self),
            fields: (try? JSONValue(parsing: fields))?.object ?? [:])
        lines.withLock { $0.append(line) }
    }

    // MARK: Services

    /// Answers a service call, at once or when it has waited for a change. On the loop's thread.
    func serve(
        _ invocation: UInt64, _ service: String, _ method: String, _ payload: [UInt8], completion: @escaping @Sendable (ServiceOutcome) -> Void
    ) {
        if let stub = stubs[service], let answer = Self.answer(of: stub, method, payload) { return completion(answer) }
        switch service {
        case "database" where method == "observe": observe(invocation, (try? JSONValue(parsing: payload)) ?? .null, completion)
        case "database":
            let (answer, commit) = database.call(method, payload)
            if method == "unobserve" { observers.end(id: (try? JSONValue(parsing: payload))?["id"]) }
            let depth = open[invocation]?.chainDepth
            completion(answer)
            guard let commit else { return }
            events.add(commit, chainDepth: depth.map { $0 + 1 } ?? 0, on: self)
            observers.look(at: database)
        case "messaging": completion(messaging.call(method, payload))
        case "auth": completion(users.call(method, payload))
        case "cache": completion(cache.call(method, payload))
        case "http": completion(request(method, payload))
        case "tasks": completion(tasks.call(method, payload) { endpoints[$0]?["taskQueueTrigger"] != nil })
        default:
            let error: JSONValue = ["code": "unimplemented", "message": .string("There is no service \"\(service)\".")]
            completion(ServiceOutcome(isOK: false, body: error.serialized()))
        }
    }

    private func observe(_ invocation: UInt64, _ payload: JSONValue, _ completion: @escaping @Sendable (ServiceOutcome) -> Void) {
        let answer = database.observed(payload)
        if answer.isChange { return completion(answer.outcome) }
        let isOpen = invocation == 0 || open[invocation] != nil
        let number = observers.add(payload, for: invocation, isOpen: isOpen, completion: completion)
        guard let milliseconds = payload["timeoutMilliseconds"]?.int else { return }
        loop.post(after: .milliseconds(milliseconds)) { [weak self] in self?.observers.expire(number) }
    }

    /// Answers a request to another server. Nothing is sent.
    private func request(_ method: String, _ payload: [UInt8]) -> ServiceOutcome {
        guard method == "send" else { return ServiceOutcome(isOK: true, body: []) }
        do {
            guard let request = HTTPRequest(payload: payload) else { throw HTTPError(.invalidRequest, "The request is not understood.") }
            requests.append(request)
            guard let servers else { throw HTTPError(.denied, "A test in memory sends no requests. Answer them with app.memory?.answerHTTP.") }
            var response = try servers(request)
            if response.url.isEmpty { response.url = request.url }
            return ServiceOutcome(isOK: true, body: response.payload)
        } catch {
            return ServiceOutcome(isOK: false, body: (error as? HTTPError ?? HTTPError(.unavailable, "\(error)")).payload)
        }
    }

    private static func answer(
        of stub: @Sendable (String, JSONValue) throws -> JSONValue?, _ method: String, _ payload: [UInt8]
    ) -> ServiceOutcome? {
        do {
            return try stub(method, (try? JSONValue(parsing: payload)) ?? .null).map { .value($0) }
        } catch {
            let thrown = error as? HttpsError ?? HttpsError(.internal, "\(error)")
            var object: JSONObject = ["code": .string(thrown.code.rawValue), "message": .string(thrown.message)]
            if let details = thrown.details as? JSONValue { object["details"] = details }
            return ServiceOutcome(isOK: false, body: JSONValue.object(object).serialized())
        }
    }

    private static var monotonicNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension InMemoryHost.Outcome {
    static func failure(_ code: String, _ message: String) -> InMemoryHost.Outcome {
        let error: JSONValue = ["code": .string(code), "message": .string(message)]
        return InMemoryHost.Outcome(kind: HEARTH_ERROR, body: error.serialized())
    }
}

extension hearth_bytes {
    init(_ bytes: UnsafeRawBufferPointer) { self.init(data: bytes.baseAddress, size: bytes.count) }
}
