/// A call of a callable function: its data, and who makes it.
public struct CallableRequest<Input> {
    /// What the client sent.
    public let data: Input
    @usableFromInline let call: CallHandle

    @inlinable
    init(data: Input, call: CallHandle) {
        self.data = data
        self.call = call
    }

    private var invocation: Invocation { call.invocation }

    /// Who calls; nil when nobody has signed in. A call with a token that does not verify never gets here.
    public var auth: AuthData? { invocation.context.auth }

    /// Which app calls; nil when App Check said nothing or nothing valid.
    public var app: AppCheckData? { invocation.context.app }

    /// The client's messaging registration token, as sent: it has not been verified.
    public var instanceIDToken: String? { invocation.context.instanceIDToken }

    /// Whether the client asked for a stream, and so receives what `sendChunk` sends.
    public var acceptsStreaming: Bool { invocation.context.acceptsStreaming }

    /// The HTTP request that carried the call.
    public var rawRequest: RawRequest { RawRequest(invocation) }

    /// The call's place in a trace, as a W3C `traceparent`: what the function asks of other systems goes on with it.
    public var traceparent: String? { rawRequest.traceparent }

    /// When the caller gets `deadline-exceeded` instead of an answer, and the task is cancelled; nil for never.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }
}

extension CallableRequest: Sendable where Input: Sendable {}
