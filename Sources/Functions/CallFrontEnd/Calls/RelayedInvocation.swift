import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP
import WorkerProtocol

/// Stands for a ``FunctionCall`` on the dispatcher's loop when the call's connection is on another: what the function
/// says is copied and sent over.
final class RelayedInvocation: HostInvocation {
    private let call: LoopBound<FunctionCall>
    private let origin: EventLoop
    private let context: [UInt8]

    private init(_ function: RegisteredFunction, call: LoopBound<FunctionCall>, origin: EventLoop, context: [UInt8]) {
        self.call = call
        self.origin = origin
        self.context = context
        super.init(function: function)
    }

    /// Starts `call` on `home`.
    ///
    /// - Returns: what cancels and acknowledges it there.
    static func start(_ call: FunctionCall, payload: Span<UInt8>, on home: EventLoop, from origin: EventLoop) -> LoopBound<RelayedInvocation> {
        var context = ByteBuffer()
        call.writeContext(into: &context)
        let relayed = RelayedInvocation(
            call.function, call: LoopBound(call, loop: origin), origin: origin, context: context.array())
        relayed.deadlineMilliseconds = call.deadlineMilliseconds
        relayed.takesChunks = call.takesChunks
        relayed.trace = call.trace
        relayed.charge = call.makeCharge()
        let reference = LoopBound(relayed, loop: home)
        guard payload.count <= 4096 || relayed.keeps(payload.count) else {
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
