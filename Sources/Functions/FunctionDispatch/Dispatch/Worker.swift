import AdminProtocol
import Configuration
import EventLoop
import HTTP
import Logs
import WorkerProtocol

/// An instance of an artifact: a process, or a part of the host itself if isolation is off. Belongs to the dispatcher's loop; its
/// invocations belong to the lanes of the loops that they were started on.
package class Worker {
    /// The states, in order.
    enum State: Comparable {
        /// The plugin is being loaded.
        case starting
        /// Ready for invocations.
        case ready
        /// Finishes its invocations and gets no new ones.
        case draining
        /// Its process has ended.
        case ended
    }

    final let identity: WorkerIdentity
    /// The lane of the dispatcher's loop.
    final let home: InvocationLane
    /// The pool that it belongs to until it has ended; nil for a worker that probes an artifact. A pool owns its workers until then, so calls
    /// need not count references to it.
    final unowned(unsafe) var pool: WorkerPool?
    final private(set) var state = State.starting
    /// Whether its event loop is blocked. It gets no calls meanwhile.
    final var isBlocked = false { didSet { openRoom() } }
    /// The reason why it was ended, if its event loop was blocked.
    final var blockage: Blockage?
    /// Its crash, if its callers are to know it.
    final var crash: CrashNotice?
    /// The cause of its end that its callers get.
    final var endCause: EndCause? { blockage.map { .blockage($0) } ?? crash.map { .crash($0) } }
    /// Whether it is started for a debugger.
    final var isDebugged = false
    /// Whether it waits for a debugger before it takes calls.
    final var isHeld = false
    /// Whether its pool has already counted its end as a crash, because it was ready when it ended or was killed.
    final var isLost = false
    final let dispatcher: Dispatcher
    /// Its plugin's share of the memory budget.
    final let share: MemoryShare
    /// When its start was requested, in nanoseconds of the loop's clock.
    final var startedNanoseconds: UInt64 = 0
    /// Invocations that it was asked to stop and still has, with the time of the request in milliseconds of the loop's clock.
    private var stoppedAt: [InvocationID: UInt64] = [:]

    init(_ identity: WorkerIdentity, home: InvocationLane, dispatcher: Dispatcher) {
        self.identity = identity
        self.home = home
        self.dispatcher = dispatcher
        share = dispatcher.memory.share(ofPlugin: identity.artifact.name)
        home.worker = self
    }

    deinit { home.worker = nil }

    // MARK: Overridden by subclasses

    /// Asks it to finish its invocations and then end.
    func drain() {}
    /// Ends it at once.
    func kill(reason: String) {}
    /// Checks whether its event loop is blocked.
    ///
    /// - Returns: the milliseconds since its last sign of life.
    func lookForLife(now: UInt64) -> UInt64 { 0 }
    /// Takes back the calls of the dispatcher's loop that it has not received, so that it will not start them.
    func takeUnread() -> [HostInvocation] { [] }
    /// Connects each further loop to the worker, which is ready now.
    func attachLanes(_ lanes: [PoolLaneReference]) {}
    /// Handles the end of a further lane, or malformed data on it.
    func laneDidBreak() {}
    /// The invocation whose code is running, or was running when the worker ended; nil if it is waiting or runs other code.
    var current: InvocationID? { nil }
    /// Describes why its event loop is blocked.
    var hindrance: String { "it does not read what it is sent" }

    // MARK: States

    /// Changes to a later state; does nothing if `next` is not later. The room is open while the worker is ready and not blocked.
    final func enter(_ next: State) {
        guard next > state else { return }
        state = next
        openRoom()
    }

    private func openRoom() {
        if state == .ready, !isBlocked { room.open() } else { room.close() }
    }

    // MARK: Invocations

    final var artifact: Artifact { identity.artifact }
    /// The process id; the host's own if isolation is off.
    final var pid: Int32 { identity.pid }
    final var room: WorkerRoom { identity.room }
    /// The number of invocations that it has not answered.
    final var inFlight: Int { room.count }

    /// Notes that the worker was asked to stop an invocation, because its answer is no longer awaited.
    final func didStop(_ id: InvocationID) {
        guard state < .ended else { return }
        stoppedAt[id] = max(1, dispatcher.loop.nowMilliseconds)
        pool?.workerWasToldToStop()
    }

    /// Notes that it has answered an invocation that it was asked to stop.
    final func didFinishStopped(_ id: InvocationID) { stoppedAt[id] = nil }

    /// The number of invocations that it still has, more than `milliseconds` after it was asked to stop them.
    final func overdueCount(now: UInt64, longerThan milliseconds: UInt64) -> Int {
        stoppedAt.isEmpty ? 0 : stoppedAt.values.count { now > $0 + milliseconds }
    }

    /// Whether the answer of a running invocation is awaited.
    final func isAwaited(_ id: InvocationID) -> Bool { stoppedAt[id] == nil }

    /// The number of its invocations whose answers are awaited.
    final var awaitedCount: Int { inFlight - stoppedAt.count }

    /// Fails its invocations on this loop, because it has ended.
    ///
    /// - Returns: the functions whose answers were awaited.
    final func failAll() -> Set<String> {
        stoppedAt = [:]
        return home.failAll(endCause)
    }

    // MARK: Names

    /// The origin of log lines of an invocation, also for a short time after its answer.
    ///
    /// - Parameter function: the index of its function in the manifest; `UInt32.max` if unknown.
    final func origin(of id: InvocationID, function: UInt32) -> LogOrigin {
        identity.origin(of: id, function: dispatcher.functionName(of: artifact, index: function))
    }

    /// The name of invocation `id` in logs.
    final func name(of id: InvocationID) -> InvocationName { identity.name(of: id) }

    /// The index in the manifest of the function of invocation `id`, also for a short time after its answer.
    final func functionIndex(of id: InvocationID) -> UInt32? { identity.recent(id)?.function }

    /// The name of the function of invocation `id`, also for a short time after its answer.
    final func functionName(of id: InvocationID) -> String? {
        functionIndex(of: id).flatMap { dispatcher.functionName(of: artifact, index: $0) }
    }
}
