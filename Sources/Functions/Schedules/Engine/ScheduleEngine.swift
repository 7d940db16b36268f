import Configuration
import EventDelivery
import EventLoop
import FunctionDispatch
import HearthBytes
import Logging
import Logs
import Metrics
import RealtimeDatabase
import Store

/// Begins the runs of scheduled functions at their due times.
///
/// A run is an event in the outbox of the store of schedules: it is stored together with its due time before it starts, delivered until it is
/// settled, and never begun a second time for the same due time. Belongs to the home loop.
package final class ScheduleEngine {
    package let loop: EventLoop
    let storage: ScheduleStorage
    package let log: Logger
    let settings: ScheduleSettings
    private let project: String
    private let zones: TimeZones
    /// Milliseconds since 1970.
    let clock: () -> Int64

    /// The functions with schedules; nil before they are known.
    private var functions: [String: any ScheduledTarget]?
    /// Functions that are deployed and cannot run now.
    private var waiting: Set<String> = []
    private var isComplete = false
    private var isOpen: Bool
    private var isLoaded = false
    private var isBusy = false
    private var mustReconcile = false
    private(set) var isStopped = false

    var entries: [String: ScheduleEntry] = [:]
    var heap = DueHeap<ScheduleEntry>()
    var unplanned: [ScheduleEntry] = []
    var isPlanning = false
    /// The lines about missed due times since the last pause.
    var toldCount = 0
    var counts = ScheduleFigures()
    var callers: [String: (AttemptResult?) -> Void] = [:]
    var running: Set<String> = []
    private var lobbies: [ObjectIdentifier: PoolLobby] = [:]
    /// Those that wait until the engine knows all schedules.
    private var waiters: [(Bool) -> Void] = []
    private lazy var timer = Timer(loop: loop) { [unowned self] in wake() }
    private lazy var repetition = Timer(loop: loop) { [unowned self] in proceed() }

    /// How often the clock is read at least while a due time is awaited: it may be set.
    static let lookMilliseconds: Int64 = 30_000
    static let storeRetryMilliseconds: UInt64 = 1000
    /// The most schedules that one turn begins or plans.
    static let turnMax = 250

    /// - Parameters:
    ///   - isSuspended: whether the store is opened later, which ``open()`` tells.
    ///   - clock: milliseconds since 1970.
    package init(
        loop: EventLoop, storage: ScheduleStorage, settings: ScheduleSettings, project: String, isSuspended: Bool, zones: TimeZones = TimeZones(),
        clock: @escaping () -> Int64 = { WallClock.now().unixMilliseconds }, log: Logger
    ) {
        self.loop = loop
        self.storage = storage
        self.settings = settings
        self.project = project
        self.zones = zones
        self.clock = clock
        self.log = log
        isOpen = !isSuspended
    }

    // MARK: Functions

    /// Sets the functions. Schedules begin once they are ready.
    ///
    /// - Parameter isReady: whether due functions may run.
    /// - Returns: the functions for the delivery, and a sentence for each one that is left out.
    package func use(_ publication: Publication, isReady: Bool) -> (targets: [String: any EventTarget], problems: [String]) {
        var (found, problems): ([String: ScheduledFunction], [String]) = ([:], [])
        for function in publication.functions {
            guard case .schedule(let trigger) = function.trigger else { continue }
            do throws(ScheduleError) {
                found[function.name] = ScheduledFunction(
                    function, try ScheduleDeclaration(trigger, zones: zones), project: project, engine: self)
            } catch {
                problems.append("\(function.name): \(error)")
            }
        }
        if isReady {
            // A function that is left out keeps its state.
            let leftOut = publication.functions.filter { found[$0.name] == nil && $0.isScheduled }.map(\.name)
            lobbies = lobbies.filter { !$0.value.isEmpty }
            use(found, waiting: Set(publication.waitingTriggers.keys).union(leftOut), isComplete: publication.isComplete)
        }
        return (found, problems)
    }

    /// Sets the functions whose due times count.
    ///
    /// - Parameters:
    ///   - waiting: functions that keep their state, and do not run now.
    ///   - isComplete: whether all others were deleted.
    func use(_ functions: [String: any ScheduledTarget], waiting: Set<String>, isComplete: Bool) {
        self.functions = functions
        self.waiting = waiting
        self.isComplete = isComplete
        mustReconcile = true
        proceed()
    }

    /// Notes that this process has the store now.
    package func open() {
        isOpen = true
        proceed()
    }

    /// Begins no more runs. Those that have begun may end.
    package func stop() {
        isStopped = true
        timer.stop()
        answerWaiters(false)
        for (id, caller) in callers where !running.contains(id) {
            callers[id] = nil
            caller(.stopped)
        }
    }

    /// Goes on after ``stop()``.
    package func resume() {
        isStopped = false
        proceed()
        wake()
    }

    /// Loads the stored state, then brings it into line with the functions, one step after the other.
    private func proceed() {
        guard !isBusy, !isStopped, isOpen, let functions else { return }
        if !isLoaded { return load() }
        guard mustReconcile else { return answerWaiters(true) }
        mustReconcile = false
        reconcile(functions)
    }

    private func load() {
        isBusy = true
        let reference = LoopBound(self, loop: loop)
        storage.perform(on: loop, { store throws(StoreError) in try store.rows() }) { result in
            let engine = reference.value
            engine.isBusy = false
            guard case .success(let rows) = result else { return engine.repeatLater() }
            engine.isLoaded = true
            for row in rows { engine.entries[row.name] = ScheduleEntry(row) }
            // From here on, the end of each run is noticed.
            engine.storage.announcePending()
            engine.proceed()
        }
    }

    private func repeatLater() {
        repetition.start(afterMilliseconds: Self.storeRetryMilliseconds)
        answerWaiters(false)
    }

    /// Returns when all schedules are known: whether that is so.
    func isReady() async -> Bool {
        guard !isStopped, functions != nil else { return false }
        if isLoaded, !isBusy, !mustReconcile { return true }
        return await withCheckedContinuation { continuation in waiters.append { continuation.resume(returning: $0) } }
    }

    private func answerWaiters(_ isReady: Bool) {
        let answered = waiters
        waiters = []
        for waiter in answered { waiter(isReady) }
    }

    /// Adds, changes and removes schedules.
    private func reconcile(_ functions: [String: any ScheduledTarget]) {
        let declared = functions.mapValues(\.declaration.text)
        let changed = declared.filter { entries[$0.key]?.row.declaration != $0.value }
        let removed = isComplete ? entries.keys.filter { declared[$0] == nil && !waiting.contains($0) } : []
        guard !changed.isEmpty || !removed.isEmpty else {
            activate(functions)
            return answerWaiters(true)
        }
        isBusy = true
        let since = clock() / 1000
        let reference = LoopBound((self, functions), loop: loop)
        storage.perform(on: loop) { store throws(StoreError) in
            for (name, text) in changed { try store.declare(name, text, since: since) }
            for name in removed { try store.remove(name) }
        } completion: { result in
            let (engine, functions) = reference.value
            engine.isBusy = false
            guard case .success = result else {
                engine.mustReconcile = true
                return engine.repeatLater()
            }
            for name in removed { engine.entries.removeValue(forKey: name)?.next = nil }
            for (name, text) in changed { engine.declare(name, text, since: since) }
            engine.activate(functions)
            engine.proceed()
        }
    }

    private func declare(_ name: String, _ text: String, since: Int64) {
        if let entry = entries[name] {
            (entry.row.declaration, entry.row.since) = (text, since)
        } else {
            entries[name] = ScheduleEntry(ScheduleRow(name: name, declaration: text, since: since))
        }
    }

    /// Plans the next run of each schedule.
    private func activate(_ functions: [String: any ScheduledTarget]) {
        for entry in entries.values {
            entry.function = functions[entry.name]
            entry.next = nil
        }
        heap.keep { _, _ in false }
        plan(entries.values.filter(\.isActive))
    }

    // MARK: Attempts

    /// The lobby of the workers that run a function.
    func lobby(of function: RegisteredFunction) -> PoolLobby {
        let id = ObjectIdentifier(function.pool)
        if let known = lobbies[id] { return known }
        let lobby = PoolLobby(capacity: function.options.concurrency * function.options.maxInstances)
        lobbies[id] = lobby
        return lobby
    }

    func willAttempt(_ event: OutboxEvent) {
        running.insert(event.id)
        guard event.progress.attempts + event.progress.interruptions == 0, event.id == DueRun(name: event.function, due: event.time / 1000).eventID
        else { return }
        counts.delays.record(nanoseconds: UInt64(max(0, clock() - event.time)) * 1_000_000)
    }

    func didAttempt(_ event: OutboxEvent, _ result: AttemptResult) {
        running.remove(event.id)
        if case .refused = result { return }
        callers.removeValue(forKey: event.id)?(result)
    }

    // MARK: Waking

    /// Sets the timer for the first due time.
    func arm() {
        guard !isStopped, let first = heap.first else { return timer.stop() }
        let wait = min(first * 1000 - clock(), Self.lookMilliseconds)
        timer.start(afterMilliseconds: UInt64(max(0, wait)))
    }

    /// Tries again after a failure of the store.
    func wakeLater() {
        if !isStopped { timer.start(afterMilliseconds: Self.storeRetryMilliseconds) }
    }

    /// The numbers of stored runs.
    package var outboxCounts: OutboxCounts { storage.figures.counts }

    package var figures: ScheduleFigures {
        var figures = counts
        figures.active = entries.values.count(where: \.isActive)
        figures.paused = entries.values.count(where: \.row.isPaused)
        return figures
    }
}

extension RegisteredFunction {
    fileprivate var isScheduled: Bool { if case .schedule = trigger { true } else { false } }
}
