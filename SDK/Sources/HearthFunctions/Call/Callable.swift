internal import HearthJSON

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

/// The way to a callable's client while the function still works.
public struct CallableResponse: Sendable {
    private let invocation: Invocation

    @usableFromInline
    init(_ call: CallHandle) { self.invocation = call.invocation }

    /// Sends a value that the client receives as a message of its stream, and waits while the client reads slowly.
    ///
    /// - Returns: false when nobody receives it: the client did not ask for a stream, or is gone.
    /// - Throws: when the value cannot be written as JSON.
    @discardableResult
    public func sendChunk(_ value: some Encodable) async throws -> Bool {
        let chunk = try JSONEncoder.callable.encode(value)
        return await invocation.drain.offer { chunk.withUnsafeBytes { invocation.host.sendChunk(invocation.id, $0) } }
    }
}
