import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP
import WorkerProtocol

/// The counterpart of a ``FunctionCall`` on the dispatcher's loop when the call's connection is on another one. Copies the function's
/// answers and posts them to that loop.
final class RelayedInvocation: HostInvocation {
    private let call: LoopBound<FunctionCall>
    private let origin: EventLoop
    private let context: [UInt8]

    private init(_ call: FunctionCall, context: [UInt8]) {
        self.call = LoopBound(call, loop: call.origin)
        self.context = context
        origin = call.origin
        super.init(function: call.function)
        isContextRaw = call.isContextRaw
        deadlineMilliseconds = call.deadlineMilliseconds
        takesChunks = call.takesChunks
        trace = call.trace
        charge = call.makeCharge()
    }

    /// Starts `call` on the dispatcher's loop.
    ///
    /// - Returns: the counterpart, for cancelling the call and acknowledging its chunks.
    static func start(_ call: FunctionCall, payload: Span<UInt8>) -> LoopBound<RelayedInvocation> {
        var context = ByteBuffer()
        call.writeContext(into: &context)
        let relayed = RelayedInvocation(call, context: context.array())
        let home = call.function.pool.dispatcher.loop
        let isKept = payload.count <= 4096 || relayed.keeps(payload.count)
        let reference = LoopBound(relayed, loop: home)
        guard isKept else {
            home.post { reference.value.refuse(.memoryIsFull) }
            return reference
        }
        let payload = payload.array()
        home.post {
            let invocation = reference.value
            invocation.start(payload: payload.span)
            if invocation.isQueued { return }
            invocation.charge.set(to: 0)
        }
        return reference
    }

    /// Starts `call` on the dispatcher's loop, after the worker that it was sent to has not read it.
    ///
    /// - Returns: the counterpart, for cancelling the call and acknowledging its chunks.
    static func move(_ call: FunctionCall, context: Span<UInt8>, payload: Span<UInt8>) -> LoopBound<RelayedInvocation> {
        let (context, payload) = (context.array(), payload.array())
        let home = call.function.pool.dispatcher.loop
        let reference = LoopBound(RelayedInvocation(call, context: context), loop: home)
        home.post { reference.value.start(movedContext: context.span, payload: payload.span) }
        return reference
    }

    override func writeContext(into buffer: inout ByteBuffer) { buffer.append(context) }

    override func didAnswer(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        let head = head.array()
        let body = body.array()
        origin.post { [call] in
            call.value.didAnswer(kind, head: head.span, body: body.span)
            call.value.relayDidEnd()
        }
    }

    override func didStartResponse(head: Span<UInt8>) {
        let head = head.array()
        origin.post { [call] in call.value.didStartResponse(head: head.span) }
    }

    override func didReceiveChunk(_ chunk: Span<UInt8>) {
        let chunk = chunk.array()
        origin.post { [call] in call.value.didReceiveChunk(chunk.span) }
    }

    override func didFail(_ failure: InvocationFailure) {
        origin.post { [call] in
            call.value.didFail(failure)
            call.value.relayDidEnd()
        }
    }
}
