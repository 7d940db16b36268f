internal import HearthJSON

/// A call of a callable function: its data and its caller.
public struct CallableRequest<Input> {
    /// The client's data.
    public let data: Input
    @usableFromInline let call: CallHandle

    @inlinable
    init(data: Input, call: CallHandle) {
        self.data = data
        self.call = call
    }

    private var invocation: Invocation { call.invocation }

    /// The signed-in user; nil for a client that has not signed in. A call with an invalid token is refused before the function runs.
    public var auth: AuthData? { invocation.context.callerAuth }

    /// The app, as App Check has verified it; nil without a valid token.
    public var app: AppCheckData? { invocation.context.app }

    /// The client's messaging registration token, as sent: it has not been verified.
    public var instanceIDToken: String? { invocation.context.instanceIDToken }

    /// Whether the client asked for a stream, and so receives the values of `sendChunk`.
    public var acceptsStreaming: Bool { invocation.context.acceptsStreaming }

    /// The HTTP request that carried the call.
    public var rawRequest: RawRequest { RawRequest(invocation) }

    /// The call's place in a trace, as a W3C `traceparent`, to be sent along with requests to other systems.
    public var traceparent: String? { rawRequest.traceparent }

    /// The time at which the caller gets `deadline-exceeded` and the task is cancelled; nil for never.
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
    /// - Returns: false when the client did not ask for a stream, or is gone.
    /// - Throws: when the value cannot be written as JSON.
    @discardableResult
    public func sendChunk(_ value: some Encodable) async throws -> Bool {
        let chunk = try JSONEncoder.callable.encode(value)
        return await invocation.drain.offer { chunk.withUnsafeBytes { invocation.host.sendChunk(invocation.id, $0) } }
    }
}
