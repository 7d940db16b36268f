import EventLoop
import FunctionWorker
import HearthBytes
import Logging
import Metrics
import WorkerProtocol

/// The workers for functions of one artifact, and the invocations that wait for them.
///
/// Grows while invocations wait, shrinks when workers are idle. Belongs to the dispatcher's loop. The other loops of the host give invocations
/// to workers with room through ``lanes``; all others come here.
package final class WorkerPool {
    package let artifact: Artifact
    let settings: PoolSettings
    let limits: PoolLimits
    package let dispatcher: Dispatcher
    package var loop: EventLoop { dispatcher.loop }
    private(set) var workers: [Worker] = []
    /// The pool's part on each further loop of the host, in the order of the loops. Constant, so that all loops may read it.
    package private(set) var lanes: [PoolLaneReference] = []
    let signals = PoolSignals()
    var queue = InvocationQueue() {
        didSet { if !lanes.isEmpty { signals.setWaiting(queue.count) } }
    }
    private var restarts: RestartPolicy
    /// The number of consecutive failures to start a worker.
    private var failedStarts = 0
    var retryTimer: Timer?
    var isStopping = false
    /// Whether other pools serve its functions now.
    var isRetired = false {
        didSet { signals.setRetired(isRetired) }
    }
    var warming: Warming?
    /// The session of a debugger, which has the only worker that takes calls.
    var debugging: DebugSession?

    /// A request to start workers until `count` are ready.
    struct Warming {
        var count: Int
        var completion: (String?) -> Void
    }

    /// The reason why the plugin cannot be loaded into the host. Calls do not retry: loading takes the loop's time, and a failed library may have
    /// left changes in the process.
    var refusal: PluginRefusal?
    private let deadlines: DeadlineWatch
    private let pluginFigures: PluginFigures
    private let share: MemoryShare

    init(artifact: Artifact, settings: PoolSettings, limits: PoolLimits, dispatcher: Dispatcher) {
        self.artifact = artifact
        self.settings = settings
        self.limits = limits
        self.dispatcher = dispatcher
        deadlines = dispatcher.deadlines
        share = dispatcher.memory.share(ofPlugin: artifact.name)
        pluginFigures = dispatcher.figures(ofPlugin: artifact.name)
        restarts = RestartPolicy(limit: limits.restartLimit, windowSeconds: limits.restartWindowSeconds)
        // A plugin inside the host runs on the home loop only.
        if settings.isIsolated { lanes = dispatcher.loops.map { PoolLaneReference(PoolLane(self, dispatch: $0)) } }
    }

    // MARK: Invocations

    /// Starts the invocation on a worker that has room, or queues it.
    func dispatch(_ invocation: HostInvocation, payload: Span<UInt8>) {
        if payload.count > Self.smallPayloadBytes, let failure = refusal(ofPayload: payload.count) { return invocation.fail(failure) }
        if start(invocation, payload: payload) { return }
        guard !isStopping else { return invocation.fail(.shuttingDown) }
        startWorkerIfNeeded(waiting: queue.count + 1)
        // A worker inside the host is ready at once.
        if !settings.isIsolated, start(invocation, payload: payload) { return }
        let isBackingOff = workers.isEmpty
        guard !isBackingOff || awaitsRestart(until: invocation.deadlineMilliseconds) else { return invocation.fail(startFailure) }
        // A call that waits for a starting worker has a place in this worker, so it does not count for the queue's limit.
        let starting = isBackingOff ? 1 : workers.count { $0.state == .starting }
        guard queue.count < limits.queueLengthMax + starting * settings.concurrency else {
            return invocation.fail(.queueFull(length: queue.count))
        }
        invocation.isColdStart = !workers.contains { $0.state == .ready }
        guard invocation.park(payload: payload) else { return invocation.fail(.memoryIsFull) }
        enqueue(invocation)
        if isBackingOff { scheduleRetry() }
    }

    /// Starts the invocation if a worker has room.
    private func start(_ invocation: HostInvocation, payload: Span<UInt8>) -> Bool {
        guard queue.count == 0, let worker = takeRoom() else { return false }
        worker.home.start(invocation, payload: payload)
        deadlines.note(invocation.deadlineMilliseconds)
        return true
    }

    private func enqueue(_ invocation: HostInvocation) {
        queue.append(invocation, now: loop.nowMilliseconds)
        deadlines.note(min(invocation.deadlineMilliseconds, queue.nextCheckMilliseconds(limits)))
        // A loop that returned room before it could see the new count has not reported it.
        if !lanes.isEmpty { while queue.count > 0, let worker = takeRoom() { startNext(worker) } }
    }

    /// Whether a worker will be started again so soon that a call should wait for it.
    private func awaitsRestart(until deadline: UInt64) -> Bool {
        forgiveIfAnswered()
        return refusal == nil && failedStarts == 0 && restarts.isWorthWaiting(now: loop.nowMilliseconds, deadline: deadline)
    }

    /// Starts an invocation, which a worker did not start, on another worker, or queues it.
    func dispatchAgain(_ invocation: HostInvocation) {
        invocation.countAsParked()
        if queue.count == 0, let worker = takeRoom() {
            deadlines.note(invocation.deadlineMilliseconds)
            return worker.home.startParked(invocation)
        }
        guard !isStopping else { return invocation.fail(.shuttingDown) }
        startWorkerIfNeeded(waiting: queue.count + 1)
        enqueue(invocation)
    }

    /// Whether a waiting call can be started soon: a worker has room, or another worker may be started.
    var hasRoomSomewhere: Bool { workers.contains { $0.room.countIfFree != nil } || workers.count { $0.state != .draining } < settings.instancesMax }

    /// The size up to which payloads are sent regardless of memory.
    static let smallPayloadBytes = 64 << 10

    private func refusal(ofPayload bytes: Int) -> InvocationFailure? {
        if bytes > FrameHeader.bodySizeMax { return .payloadTooLarge(bytes: bytes) }
        return share.isFull || dispatcher.memory.services.isFull ? .memoryIsFull : nil
    }

    /// Starts a worker for a request whose body is still arriving.
    package func warmUp() {
        if workers.isEmpty, !isStopping { startWorkerIfNeeded(waiting: 1) }
    }

    /// The number of invocations that wait for a worker.
    var queuedCount: Int { queue.count }

    /// Notes that a queued invocation was cancelled. It is skipped when its turn comes.
    func forgetQueued() { queue.forgetOne() }

    /// Takes room for an invocation in the worker with the fewest invocations; nil if no worker has room.
    private func takeRoom() -> Worker? { workers.takeRoom(\.room) }

    /// Gives waiting invocations to a worker that has room again, or ends it if it is no longer used.
    func workerHasRoom(_ worker: Worker) {
        while queue.count > 0, worker.room.take() { startNext(worker) }
        endIfUnused(worker)
    }

    /// Starts the next invocation on a worker in which room was taken for it.
    private func startNext(_ worker: Worker) {
        guard let next = queue.next(now: loop.nowMilliseconds, limits) else { return _ = worker.room.give(now: loop.nowMilliseconds) }
        worker.home.startParked(next)
    }

    /// Ends a worker that has no invocations and gets no new ones.
    func endIfUnused(_ worker: Worker) {
        guard isRetired || worker.state == .draining, worker.inFlight == 0, worker.room.closeIfEmpty() else { return }
        worker.drain()
    }

    /// Calls `body` with the worker of this identity, unless it has ended. For messages from other loops.
    func withWorker(_ identity: WorkerIdentity, _ body: (WorkerPool, Worker) -> Void) {
        if let worker = workers.first(where: { $0.identity === identity }) { body(self, worker) }
    }

    /// Fails the invocations that are past their deadline or have waited too long, and retires workers that keep working on cancelled ones.
    ///
    /// - Returns: when to call this function again.
    func expire(now: UInt64) -> UInt64 {
        // Nothing expires while a debugger may have stopped the worker.
        if queue.count > 0, debugging == nil {
            let blockingFunction = blockingFunction
            for (invocation, failure) in queue.takeExpired(now: now, limits, blockingFunction: { blockingFunction }) { invocation.fail(failure) }
        }
        var next = debugging == nil ? queue.nextCheckMilliseconds(limits) : .max
        for worker in workers where !worker.isDebugged {
            next = min(next, worker.home.expire(now: now))
            if worker.overdueCount(now: now, longerThan: Self.overdueMilliseconds) > 0 { retire(worker, now: now) }
            if worker.overdueCount(now: now, longerThan: 0) > 0 { next = min(next, now + Self.overdueMilliseconds / 4) }
        }
        return next
    }

    /// Schedules a check of a worker that was asked to stop an invocation.
    func workerWasToldToStop() { deadlines.note(loop.nowMilliseconds + Self.overdueMilliseconds + 1) }

    /// The time after its deadline or cancellation after which a function that still runs causes its worker to be replaced.
    static let overdueMilliseconds: UInt64 = 10_000

    private func retire(_ worker: Worker, now: UInt64) {
        // A worker inside the host cannot be replaced.
        guard settings.isIsolated else { return }
        if worker.state == .ready {
            worker.enter(.draining)
            dispatcher.log.warning(
                "an instance is replaced: it still works on invocations that ended long ago",
                metadata: ["pid": "\(worker.pid)", "plugin": "\(artifact.name)"])
        }
        if worker.overdueCount(now: now, longerThan: Self.overdueMilliseconds) == worker.inFlight {
            worker.kill(reason: "it did not finish invocations that ended long ago")
        }
    }

    /// Schedules the check of all deadlines.
    func noteDeadlines() { deadlines.note(loop.nowMilliseconds) }

    // MARK: Workers

    /// Adds a worker that was started for a debugger.
    func adopt(_ worker: Worker) { workers.append(worker) }

    /// Starts workers until there are `settings.instancesMin`.
    func prepare() {
        guard !isRetired else { return }
        while workers.count < settings.instancesMin, startWorker() {}
    }

    private func startWorkerIfNeeded(waiting: Int) {
        let starting = workers.count { $0.state == .starting }
        guard starting * settings.concurrency < waiting else { return }
        _ = startWorker()
    }

    func startWorker() -> Bool {
        guard !isStopping, refusal == nil, debugging == nil else { return false }
        guard workers.count(where: { $0.state != .draining }) < settings.instancesMax else { return false }
        forgiveIfAnswered()
        guard restarts.mayStart(now: loop.nowMilliseconds) else {
            scheduleRetry()
            return false
        }
        do throws(PluginRefusal) {
            let worker = try dispatcher.launcher.start(artifact, settings: settings, pool: self)
            if failedStarts > 0 {
                dispatcher.log.notice("instances can be started again", metadata: ["plugin": "\(artifact.name)", "failures": "\(failedStarts)"])
                failedStarts = 0
            }
            worker.startedNanoseconds = loop.nowNanoseconds
            workers.append(worker)
            if isRetired { dispatcher.keep(self) }
            return true
        } catch {
            if failedStarts == 0 {
                dispatcher.log.error("an instance cannot be started", metadata: ["plugin": "\(artifact.name)", "reason": "\(error)"])
            }
            failedStarts += 1
            if settings.isIsolated {
                restarts.couldNotStart(now: loop.nowMilliseconds)
                scheduleRetry()
            } else {
                refusal = error
            }
            return false
        }
    }

    /// Puts a worker into service that has loaded its plugin.
    func workerIsReady(_ worker: Worker) {
        if worker.isHeld { return debugging?.didLoad() ?? () }
        pluginFigures.starts.record(nanoseconds: loop.nowNanoseconds &- worker.startedNanoseconds)
        worker.room.rests(since: loop.nowMilliseconds)
        worker.enter(.ready)
        worker.attachLanes(lanes)
        workerHasRoom(worker)
        if warming != nil { checkWarmth(failure: nil) }
    }

    /// Resets the counts of crashes, because a worker has answered.
    func workerHasAnswered() { restarts.didAnswer() }

    /// Resets the counts of crashes if workers have answered on other loops.
    private func forgiveIfAnswered() {
        if signals.takeAnswered() { restarts.didAnswer() }
    }

    /// Counts the crash of a worker that was ready, at once: before another worker is started or answers.
    func workerIsLost(_ worker: Worker) {
        worker.enter(.draining)
        worker.isLost = true
        if worker.isDebugged { return }
        forgiveIfAnswered()
        restarts.didCrash(now: loop.nowMilliseconds)
    }

    /// Fails the invocations of a worker that has ended, on all loops, and gives waiting ones to other workers.
    ///
    /// - Parameters:
    ///   - reason: why it ended; nil if the host asked it to.
    ///   - isTold: whether the crash has a line of its own in the log.
    func workerDidEnd(_ worker: Worker, reason: String?, isTold: Bool = false) {
        let (identity, cause) = (worker.identity, worker.endCause)
        lanes.gather(on: loop) { lane, answer in
            lane.workerDidEnd(identity, cause, completion: answer)
        } completion: { [self] lost in
            let lost = lost.reduce(worker.failAll()) { $0.union($1) }
            didEnd(worker, reason: reason, isTold: isTold, lost: lost.sorted())
        }
    }

    private func didEnd(_ worker: Worker, reason: String?, isTold: Bool, lost: [String]) {
        workers.removeAll { $0 === worker }
        worker.pool = nil
        // The end of a debugged worker is no crash that counts.
        let reason = worker.isDebugged && debugging?.hasEnded == true ? nil : reason
        if worker.isDebugged { endDebugging(reason) }
        if reason == nil { pluginFigures.ends += 1 } else { pluginFigures.crashes += 1 }
        if let reason {
            forgiveIfAnswered()
            if !worker.isLost, !worker.isDebugged { restarts.didCrash(now: loop.nowMilliseconds) }
            logEnd(of: worker, reason: isTold ? "it crashed; the line with its calls says why" : reason, lost: lost, isTold: isTold, restarts)
        }
        guard !isStopping else { return dispatcher.poolDidShrink() }
        if let reason, warming != nil { checkWarmth(failure: reason) }
        restoreWorkers()
    }

    /// Starts the workers that the pool should have and those that calls wait for. Fails the waiting calls if no worker can be started soon.
    private func restoreWorkers() {
        prepare()
        if queue.count > 0 {
            startWorkerIfNeeded(waiting: queue.count)
            if workers.isEmpty, !awaitsRestart(until: .max) { failQueue(startFailure) }
        }
        leaveIfEmpty()
    }

    func failQueue(_ failure: InvocationFailure) {
        for invocation in queue.removeAll() { invocation.fail(failure) }
    }

    /// The failure of invocations while no worker can be started.
    private var startFailure: InvocationFailure {
        guard refusal == nil else { return .cannotLoad }
        let now = loop.nowMilliseconds
        return .cannotStart(retryAfterSeconds: restarts.notBefore > now ? Int((restarts.notBefore - now + 999) / 1000) : 1)
    }

    /// Schedules the next start of workers for the end of the back-off.
    private func scheduleRetry() {
        guard !isStopping, queue.count > 0 || (settings.instancesMin > 0 && !isRetired) else { return }
        let timer = retryTimer ?? Timer(loop: loop) { [unowned self] in
            retryTimer = nil
            restoreWorkers()
        }
        let now = loop.nowMilliseconds
        timer.start(afterMilliseconds: max(10, restarts.notBefore > now ? restarts.notBefore - now : 10))
        retryTimer = timer
    }

    /// Ends workers that have been idle too long, down to the minimum.
    func shrink(now: UInt64) {
        // A plugin inside the host can neither be unloaded nor loaded again.
        guard settings.isIsolated else { return }
        var spare = workers.count { $0.state == .ready } - settings.instancesMin
        for worker in workers where spare > 0 && worker.state == .ready && worker.inFlight == 0 && !worker.isDebugged {
            guard now >= worker.room.idleSinceMilliseconds + limits.idleMilliseconds, worker.room.closeIfEmpty() else { continue }
            spare -= 1
            worker.drain()
        }
    }
}
