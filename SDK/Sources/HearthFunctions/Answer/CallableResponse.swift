internal import HearthJSON

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
