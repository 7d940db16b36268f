import EventDelivery
import EventLoop
import Foundation
import Logging
import RealtimeDatabase
import Store
import Synchronization
import Testing

@testable import Configuration
@testable import Schedules

/// A scheduled function that does what the test says.
final class TestScheduled: ScheduledTarget {
    let declaration: ScheduleDeclaration
    let trigger: ScheduleTrigger
    let isRetried = false
    let generation = 2
    let attemptsMax = 1
    /// The result of an attempt; nil leaves it open for ``finish(_:)``.
    var answer: (OutboxEvent) -> AttemptResult? = { _ in .succeeded }
    private(set) var started: [OutboxEvent] = []
    private(set) var open: [(event: OutboxEvent, completion: (AttemptResult) -> Void)] = []
    private let bench: ScheduleBench

    init(_ trigger: ScheduleTrigger, _ bench: ScheduleBench) throws {
        self.trigger = trigger
        declaration = try ScheduleDeclaration(trigger, zones: TimeZones())
        self.bench = bench
    }

    func attempt(_ event: OutboxEvent, completion: @escaping (AttemptResult) -> Void) {
        started.append(event)
        bench.engine.willAttempt(event)
        let engine = bench.engine
        open.append((event, { result in
            engine.didAttempt(event, result)
            completion(result)
        }))
        guard let result = answer(event) else { return }
        bench.loop.endOfTurn { [self] in finish(result) }
    }

    func finish(_ result: AttemptResult) {
        guard !open.isEmpty else { return }
        open.removeFirst().completion(result)
    }

    func retry(of event: OutboxEvent, after progress: inout DeliveryProgress, now: Int64) -> EventRetry {
        declaration.retry(of: event, after: progress, now: now)
    }

    func afterSettling(_ event: OutboxEvent, error: String?) -> (() -> Void)? {
        { [engine = bench.engine] in engine.didSettle(event, error: error) }
    }

    /// The due times of the runs, in minutes after the start of the bench's time.
    var minutes: [Int] { started.map { Int($0.time / 1000 - ScheduleBench.start) / 60 } }
}

/// Lines of the log.
final class LogLines: Sendable {
    let lines = Mutex<[String]>([])

    var logger: Logger {
        var log = Logger(label: "test") { _ in Handler(lines: self) }
        log.logLevel = .notice
        return log
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(
            level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String, function: String, line: UInt
        ) {
            let members = (metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.lines.withLock { $0.append(([message.description] + members).joined(separator: " ")) }
        }
    }
}

/// An engine with its store and delivery, on a loop that the test steps and a clock that it sets.
final class ScheduleBench {
    /// Monday, 2 March 2026, 00:00 UTC.
    static let start = CivilDay(year: 2026, month: 3, day: 2).number * 86_400

    let loop: EventLoop
    let log = LogLines()
    let folder: URL
    private(set) var engine: ScheduleEngine
    private(set) var storage: ScheduleStorage
    private(set) var delivery: TriggerDelivery
    var targets: [String: TestScheduled] = [:]
    /// Milliseconds since 1970.
    var now = ScheduleBench.start * 1000
    private var missed: ScheduleSettings.Missed

    init(_ missed: ScheduleSettings.Missed = .once) throws {
        loop = try EventLoop()
        folder = FileManager.default.temporaryDirectory.appending(path: "schedules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.missed = missed
        let parts = try Self.parts(loop, folder, missed, log)
        (engine, storage, delivery) = (parts.engine, parts.storage, parts.delivery)
        parts.clock.value = { [unowned self] in now }
    }

    private static var deliverySettings: DeliverySettings {
        DeliverySettings(
            TriggerSettings(
                functionsPerWrite: 1, eventBytes: 1024, isStrict: true, chainDepth: 4, deadLetters: 1000, deadLetterBytes: 1 << 20,
                retryMinSeconds: 0.01, retryMaxSeconds: 0.01, retryAgeSeconds: nil))
    }

    final class Clock {
        var value: () -> Int64 = { ScheduleBench.start * 1000 }
    }

    final class Reference {
        weak var delivery: TriggerDelivery?
    }

    private static func parts(
        _ loop: EventLoop, _ folder: URL, _ missed: ScheduleSettings.Missed, _ log: LogLines
    ) throws -> (engine: ScheduleEngine, storage: ScheduleStorage, delivery: TriggerDelivery, clock: Clock) {
        let shared = Reference()
        let reference = LoopBound(shared, loop: loop)
        let storage = try ScheduleStorage(path: folder.appending(path: "schedules.sqlite").path, isSuspended: false, log: log.logger) { news in
            loop.post { reference.value.delivery?.receive(news) }
        }
        let clock = Clock()
        let engine = ScheduleEngine(
            loop: loop, storage: storage, settings: ScheduleSettings(missed: missed), project: "demo", isSuspended: false,
            clock: { clock.value() }, log: log.logger)
        let delivery = TriggerDelivery(loop: loop, settings: Self.deliverySettings, log: log.logger) { _ in storage }
        shared.delivery = delivery
        return (engine, storage, delivery, clock)
    }

    deinit {
        engine.stop()
        delivery.stop()
        storage.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Declares functions, as a deployment does, and waits until the engine knows them.
    func declare(_ triggers: [String: ScheduleTrigger], isComplete: Bool = true, waiting: Set<String> = []) throws {
        for (name, trigger) in triggers where targets[name]?.trigger != trigger { targets[name] = try TestScheduled(trigger, self) }
        targets = targets.filter { triggers[$0.key] != nil }
        publish(isComplete: isComplete, waiting: waiting)
        try settle()
    }

    func declare(_ name: String, _ schedule: String, _ zone: String = "UTC", retry: BackoffRetry = BackoffRetry()) throws -> TestScheduled {
        try declare([name: ScheduleTrigger(schedule: schedule, timeZone: zone, retry: retry)])
        return try #require(targets[name])
    }

    private func publish(isComplete: Bool = true, waiting: Set<String> = []) {
        engine.use(targets, waiting: waiting, isComplete: isComplete)
        delivery.publish(targets, waiting: waiting, isComplete: isComplete)
    }

    /// Simulates `kill -9`, some time, and a start.
    func restart(afterMinutes minutes: Int = 0, _ missed: ScheduleSettings.Missed? = nil) throws {
        engine.stop()
        delivery.stop()
        storage.stop()
        for _ in 0..<4 { loop.post {}; loop.runOnce() }
        now += Int64(minutes) * 60_000
        let parts = try Self.parts(loop, folder, missed ?? self.missed, log)
        (engine, storage, delivery) = (parts.engine, parts.storage, parts.delivery)
        parts.clock.value = { [unowned self] in now }
        let triggers = targets.mapValues(\.trigger)
        targets = [:]
        try declare(triggers)
    }

    /// Sets the clock forward to a minute after the start of the bench's time, and lets what is due happen.
    func advance(toMinute minute: Int) throws {
        now = (Self.start + Int64(minute) * 60) * 1000
        engine.wake()
        try settle()
    }

    /// Turns the loop until nothing is left to do: the store has answered, and answers cause nothing new.
    func settle() throws {
        for _ in 0..<3 {
            var isDone = false
            let reference = LoopBound({ isDone = true }, loop: loop)
            storage.perform(on: loop, { _ throws(StoreError) in }) { _ in reference.value() }
            try run { isDone }
            // Settlements are collected for some milliseconds.
            var isFlushed = false
            delivery.finish { isFlushed = true }
            try run { isFlushed }
            for _ in 0..<4 { loop.post {}; loop.runOnce() }
        }
    }

    /// Turns the loop until `holds`; fails after ten seconds.
    func run(until holds: () throws -> Bool, at location: SourceLocation = #_sourceLocation) throws {
        let end = EventLoop.monotonicNanoseconds() + 10_000_000_000
        while try !holds() {
            guard EventLoop.monotonicNanoseconds() < end else {
                Issue.record("it never came", sourceLocation: location)
                return
            }
            loop.post {}
            loop.runOnce()
        }
    }

    func deadLetters() throws -> [DeadLetter] {
        var found: [DeadLetter]?
        let reference = LoopBound({ found = $0 } as ([DeadLetter]) -> Void, loop: loop)
        storage.withOutbox(on: loop, { outbox throws(StoreError) in try outbox.deadLetters(limit: 1000).letters }) { result in
            reference.value((try? result.get()) ?? [])
        }
        try run { found != nil }
        return found ?? []
    }
}

extension ScheduleBench {
    /// Runs an act on the engine while the loop turns.
    func perform<Answer: Sendable>(_ act: @escaping (ScheduleEngine) async throws -> Answer) throws -> Answer {
        var result: Result<Answer, any Error>?
        let engine = engine
        loop.task {
            do { result = .success(try await act(engine)) } catch { result = .failure(error) }
        }
        try run { result != nil }
        guard let result else { throw ScheduleEngine.Refusal.unavailable }
        return try result.get()
    }
}
