import AdminProtocol
import EventLoop
import FunctionWorker
import HearthBytes
import RealtimeDatabase
import WorkerProtocol

/// The invocations of one loop in a worker process, which are sent over a socket. Belongs to that loop.
class ChannelLane: InvocationLane {
    /// The socket; nil before the worker is connected, and when nothing may be written any more.
    final var channel: FrameChannel?
    private let page: WorkerPage
    private var unread = UnreadCalls()

    init(_ identity: WorkerIdentity, number: Int, page: WorkerPage, loop: EventLoop, log: FunctionLog) {
        self.page = page
        super.init(identity, number: number, loop: loop, log: log)
    }

    /// Called when an invocation was sent, so that checks of the worker's event loop start.
    func didSend() {}

    // MARK: To the worker

    final override func send(_ invocation: HostInvocation, id: InvocationID, payload: Span<UInt8>) {
        guard let channel else { return }
        let start = begin(invocation, id, channel)
        invocation.writeContext(into: &channel.outbox)
        finish(start, id, invocation, payload, channel)
    }

    final override func sendParked(_ invocation: HostInvocation, id: InvocationID) {
        guard let channel else { return }
        let start = begin(invocation, id, channel)
        let buffer = invocation.takeParked()
        let parked = buffer.bytes
        channel.outbox.append(parked.extracting(0..<invocation.parkedContextSize))
        finish(start, id, invocation, parked.extracting(invocation.parkedContextSize..<parked.count), channel)
    }

    private func begin(_ invocation: HostInvocation, _ id: InvocationID, _ channel: FrameChannel) -> Int {
        let deadline = invocation.deadlineMilliseconds
        let header = FrameHeader(
            .invoke, invocation: id, value: deadline == .max ? 0 : deadline * 1_000_000, function: invocation.function.index,
            detail: (invocation.takesChunks ? FrameHeader.takesChunks : 0) | (invocation.isContextRaw ? FrameHeader.hasRawContext : 0))
        let start = channel.outbox.beginFrame(header)
        channel.outbox.append(invocation.function.nameBytes)
        return start
    }

    private func finish(_ start: Int, _ id: InvocationID, _ invocation: HostInvocation, _ payload: Span<UInt8>, _ channel: FrameChannel) {
        let headSize = channel.outbox.payloadSize(ofFrameAt: start)
        channel.outbox.append(payload)
        channel.outbox.finishFrame(start, headSize: headSize)
        let frame = channel.frameIsWhole()
        let nameSize = invocation.function.nameBytes.count
        unread.append(
            id, frame: frame, contextSize: headSize - nameSize, from: channel.outbox, at: start + FrameHeader.size + nameSize
        ) { page.framesReceived(number) }
        didSend()
    }

    final override func sendCancel(_ id: InvocationID) { send(FrameHeader(.cancel, invocation: id)) }

    final override func acknowledge(_ id: InvocationID, size: Int) {
        send(FrameHeader(.acknowledge, invocation: id, value: UInt64(size)))
    }

    /// Sends a frame that has neither head nor body.
    final func send(_ header: FrameHeader) {
        guard let channel else { return }
        channel.outbox.append(frame: header)
        channel.frameIsWhole()
    }

    /// Sends the answer to a service call.
    final func answerService(_ number: UInt64, _ answer: ServiceAnswer) {
        guard let channel else { return }
        let answer = answer.body.count <= FrameHeader.bodySizeMax ? answer : Self.answerTooLarge
        channel.outbox.append(
            frame: FrameHeader(.serviceAnswer, value: number, detail: answer.succeeded ? 1 : 0), head: [UInt8]().span, body: answer.body.span)
        channel.frameIsWhole()
    }

    private static let answerTooLarge = ServiceAnswer.failure(
        .resourceExhausted, "the answer has more than \(FrameHeader.bodySizeMax >> 20) MiB: too large for a message to a function")

    // MARK: From the worker

    /// Handles a frame that is an answer or a part of one.
    final func didReceiveAnswer(_ header: FrameHeader, head: Span<UInt8>, body: Span<UInt8>) {
        switch header.kind {
        case .chunk: invocation(header.invocation)?.didReceiveChunk(body)
        case .startResponse: didStartResponse(header.invocation, head: head)
        default: didAnswer(header.invocation, AnswerKind(rawValue: header.detail) ?? .error, head: head, body: body)
        }
    }

    // MARK: Unread calls

    /// Drops the copies of calls that the worker has received.
    final func trimUnread() { unread.trim(page.framesReceived(number)) }

    /// Takes back the calls that the worker has not received, and prevents it from starting them.
    final func takeUnread() -> [HostInvocation] {
        var taken: [HostInvocation] = []
        var names: [UInt8] = []
        unread.takeAll(after: page.holdCalls(number)) { id, contextSize, contextAndPayload in
            withUnsafeBytes(of: id.rawValue) { names.append(contentsOf: $0) }
            guard let invocation = takeBack(id) else { return }
            invocation.parkedContextSize = contextSize
            swap(&invocation.parked, &contextAndPayload)
            taken.append(invocation)
        }
        if let channel {
            channel.outbox.append(frame: FrameHeader(.resume), head: [UInt8]().span, body: names.span)
            channel.frameIsWhole()
        }
        return taken
    }
}

extension ServiceCall {
    /// Parses the frame of a service call; nil if it is malformed.
    ///
    /// - Parameter lane: the lane of the invocation that makes the call.
    init?(_ header: FrameHeader, head: Span<UInt8>, payload: Span<UInt8>, on lane: ChannelLane) {
        let words = head.array().split(separator: 0, omittingEmptySubsequences: false)
        guard words.count == 3, words[0].count <= Self.nameBytesMax, words[1].count <= Self.nameBytesMax else { return nil }
        self.init(
            artifact: lane.identity.artifact, service: String(decoding: words[0], as: UTF8.self), method: String(decoding: words[1], as: UTF8.self),
            payload: payload.array(), chain: lane.invocation(header.invocation)?.chain ?? EventChain(),
            trace: lane.identity.recent(header.invocation)?.trace, scope: lane.callScope(header.invocation))
    }
}
