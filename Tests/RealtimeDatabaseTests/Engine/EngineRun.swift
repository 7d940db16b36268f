import EventLoop
import Logging
import Rules
import Store
import Synchronization
import Testing
import Tree

@testable import RealtimeDatabase

/// A database under test. Requests come from a separate loop, and the test waits for the answers.
final class EngineRun: Sendable {
    let database: RealtimeDatabase
    let name = "test"
    private let thread: LoopThread

    init(
        _ storage: any StorageEngine, rulesFile: RulesFile? = nil, limits: DatabaseLimits = DatabaseLimits(), allowed: Set<String>? = nil,
        awaitsTriggers: Bool = false, didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void = { _ in }
    ) throws {
        thread = try LoopThread()
        var log = Logger(label: "test")
        log.logLevel = .critical
        database = RealtimeDatabase(
            storage: storage, defaultNamespace: "test", allowed: allowed, rulesFile: rulesFile, limits: limits, awaitsTriggers: awaitsTriggers,
            log: log, didRaiseEvents: didRaiseEvents)
    }

    deinit {
        database.stop()
        thread.join()
    }

    var loop: EventLoop { thread.loop }

    func namespace() throws -> Namespace { try database.namespace(name) }

    /// Calls `body` on the loop and waits for what it hands to its completion.
    func answer<Answer: Sendable>(_ body: @escaping @Sendable (EventLoop, @escaping (Answer) -> Void) -> Void) async -> Answer {
        await withCheckedContinuation { continuation in
            loop.post { [loop] in body(loop) { continuation.resume(returning: $0) } }
        }
    }

    /// Has everything that `body` asks arrive for the same turn of the writer, and waits for the answers.
    func together<Answer: Sendable>(_ bodies: [@Sendable (Namespace, EventLoop, @escaping (Answer) -> Void) -> Void]) async throws -> [Answer] {
        let namespace = try namespace()
        let gate = Gate()
        return await answer { loop, done in
            let done = LoopBound(done, loop: loop)
            namespace.onWriter { _ in
                // The writer is in the middle of a turn now, and what is asked meanwhile is for the next one.
                loop.post {
                    let answers = LoopBound(Answers<Answer>(bodies.count, done.value), loop: loop)
                    for (index, body) in bodies.enumerated() { body(namespace, loop) { answers.value.add($0, index) } }
                    gate.open()
                }
                gate.pass()
            }
        }
    }

    /// Collects answers; hands them over, in the order of the questions, when all are there.
    private final class Answers<Answer> {
        private var answers: [Answer?]
        private var left: Int
        private let done: ([Answer]) -> Void

        init(_ count: Int, _ done: @escaping ([Answer]) -> Void) {
            answers = Array(repeating: nil, count: count)
            left = count
            self.done = done
        }

        func add(_ answer: Answer, _ index: Int) {
            precondition(answers[index] == nil, "answered twice")
            answers[index] = answer
            left -= 1
            if left == 0 { done(answers.compactMap { $0 }) }
        }
    }

    /// Writes that are one transaction.
    func writeTogether(_ requests: [WriteRequest]) async throws -> [WriteOutcome] {
        try await together(requests.map { request in { namespace, loop, done in namespace.write(request, on: loop, completion: done) } })
    }

    // MARK: Writing

    func write(_ request: WriteRequest) async throws -> WriteOutcome {
        let namespace = try namespace()
        return await answer { loop, done in namespace.write(request, on: loop, completion: done) }
    }

    @discardableResult
    func put(_ path: String, _ json: String, as principal: Principal = .admin) async throws -> WriteOutcome {
        try await write(.put(path, json, principal))
    }

    @discardableResult
    func update(_ path: String, _ json: String, as principal: Principal = .admin) async throws -> WriteOutcome {
        try await write(.update(path, json, principal))
    }

    /// Whether there are rows to sweep or indexes to build.
    func upkeepIsDue() async throws -> Bool {
        let namespace = try namespace()
        return await answer { loop, done in
            let done = LoopBound(done, loop: loop)
            namespace.onWriter { writer in
                let isDue = writer.content?.tree.hasUpkeep ?? false
                loop.post { done.value(isDue) }
            }
        }
    }

    // MARK: Reading

    func read(_ request: ReadRequest) async throws -> ReadOutcome {
        let namespace = try namespace()
        return await answer { loop, done in namespace.read(request, on: loop, completion: done) }
    }

    /// The JSON at a path, for an administrator.
    func json(_ path: String = "/") async throws -> String { try await read(ReadRequest(Path(parsing: path), principal: .admin)).json }

    // MARK: Rules

    @discardableResult
    func use(_ rules: String) async throws -> DatabaseError? {
        let namespace = try namespace()
        let rules = try RuleSet(parsing: Array(rules.utf8))
        return await answer { loop, done in namespace.setRules(rules, on: loop, completion: done) }
    }

    func rules() async throws -> RuleSet {
        let namespace = try namespace()
        return await answer { loop, done in namespace.rules(on: loop, completion: done) }
    }
}

extension WriteRequest {
    static func put(_ path: String, _ json: String, _ principal: Principal = .admin) throws -> WriteRequest {
        try WriteRequest(.set(Path(parsing: path), Draft(parsing: Array(json.utf8).span)), principal: principal, origin: .admin)
    }

    static func update(_ path: String, _ json: String, _ principal: Principal = .admin) throws -> WriteRequest {
        try WriteRequest(.update(base: Path(parsing: path), UpdateDraft(parsing: Array(json.utf8).span)), principal: principal, origin: .admin)
    }

    static func priority(_ path: String, _ json: String, _ principal: Principal = .admin) throws -> WriteRequest {
        try WriteRequest(.setPriority(Path(parsing: path), Draft(parsing: Array(json.utf8).span)), principal: principal, origin: .admin)
    }
}

extension WriteOutcome {
    /// The transaction that a write became part of; nil where it did not.
    var commit: UInt64? {
        if case .committed(let receipt) = self { return receipt.commit }
        return nil
    }

    var error: DatabaseError? {
        if case .refused(let error) = self { return error }
        return nil
    }
}

extension ReadOutcome {
    /// The JSON; what else there was instead, as a word.
    var json: String {
        switch self {
        case .value(let json, _, _): String(decoding: json, as: UTF8.self)
        case .stream: "stream"
        case .node(let node, _): String(decoding: node.serialized(), as: UTF8.self)
        case .notModified: "not modified"
        case .refused(let error): error.message
        }
    }

    var error: DatabaseError? {
        if case .refused(let error) = self { return error }
        return nil
    }
}

extension EngineUnderTest {
    /// Hands a database over storage of this kind to `body`, with what makes the storage fail.
    func run(
        rulesFile: RulesFile? = nil, limits: DatabaseLimits = DatabaseLimits(), _ body: (EngineRun, FailingStorage) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let storage = FailingStorage(self == .memory ? MemoryStorage() : SQLiteStorage(directory: folder))
        let run = try EngineRun(storage, rulesFile: rulesFile, limits: limits)
        defer { run.database.stop() }
        try await body(run, storage)
    }
}

/// The records of several callbacks, in their order.
final class Notes<Note: Sendable>: Sendable {
    private let notes = Mutex<[Note]>([])

    func add(_ note: Note) { notes.withLock { $0.append(note) } }

    var all: [Note] { notes.withLock { $0 } }

    /// All of them, once there are so many.
    func all(atLeast count: Int) async throws -> [Note] {
        while all.count < count { try await Task.sleep(for: .milliseconds(1)) }
        return all
    }
}
