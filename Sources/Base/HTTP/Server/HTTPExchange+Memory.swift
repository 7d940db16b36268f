import HearthBytes
import EventLoop

/// Accounting of an exchange in the server's ``MemoryBudget``.
extension HTTPExchange {
    /// Counts `bytes` that were made of the body, which is gone soon, as held until nobody has the exchange any more: for handlers that
    /// keep them while they wait for something.
    ///
    /// - Returns: whether there is room; if not, the handler refuses the request.
    public func hold(bytes: Int) -> Bool {
        guard bytes > charge.bytes else {
            keepsCharge = true
            return true
        }
        guard claim(bytes) == .granted else { return false }
        keepsCharge = true
        return true
    }

    /// How many bytes may be made of the body.
    ///
    /// - Parameter mayExceed: whether one such request at a time may have more than there is room for.
    public func room(mayExceed: Bool) -> Int {
        if !charge.isBound { charge = requestCharge() }
        return charge.room(mayExceed: mayExceed)
    }

    /// Whether less than half of the usual room is left.
    public var isShortOfRoom: Bool { charge.isShort }

    /// Ends ``hold(bytes:)``: the bytes were handed on or released.
    public func endHolding() {
        keepsCharge = false
        if body.isEmpty { charge.set(to: 0) }
    }

    /// A charge for something else that is held for this client's request.
    public func requestCharge() -> MemoryCharge {
        guard let connection else { return MemoryCharge() }
        let server = connection.server
        return MemoryCharge(server.memory.requests, connection.memoryShare ?? server.memory.share(ofClient: server.proxies.customer(of: self)))
    }

    /// A charge for something that waits until this client reads.
    public func answerCharge() -> MemoryCharge {
        guard let connection else { return MemoryCharge() }
        return MemoryCharge(connection.server.memory.answers, connection.memoryShare)
    }

    /// Whether there is room for an answer, or a part of one, of `bytes` to wait until the client has read it. Small ones always find
    /// room.
    public func admits(answerOf bytes: Int) -> Bool {
        guard bytes > Self.smallAnswerBytes, let connection else { return true }
        return connection.stream.reserve(bytes)
    }

    /// Whether the client has left more unread than `bytes`, and the host has no memory for that.
    public func isBehind(by bytes: Int) -> Bool {
        guard let connection, connection.stream.pendingBytes > bytes else { return false }
        return connection.server.memory.answers.isFull || connection.memoryShare?.isFull == true
    }

    /// As much as the kernel takes at once, as a rule.
    private static let smallAnswerBytes = 64 * 1024

    /// Makes room for a body of `count` bytes.
    func claim(_ count: Int) -> MemoryCharge.Grant {
        guard count > charge.bytes else { return .granted }
        if !charge.isBound { charge = requestCharge() }
        // In steps, so that a body which comes in many pieces is not counted at each.
        let step = count < 64 * 1024 ? 4096 : 64 * 1024
        return charge.grow(to: (count + step - 1) / step * step)
    }

    /// Nothing of the body is needed any more, but what ``hold(bytes:)`` counts.
    func dropBody() {
        body.clear(keepingAtMost: 16 * 1024)
        if charge.bytes != 0, !keepsCharge { charge.set(to: 0) }
    }
}
