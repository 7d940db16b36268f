internal import HearthBytes

/// The way to a plain HTTP function's client, for an answer that is written piece by piece.
public struct ResponseWriter: Sendable {
    private let invocation: Invocation

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// Sends status and header. Without it the first `write` sends 200 and no fields of its own.
    ///
    /// - Returns: false when the client is gone, or the answer had been started before.
    @discardableResult
    public func start(status: Int = 200, headers: Headers = [:]) -> Bool {
        guard !invocation.hasStartedResponse else { return false }
        invocation.hasStartedResponse = true
        var head = ByteBuffer()
        headers.writeHead(status: status, to: &head)
        return head.withUnsafeBytes { invocation.host.startResponse(invocation.id, head: $0) } != .gone
    }

    /// Sends a part of the body, and waits while the client reads slowly.
    ///
    /// - Returns: false when the client is gone.
    @discardableResult
    public func write(_ bytes: [UInt8]) async -> Bool {
        if !invocation.hasStartedResponse, !start() { return false }
        return await invocation.drain.offer { bytes.withUnsafeBytes { invocation.host.sendChunk(invocation.id, $0) } }
    }

    /// Sends text as a part of the body, and waits while the client reads slowly.
    ///
    /// - Returns: false when the client is gone.
    @discardableResult
    public func write(_ text: String) async -> Bool { await write(Array(text.utf8)) }
}
