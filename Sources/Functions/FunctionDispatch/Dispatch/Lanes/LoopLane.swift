import EventLoop
import FunctionWorker
import HearthBytes
import WorkerProtocol

/// A worker's lane for a further loop of the host. Reports to the pool by messages to the dispatcher's loop.
final class LoopLane: ChannelLane {
    private unowned let pool: PoolLane
    /// The completion for the end of the lane, if the worker has ended.
    private var ending: (cause: EndCause?, completion: (Set<String>) -> Void)?
    private var endTimer: Timer?

    /// How long the socket is read after the worker has ended, in case another process still holds its other end.
    private static let endMilliseconds: UInt64 = 150

    init(_ identity: WorkerIdentity, page: WorkerPage, stream: Stream, pool: PoolLane) {
        self.pool = pool
        super.init(identity, number: pool.dispatch.number, page: page, loop: pool.dispatch.loop, log: pool.dispatch.functionLog)
        let channel = FrameChannel(stream, loop: loop, record: identity.records[number])
        channel.begin(for: self)
        self.channel = channel
    }

    /// Runs `tell` on the dispatcher's loop with the pool and the worker.
    private func tellPool(_ tell: @escaping @Sendable (WorkerPool, Worker) -> Void) {
        pool.pool.post { [identity] in $0.withWorker(identity, tell) }
    }

    // MARK: Events of the lane

    override func didSend() { pool.dispatch.watchLife() }

    override func didGiveRoom(isLast: Bool) {
        let signals = pool.signals
        signals.noteAnswer()
        if signals.isAwaited || !identity.room.isOpen || (isLast && signals.isRetired) { tellPool { $0.workerHasRoom($1) } }
    }

    override func didStop(_ id: InvocationID) { tellPool { $1.didStop(id) } }

    override func didFinishStopped(_ id: InvocationID) { tellPool { $1.didFinishStopped(id) } }

    // MARK: The end

    /// Ends the lane, because the worker's process has ended.
    ///
    /// - Parameter completion: gets the functions whose invocations were lost, after the rest of the worker's data has been handled.
    func end(_ cause: EndCause?, completion: @escaping (Set<String>) -> Void) {
        ending = (cause, completion)
        guard let channel, !channel.isClosed else { return finish() }
        channel.peerDidEnd()
        endTimer = Timer(loop: loop) { channel.close() }
        endTimer?.start(afterMilliseconds: Self.endMilliseconds)
    }

    private func finish() {
        guard let (cause, completion) = ending else { return }
        ending = nil
        endTimer = nil
        channel = nil
        let lost = failAll(cause)
        pool.forget(self)
        completion(lost)
    }

    // MARK: Services

    private func callService(_ header: FrameHeader, head: Span<UInt8>, payload: Span<UInt8>) {
        guard let call = ServiceCall(header, head: head, payload: payload, on: self) else {
            return kill(reason: "it sent a malformed service call")
        }
        let hold = MemoryHold(pool.dispatch.memory.services, pool.share, bytes: payload.count + ServiceCall.overheadBytes)
        let (held, loop) = (LoopBound((lane: self, hold: hold), loop: loop), loop)
        pool.dispatch.home.post { dispatcher in
            dispatcher.services.handle(call) { answer in
                loop.post { held.value.lane.answerService(header.value, answer) }
            }
        }
    }

    private func kill(reason: String) { tellPool { $1.kill(reason: reason) } }
}

extension LoopLane: FrameChannelOwner {
    func channel(_ channel: FrameChannel, received header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>) {
        switch header.kind {
        case .answer, .chunk, .startResponse: didReceiveAnswer(header, head: head, body: body)
        case .serviceCall: callService(header, head: head, payload: body)
        // The answer on the first lane is enough.
        case .resumed: break
        default: kill(reason: "it sent a frame that does not belong on this lane")
        }
    }

    func memory(for channel: FrameChannel) -> MemoryCharge { MemoryCharge(pool.dispatch.memory.services, pool.share) }

    func channelMayGoOn(_ channel: FrameChannel) -> Bool { !pool.share.isFull }

    func channelLeftFrameUnfinished(_ channel: FrameChannel) { kill(reason: "it began a message to the host and did not finish it") }

    func channelBroke(_ channel: FrameChannel) { tellPool { $1.laneDidBreak() } }

    func channelDidEnd(_ channel: FrameChannel) { tellPool { $1.laneDidBreak() } }

    func channelDidClose(_ channel: FrameChannel) {
        self.channel = nil
        finish()
    }
}
