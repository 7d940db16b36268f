import Logs
import EventLoop
import Glibc
import Logging
import Store
import Testing
import Tree

@testable import EventDelivery
@testable import RealtimeDatabase

/// A namespace's outbox on the test's own loop, which can fail.
// Unchecked: everything happens on the loop that the test steps.
final class TestOutbox: OutboxAccess, @unchecked Sendable {
    let name = "demo"
    private(set) var outbox: Outbox
    private let store: any OrderedStore
    /// How many of the next transactions fail.
    var failures = 0
    var announce: (EventAnnouncement) -> Void = { _ in }
    private var sequence: UInt64 = 0

    init() throws {
        store = try MemoryStorage().openWriter(namespace: "demo")
        outbox = try Outbox(store, namespace: "demo")
    }

    func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        loop.post { [self] in
            let result: Result<Answer, StoreError>
            do throws(StoreError) { result = .success(try transaction(body)) } catch { result = .failure(error) }
            if let announcement = outbox.didCommit() { announce(announcement) }
            loop.post { completion(result) }
        }
    }

    private func transaction<Answer>(_ body: (Outbox) throws(StoreError) -> Answer) throws(StoreError) -> Answer {
        if failures > 0 {
            failures -= 1
            throw StoreError(.full, "there is no room")
        }
        try store.begin()
        let answer = try body(outbox)
        try store.commit()
        return answer
    }

    /// Delivers these events like events of a write.
    func raise(_ events: [(function: String, path: String)], chain: EventChain = EventChain(), now: Int64? = nil) throws {
        let now = now ?? WallClock.now().unixMilliseconds
        try store.begin()
        for event in events {
            sequence += 1
            try outbox.append(
                OutboxEvent(
                    sequence: 0, id: "id-\(sequence)", namespace: name, function: event.function, kind: .written, path: Path(parsing: event.path),
                    params: [], payload: Array("{}".utf8), time: now, origin: .admin, chain: chain, progress: DeliveryProgress(since: now)))
        }
        try store.commit()
        if let announcement = outbox.didCommit() { announce(announcement) }
    }

    func deadLetters() throws -> [DeadLetter] { try outbox.deadLetters(limit: 100_000).letters }

    func pending() throws -> [String] {
        var found: [String] = []
        for (function, _) in try outbox.pending()?.newest ?? [:] {
            found += try outbox.page(of: function, after: 0, limit: .max, bytesMax: .max).events.map(\.id)
        }
        return found
    }
}

/// A function that does what the test says.
final class TestTarget: EventTarget {
    var isRetried = false
    var generation = 2
    var attemptsMax = 1000
    /// The result of an attempt; nil leaves it open for ``release(_:)``.
    var answer: (OutboxEvent) -> AttemptResult? = { _ in .succeeded }
    private(set) var started: [OutboxEvent] = []
    private(set) var succeeded: [OutboxEvent] = []
    private(set) var open: [(event: OutboxEvent, completion: (AttemptResult) -> Void)] = []
    private(set) var mostOpen = 0
    private let loop: EventLoop

    init(_ loop: EventLoop) { self.loop = loop }

    func attempt(_ event: OutboxEvent, completion: @escaping (AttemptResult) -> Void) {
        #expect(!open.contains { $0.event.path == event.path }, "two at a time at \(event.path)")
        started.append(event)
        open.append((event, completion))
        mostOpen = max(mostOpen, open.count)
        guard let result = answer(event) else { return }
        loop.endOfTurn { [self] in
            guard let index = open.firstIndex(where: { $0.event.sequence == event.sequence }) else { return }
            finish(index, result)
        }
    }

    func finish(_ index: Int, _ result: AttemptResult) {
        let attempt = open.remove(at: index)
        if result == .succeeded { succeeded.append(attempt.event) }
        attempt.completion(result)
    }

    /// Forgets what is open: the worker's process is gone with the host.
    func abandon() { open = [] }
}

/// A delivery with its outbox and functions, on a loop that the test steps.
final class DeliveryBench {
    let loop: EventLoop
    let outbox: TestOutbox
    private(set) var delivery: TriggerDelivery
    let settings: DeliverySettings
    var targets: [String: TestTarget] = [:]

    static func settings(_ change: (inout DeliverySettings) -> Void = { _ in }) -> DeliverySettings {
        var settings = DeliverySettings()
        settings.retries = RetrySchedule(firstMilliseconds: 4, mostMilliseconds: 8)
        settings.settleMilliseconds = 1
        settings.overloadMilliseconds = 2
        settings.storeRetryMilliseconds = 2
        change(&settings)
        return settings
    }

    init(_ settings: DeliverySettings = DeliveryBench.settings(), functions: [String] = ["f"]) throws {
        let loop = try EventLoop()
        let outbox = try TestOutbox()
        self.loop = loop
        self.outbox = outbox
        self.settings = settings
        delivery = Self.makeDelivery(loop, outbox, settings)
        for function in functions { targets[function] = TestTarget(loop) }
        connect()
        publish()
    }

    var target: TestTarget { targets["f"] ?? TestTarget(loop) }

    private static func makeDelivery(_ loop: EventLoop, _ outbox: TestOutbox, _ settings: DeliverySettings) -> TriggerDelivery {
        var log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        log.logLevel = .critical
        return TriggerDelivery(loop: loop, settings: settings, log: log) { _ in outbox }
    }

    /// A delivery of the next process, for the same outbox.
    func another() -> TriggerDelivery { Self.makeDelivery(loop, outbox, settings) }

    private func connect() {
        let delivery = delivery
        outbox.announce = { delivery.receive($0) }
    }

    func publish(waiting: Set<String> = [], isComplete: Bool = true) { delivery.publish(targets, waiting: waiting, isComplete: isComplete) }

    /// Simulates `kill -9` and a start: the state in memory is lost.
    func restart() throws {
        delivery.stop()
        outbox.announce = { _ in }
        for target in targets.values { target.abandon() }
        // Calls under way end without a listener.
        for _ in 0..<4 { loop.runOnce() }
        delivery = Self.makeDelivery(loop, outbox, settings)
        connect()
        publish()
        if let pending = try outbox.outbox.pending() { delivery.receive(pending) }
    }

    /// Turns the loop until `holds`; fails after ten seconds.
    func run(_ what: Comment? = nil, until holds: () throws -> Bool, at location: SourceLocation = #_sourceLocation) throws {
        let end = EventLoop.monotonicNanoseconds() + 10_000_000_000
        while try !holds() {
            guard EventLoop.monotonicNanoseconds() < end else {
                Issue.record(what ?? "it never came", sourceLocation: location)
                return
            }
            loop.runOnce()
            sched_yield()
        }
    }

    /// Until the outbox is empty.
    func runUntilDone(at location: SourceLocation = #_sourceLocation) throws {
        try run("events are left", until: { try outbox.outbox.pending() == nil }, at: location)
    }
}
