import EventLoop
import FunctionWorker
import WorkerProtocol

/// The workers of a pool, for one further loop of the host. Belongs to that loop.
package final class PoolLane {
    let dispatch: LoopDispatch
    /// The pool, on the dispatcher's loop.
    let pool: HomeReference<WorkerPool>
    let signals: PoolSignals
    /// The plugin's share of the memory budget.
    let share: MemoryShare
    private var lanes: [LoopLane] = []

    init(_ pool: WorkerPool, dispatch: LoopDispatch) {
        self.dispatch = dispatch
        self.pool = HomeReference(pool, loop: pool.loop)
        signals = pool.signals
        share = dispatch.memory.share(ofPlugin: pool.artifact.name)
    }

    // MARK: Invocations

    /// Takes room for an invocation and returns the lane of the worker; nil if the invocation has to go to the pool itself.
    func takeRoom(payloadBytes: Int) -> InvocationLane? {
        // Waiting invocations come first.
        guard !signals.isAwaited, mayCarry(payloadBytes) else { return nil }
        return lanes.takeRoom(\.identity.room)
    }

    private func mayCarry(_ bytes: Int) -> Bool {
        bytes <= WorkerPool.smallPayloadBytes || (bytes <= FrameHeader.bodySizeMax && !share.isFull && !dispatch.memory.services.isFull)
    }

    /// Fails the invocations that are past their deadline.
    ///
    /// - Returns: the earliest remaining deadline.
    func expire(now: UInt64) -> UInt64 { lanes.reduce(.max) { min($0, $1.expire(now: now)) } }

    /// Fails all invocations, because the host is stopping.
    func giveUp() {
        for invocation in lanes.flatMap(\.openInvocations) { invocation.fail(.shuttingDown) }
    }

    // MARK: Workers

    /// Connects this loop to a worker that is ready.
    ///
    /// - Parameter descriptor: the host's end of the socket. The lane owns it from now on.
    func attach(_ identity: WorkerIdentity, page: WorkerPage, descriptor: Int32) {
        // Without a stream, the loop's invocations reach this worker through the dispatcher's loop.
        guard let stream = try? Stream.adopting(descriptor: descriptor, loop: dispatch.loop) else { return }
        lanes.append(LoopLane(identity, page: page, stream: stream, pool: self))
        if lanes.count == 1 { dispatch.pool(self, hasWorkers: true) }
    }

    /// Moves the calls that a blocked worker has not received to the dispatcher, which finds another worker.
    ///
    /// - Returns: the number of these calls.
    func moveUnread(of identity: WorkerIdentity) -> Int {
        guard let lane = lane(of: identity) else { return 0 }
        let taken = lane.takeUnread()
        for invocation in taken { invocation.moveToDispatcher() }
        return taken.count
    }

    /// Ends the lane of a worker that has ended.
    ///
    /// - Parameter completion: gets the functions whose invocations were lost, after the rest of the worker's data has been handled.
    func workerDidEnd(_ identity: WorkerIdentity, _ cause: EndCause?, completion: @escaping @Sendable (Set<String>) -> Void) {
        guard let lane = lane(of: identity) else { return completion([]) }
        lane.end(cause, completion: completion)
    }

    private func lane(of identity: WorkerIdentity) -> LoopLane? { lanes.first { $0.identity === identity } }

    /// Removes a lane that has ended.
    func forget(_ lane: LoopLane) {
        lanes.removeAll { $0 === lane }
        if lanes.isEmpty { dispatch.pool(self, hasWorkers: false) }
    }
}

/// A reference to a ``PoolLane`` for other loops.
package struct PoolLaneReference: Sendable {
    private let lane: LoopBound<PoolLane>
    private let loop: EventLoop

    init(_ lane: PoolLane) {
        loop = lane.dispatch.loop
        self.lane = LoopBound(lane, loop: loop)
    }

    /// The lane. Use it only on the thread of its loop.
    package var value: PoolLane { lane.value }

    /// Runs `work` on the lane's loop.
    func post(_ work: @escaping @Sendable (PoolLane) -> Void) {
        loop.post { [lane] in work(lane.value) }
    }
}

extension [PoolLaneReference] {
    /// Sends a request to every lane, each on its own loop, and collects the answers on `home`. Completes at once if there are no lanes.
    func gather<Answer: Sendable>(
        on home: EventLoop, _ ask: @escaping @Sendable (PoolLane, @escaping @Sendable (Answer) -> Void) -> Void,
        completion: @escaping ([Answer]) -> Void
    ) {
        guard !isEmpty else { return completion([]) }
        let count = count
        var answers: [Answer] = []
        let add = LoopBound(
            { (answer: Answer) in
                answers.append(answer)
                if answers.count == count { completion(answers) }
            }, loop: home)
        for lane in self {
            lane.post { lane in
                ask(lane) { answer in home.post { add.value(answer) } }
            }
        }
    }
}
