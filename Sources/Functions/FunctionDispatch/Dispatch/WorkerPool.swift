import EventLoop
import FunctionWorker
import HearthBytes
import Logging
import Metrics
import WorkerProtocol

/// The workers that serve some functions of one artifact, and the invocations that wait for them.
///
/// Grows while invocations wait, shrinks when workers idle. Belongs to the dispatcher's loop.
package final class WorkerPool {
    package let artifact: Artifact
    let settings: PoolSettings
    let limits: PoolLimits
    package let dispatcher: Dispatcher
    package var loop: EventLoop { dispatcher.loop }
    private(set) var workers: [Worker] = []
    private var queue = InvocationQueue()
    private var restarts: RestartPolicy
    /// How often a worker could not be started since one could.
    private var failedStarts = 0
    private var retryTimer: Timer?
    private var isStopping = false
    /// Whether its functions are served by others now.
    private var isRetired = false
    private var warming: Warming?
    /// Why the plugin cannot be loaded into the host. Calls do not try that again: it takes the loop's time, and what a library has begun
    /// to do stays in the process.
    private var refusal: PluginRefusal?
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
    }

    // MARK: Invocations

    /// Gives the invocation to a worker that has room, or lets it wait for one.
    func dispatch(_ invocation: HostInvocation, payload: Span<UInt8>) {
        if payload.count > Self.smallPayloadBytes, let failure = refusal(ofPayload: payload.count) { return invocation.fail(failure) }
        if let worker = freeWorker() {
            worker.start(invocation, payload: payload)
            deadlines.note(invocation.deadlineMilliseconds)
            return
        }
        guard !isStopping else { return invocation.fail(.shuttingDown) }
        startWorkerIfNeeded(waiting: queue.count + 1)
        let isBackingOff = workers.isEmpty
        guard !isBackingOff || awaitsRestart(until: invocation.deadlineMilliseconds) else { return invocation.fail(startFailure) }
        // A call that waits for a worker to be started takes a place in it, not one in the queue.
        let starting = isBackingOff ? 1 : workers.count { $0.state == .starting }
        guard queue.count < limits.queueLengthMax + starting * settings.concurrency || freeWorker() != nil else {
            return invocation.fail(.queueFull(length: queue.count))
        }
        // A worker inside the host starts at once.
        if let worker = freeWorker() {
            worker.start(invocation, payload: payload)
        } else {
            invocation.isColdStart = !workers.contains { $0.state == .ready }
            guard invocation.park(payload: payload) else { return invocation.fail(.memoryIsFull) }
            queue.append(invocation, now: loop.nowMilliseconds)
            if isBackingOff { scheduleRetry() }
        }
        deadlines.note(min(invocation.deadlineMilliseconds, queue.nextCheckMilliseconds(limits)))
    }

    /// Whether a worker is started again so soon that a call without one should wait for it.
    private func awaitsRestart(until deadline: UInt64) -> Bool {
        refusal == nil && failedStarts == 0 && restarts.isWorthWaiting(now: loop.nowMilliseconds, deadline: deadline)
    }

    /// Gives an invocation that a worker has not begun to another, or lets it wait for one.
    func dispatchAgain(_ invocation: HostInvocation) {
        invocation.countAsParked()
        if let worker = freeWorker() { return worker.startParked(invocation) }
        guard !isStopping else { return invocation.fail(.shuttingDown) }
        startWorkerIfNeeded(waiting: queue.count + 1)
        queue.append(invocation, now: loop.nowMilliseconds)
        deadlines.note(min(invocation.deadlineMilliseconds, queue.nextCheckMilliseconds(limits)))
    }

    /// Whether a call that waits can be begun soon: a worker has room, or another may be started.
    var hasRoomSomewhere: Bool { freeWorker() != nil || workers.count { $0.state != .draining } < settings.instancesMax }

    /// A payload up to here is sent without a look at what waits for the plugin.
    private static let smallPayloadBytes = 64 << 10

    private func refusal(ofPayload bytes: Int) -> InvocationFailure? {
        if bytes > FrameHeader.bodySizeMax { return .payloadTooLarge(bytes: bytes) }
        return share.isFull || dispatcher.memory.services.isFull ? .memoryIsFull : nil
    }

    /// Starts a worker ahead of an invocation whose body still arrives.
    package func warmUp() {
        if workers.isEmpty, !isStopping { startWorkerIfNeeded(waiting: 1) }
    }

    /// How many invocations wait for a worker.
    var queuedCount: Int { queue.count }

    /// A queued invocation was cancelled; it is skipped when its turn comes.
    func forgetQueued() { queue.forgetOne() }

    private func freeWorker() -> Worker? {
        var best = -1
        var fewest = settings.concurrency
        for index in 0..<workers.count {
            guard workers[index].state == .ready, !workers[index].isBlocked, workers[index].inFlight < fewest else { continue }
            best = index
            fewest = workers[index].inFlight
        }
        return best < 0 ? nil : workers[best]
    }

    /// A worker has answered or become ready.
    func workerHasRoom(_ worker: Worker) {
        while worker.state == .ready, !worker.isBlocked, worker.inFlight < settings.concurrency {
            guard let next = queue.next(now: loop.nowMilliseconds, limits) else { break }
            worker.startParked(next)
        }
        if worker.inFlight == 0, isRetired || worker.state == .draining { worker.drain() }
    }

    /// Fails what is due, in the queue and in the workers; retires workers that hold on to what nobody waits for.
    ///
    /// - Returns: when to look again.
    func expire(now: UInt64) -> UInt64 {
        let blockingFunction = queue.count > 0 ? self.blockingFunction : nil
        for (invocation, failure) in queue.takeExpired(now: now, limits, blockingFunction: { blockingFunction }) { invocation.fail(failure) }
        var next = queue.nextCheckMilliseconds(limits)
        for worker in workers {
            next = min(next, worker.expire(now: now))
            if worker.overdueCount(now: now, longerThan: Self.overdueMilliseconds) > 0 { retire(worker, now: now) }
            if worker.overdueCount(now: now, longerThan: 0) > 0 { next = min(next, now + Self.overdueMilliseconds / 4) }
        }
        return next
    }

    /// A worker works on something that nobody waits for: when it should long have ended, that is looked at.
    func workerWasToldToStop() { deadlines.note(loop.nowMilliseconds + Self.overdueMilliseconds + 1) }

    /// How long a function may go on after its deadline, or after its client has gone, before its worker is replaced.
    static let overdueMilliseconds: UInt64 = 10_000

    private func retire(_ worker: Worker, now: UInt64) {
        // What runs inside the host cannot be replaced.
        guard settings.isIsolated else { return }
        if worker.state == .ready {
            worker.state = .draining
            dispatcher.log.warning(
                "an instance is replaced: it still works on invocations that ended long ago",
                metadata: ["pid": "\(worker.pid)", "plugin": "\(artifact.name)"])
        }
        if worker.overdueCount(now: now, longerThan: Self.overdueMilliseconds) == worker.inFlight {
            worker.kill(reason: "it did not finish what nobody waits for any more")
        }
    }

    // MARK: Workers

    /// Starts `settings.instancesMin` workers.
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
        guard !isStopping, refusal == nil, workers.count(where: { $0.state != .draining }) < settings.instancesMax else { return false }
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

    /// The plugin is loaded.
    func workerIsReady(_ worker: Worker) {
        worker.state = .ready
        pluginFigures.starts.record(nanoseconds: loop.nowNanoseconds &- worker.startedNanoseconds)
        worker.idleSinceMilliseconds = loop.nowMilliseconds
        workerHasRoom(worker)
        if warming != nil { checkWarmth(failure: nil) }
    }

    /// A worker has answered something: what crashed before is forgiven.
    func workerHasAnswered() { restarts.didAnswer() }

    /// A worker that was ready ends. The crash counts from here on, before another one is started or answers.
    func workerIsLost(_ worker: Worker) {
        worker.state = .draining
        worker.isLost = true
        restarts.didCrash(now: loop.nowMilliseconds)
    }

    /// A worker is gone. What it had is answered; what waits goes to another.
    ///
    /// - Parameters:
    ///   - reason: nil where it ended because it was told to.
    ///   - isTold: whether the crash has a line of its own in the log.
    func workerDidEnd(_ worker: Worker, reason: String?, isTold: Bool = false) {
        workers.removeAll { $0 === worker }
        worker.pool = nil
        if reason == nil { pluginFigures.ends += 1 } else { pluginFigures.crashes += 1 }
        let lost = Set(worker.openInvocations.map(\.function.name)).sorted()
        worker.failAll()
        if let reason {
            if !worker.isLost { restarts.didCrash(now: loop.nowMilliseconds) }
            logEnd(of: worker, reason: isTold ? "it crashed; the line with its calls says why" : reason, lost: lost, isTold: isTold, restarts)
        }
        guard !isStopping else { return dispatcher.poolDidShrink() }
        if let reason, warming != nil { checkWarmth(failure: reason) }
        restoreWorkers()
    }

    /// Starts the workers that the pool should have, and those that calls wait for; fails the calls where none can be started soon.
    private func restoreWorkers() {
        prepare()
        if queue.count > 0 {
            startWorkerIfNeeded(waiting: queue.count)
            if workers.isEmpty, !awaitsRestart(until: .max) { failQueue(startFailure) }
        }
        leaveIfEmpty()
    }

    private func failQueue(_ failure: InvocationFailure) {
        for invocation in queue.removeAll() { invocation.fail(failure) }
    }

    /// The failure of an invocation while there is no worker.
    private var startFailure: InvocationFailure {
        guard refusal == nil else { return .cannotLoad }
        let now = loop.nowMilliseconds
        return .cannotStart(retryAfterSeconds: restarts.notBefore > now ? Int((restarts.notBefore - now + 999) / 1000) : 1)
    }

    /// Restores the workers when the back-off is over.
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

    /// Lets go of workers that have been idle too long, down to the minimum.
    func shrink(now: UInt64) {
        // What runs inside the host can neither be unloaded nor loaded again.
        guard settings.isIsolated else { return }
        var spare = workers.count { $0.state == .ready } - settings.instancesMin
        for worker in workers where spare > 0 && worker.state == .ready && worker.inFlight == 0 {
            guard now >= worker.idleSinceMilliseconds + limits.idleMilliseconds else { continue }
            spare -= 1
            worker.state = .draining
            worker.drain()
        }
    }

    // MARK: Coming and going with a version

    /// How many workers take invocations.
    package var readyCount: Int { workers.count { $0.state == .ready } }

    private struct Warming {
        var count: Int
        var completion: (String?) -> Void
    }

    /// Starts workers until so many are ready.
    ///
    /// - Parameter completion: gets nil then, or why one of them did not come up.
    package func warm(_ count: Int, completion: @escaping (String?) -> Void) {
        let wanted = min(max(count, settings.instancesMin), settings.instancesMax)
        warming = Warming(count: wanted, completion: completion)
        // A deployment may have fixed the cause: try again.
        refusal = nil
        while workers.count(where: { $0.state == .ready || $0.state == .starting }) < wanted, startWorker() {}
        // A worker inside the host is ready, or has failed, at once.
        checkWarmth(failure: workers.isEmpty && wanted > 0 ? refusal?.description ?? "no worker can be started now" : nil)
    }

    private func checkWarmth(failure: String?) {
        guard let warming, failure != nil || readyCount >= warming.count else { return }
        self.warming = nil
        warming.completion(failure)
    }

    /// Its functions are served by others now: who has found it still gets an answer, then its workers end.
    func retire() {
        isRetired = true
        if queue.count == 0 { retryTimer = nil }
        for worker in workers where worker.state == .ready && worker.inFlight == 0 { worker.drain() }
        leaveIfEmpty()
    }

    /// Its functions are its own again.
    func revive() { isRetired = false }

    /// Whether nothing of it is left.
    var isGone: Bool { isRetired && workers.isEmpty && queue.count == 0 }

    private func leaveIfEmpty() {
        if isGone { dispatcher.retiredPoolIsEmpty(self) }
    }

    /// Takes no more invocations; workers end when they have answered.
    func stop() {
        isStopping = true
        retryTimer = nil
        for worker in workers where worker.state != .ended {
            worker.state = .draining
            if worker.inFlight == 0 { worker.drain() }
        }
        if workers.isEmpty { failQueue(.shuttingDown) }
    }

    /// Lets others take the place of its workers, once these have answered.
    func replaceWorkers() {
        guard settings.isIsolated else { return }
        for worker in workers where worker.state == .ready {
            worker.state = .draining
            if worker.inFlight == 0 { worker.drain() }
        }
        prepare()
    }

    /// Ends the workers at once; others start when they are needed.
    func killWorkers(reason: String) {
        for worker in workers where settings.isIsolated { worker.kill(reason: reason) }
    }

    /// Answers everything that is still open in the functions' place.
    func giveUp() {
        failQueue(.shuttingDown)
        for invocation in workers.flatMap(\.openInvocations) { invocation.fail(.shuttingDown) }
    }

    /// Ends what is left, at the end of the host's patience.
    func killAll() {
        failQueue(.shuttingDown)
        for worker in workers { worker.kill(reason: "the host stops") }
    }
}
