import Configuration
import EventDelivery
import EventLoop
import FunctionDispatch
import Logging
import Logs
import Metrics
import RealtimeDatabase
import Store

/// Delivers the tasks of queues to functions, as fast as each queue allows.
///
/// A task that is due is an event in the outbox of the store of tasks: it is delivered until it is settled. One whose time has not come is a row of
/// the store only. Belongs to the home loop.
package final class TaskEngine {
    package let loop: EventLoop
    let storage: TaskStorage
    package let log: Logger
    private let project: String
    /// The queues, for all loops.
    package let table: TaskQueueTable
    /// The delivery, which forgets tasks that are deleted.
    package weak var delivery: TriggerDelivery?

    /// The functions with queues; nil before they are known.
    private var functions: [String: any TaskTarget]?
    /// Functions that are deployed and cannot run now.
    private var waiting: Set<String> = []
    private var isComplete = false
    private var isOpen: Bool
    private var isLoaded = false
    private var isBusy = false
    private var mustReconcile = false
    private(set) var isStopped = false
    private var gates: [String: DispatchGate] = [:]
    /// The stored queues that are paused.
    private(set) var paused: Set<String> = []
    /// The stored queues.
    private var stored: Set<String> = []
    private var counts = TaskFigures()
    /// Those that wait until the queues are known.
    private var waiters: [(Bool) -> Void] = []
    private lazy var repetition = Timer(loop: loop) { [unowned self] in proceed() }

    private static let storeRetryMilliseconds: UInt64 = 1000

    /// - Parameter isSuspended: whether the store is opened later, which ``open()`` tells.
    package init(
        loop: EventLoop, storage: TaskStorage, table: TaskQueueTable, project: String, isSuspended: Bool, log: Logger
    ) {
        self.loop = loop
        self.storage = storage
        self.table = table
        self.project = project
        self.log = log
        isOpen = !isSuspended
    }

    // MARK: Functions

    /// Sets the functions. Tasks begin once they are ready.
    ///
    /// - Parameter isReady: whether functions may run.
    /// - Returns: the functions for the delivery.
    package func use(_ publication: Publication, isReady: Bool) -> [String: any EventTarget] {
        var found: [String: TaskFunction] = [:]
        for function in publication.functions {
            guard case .task(let trigger) = function.trigger else { continue }
            found[function.name] = TaskFunction(function, trigger, project: project, gate: gate(of: function.name, trigger))
        }
        let waiting = publication.waitingTriggers.filter { $0.value.eventType == TaskQueueTrigger.eventType }.keys
        if isReady { use(found, waiting: Set(waiting), isComplete: publication.isComplete) }
        return found
    }

    /// Sets the functions whose tasks are delivered.
    ///
    /// - Parameters:
    ///   - waiting: functions that keep their queues, and do not run now.
    ///   - isComplete: whether all others were deleted.
    func use(_ functions: [String: any TaskTarget], waiting: Set<String>, isComplete: Bool) {
        self.functions = functions
        self.waiting = waiting
        self.isComplete = isComplete
        table.use(functions.mapValues(\.region).merging(waiting.map { ($0, "") }) { $1 })
        mustReconcile = true
        proceed()
    }

    /// The gate of a queue, with the rate of its function.
    func gate(of queue: String, _ trigger: TaskQueueTrigger) -> DispatchGate {
        if let known = gates[queue] {
            known.setRate(perSecondMax: trigger.perSecondMax)
            return known
        }
        let gate = DispatchGate(loop: loop, perSecondMax: trigger.perSecondMax)
        gate.isPaused = paused.contains(queue)
        gate.didBegin = { [unowned self] in counts.delays.record(nanoseconds: $0) }
        gates[queue] = gate
        return gate
    }

    /// Notes that this process has the store now.
    package func open() {
        isOpen = true
        proceed()
    }

    /// Begins no more attempts. Those that have begun may end.
    package func stop() {
        isStopped = true
        answerWaiters(false)
        for gate in gates.values { gate.end(with: .stopped) }
    }

    /// Goes on after ``stop()``.
    package func resume() {
        isStopped = false
        proceed()
    }

    /// Loads the stored queues, then brings them into line with the functions, one step after the other.
    private func proceed() {
        guard !isBusy, !isStopped, isOpen, let functions else { return }
        if !isLoaded { return load() }
        guard mustReconcile else { return }
        mustReconcile = false
        reconcile(functions)
    }

    private func load() {
        isBusy = true
        let reference = LoopBound(self, loop: loop)
        storage.perform(on: loop, { store throws(StoreError) in store.queues }) { result in
            let engine = reference.value
            engine.isBusy = false
            guard case .success(let queues) = result else { return engine.repeatLater() }
            engine.isLoaded = true
            engine.stored = Set(queues.keys)
            engine.paused = Set(queues.filter(\.value.isPaused).keys)
            for (name, gate) in engine.gates { gate.isPaused = engine.paused.contains(name) }
            engine.storage.announcePending()
            engine.proceed()
            engine.answerWaiters(true)
        }
    }

    private func repeatLater() {
        repetition.start(afterMilliseconds: Self.storeRetryMilliseconds)
        answerWaiters(false)
    }

    /// Returns when the queues are known: whether that is so.
    func isReady() async -> Bool {
        guard !isStopped, functions != nil else { return false }
        if isLoaded { return true }
        return await withCheckedContinuation { continuation in waiters.append { continuation.resume(returning: $0) } }
    }

    private func answerWaiters(_ isReady: Bool) {
        let answered = waiters
        waiters = []
        for waiter in answered { waiter(isReady) }
    }

    /// Removes the queues of deleted functions.
    private func reconcile(_ functions: [String: any TaskTarget]) {
        let removed = isComplete ? stored.union(gates.keys).filter { functions[$0] == nil && !waiting.contains($0) } : []
        guard !removed.isEmpty else { return }
        for name in removed {
            // Their attempts that wait become dead letters like the rest.
            gates.removeValue(forKey: name)?.end(with: .refused(afterMilliseconds: 0))
            paused.remove(name)
        }
        isBusy = true
        let reference = LoopBound(self, loop: loop)
        storage.perform(on: loop) { store throws(StoreError) in
            for name in removed { try store.retire(name) }
        } completion: { result in
            let engine = reference.value
            engine.isBusy = false
            guard case .success = result else {
                engine.mustReconcile = true
                return engine.repeatLater()
            }
            engine.stored.subtract(removed)
            engine.proceed()
        }
    }

    // MARK: For administrators

    func function(_ queue: String) -> (any TaskTarget)? { functions?[queue] }

    /// The names of all queues.
    var names: [String] { Set(functions.map { Array($0.keys) } ?? []).union(waiting).union(stored).sorted() }

    func setPaused(_ isPaused: Bool, of queue: String) {
        stored.insert(queue)
        if isPaused { paused.insert(queue) } else { paused.remove(queue) }
        gates[queue]?.isPaused = isPaused
    }

    /// Forgets tasks that were deleted from the store: one, or all of a queue up to a sequence. Tasks that were enqueued meanwhile stay.
    func withdraw(_ id: String?, through sequence: UInt64, of queue: String) {
        gates[queue]?.end(id, through: sequence, with: .refused(afterMilliseconds: 0))
        delivery?.withdraw(queue, of: storage.name, at: id.map { OutboxEvent.path(ofTask: $0, in: queue) }, through: sequence)
    }

    // MARK: Figures

    /// The numbers of stored tasks.
    package var outboxCounts: OutboxCounts { storage.figures.counts }

    package var figures: TaskFigures {
        var figures = counts
        figures.paused = paused.count
        figures.queues = table.counts
        figures.active = (functions ?? [:]).count { !paused.contains($0.key) }
        figures.held = gates.values.reduce(0) { $0 + $1.waitingCount }
        return figures
    }
}

/// Figures of task queues.
package struct TaskFigures: Sendable {
    /// Queues whose tasks may run, and paused ones.
    package var active = 0
    package var paused = 0
    /// The tasks of each queue.
    package var queues: [String: QueueCounts] = [:]
    /// Tasks that wait for a slot of their queue's rate.
    package var held = 0
    /// From the slot of the rate to the begin of the attempt.
    package var delays = DurationHistogram()
}
