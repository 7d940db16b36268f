import HearthBytes
import EventLoop

/// Accounting of an exchange in the server's ``MemoryBudget``.
extension HTTPExchange {
    /// Charges `bytes`, made from the body, until the exchange is released: for handlers that keep them while they wait.
    ///
    /// - Returns: whether they fit; if not, the handler refuses the request.
    public func hold(bytes: Int) -> Bool {
        guard bytes > charge.bytes else {
            keepsCharge = true
            return true
        }
        guard claim(bytes) == .granted else { return false }
        keepsCharge = true
        return true
    }

    /// The most bytes that may be made from the body.
    ///
    /// - Parameter mayExceed: whether to apply for being the one request that may exceed the limit.
    public func room(mayExceed: Bool) -> Int {
        if !charge.isBound { charge = requestCharge() }
        return charge.room(mayExceed: mayExceed)
    }

    /// Whether less than half of the usual capacity is left.
    public var isShortOfRoom: Bool { charge.isShort }

    /// Ends ``hold(bytes:)``: the bytes were passed on or released.
    public func endHolding() {
        keepsCharge = false
        if body.isEmpty { charge.set(to: 0) }
    }

    /// A charge for other data that is held for this client's request.
    public func requestCharge() -> MemoryCharge {
        guard let (server, share) = memoryOwner else { return MemoryCharge() }
        return MemoryCharge(server.memory.requests, share ?? server.memory.share(ofClient: server.proxies.customer(of: self)))
    }

    /// A charge for data that waits until this client reads.
    public func answerCharge() -> MemoryCharge {
        guard let (server, share) = memoryOwner else { return MemoryCharge() }
        return MemoryCharge(server.memory.answers, share)
    }

    /// The server, and the share of the client.
    private var memoryOwner: (server: HTTPServer, share: MemoryShare?)? {
        if let connection { return (connection.server, connection.memoryShare) }
        return carrier.map { ($0.server, $0.memoryShare) }
    }

    /// Whether an answer, or a part of one, of `bytes` may wait until the client has read it. Small ones always may.
    public func admits(answerOf bytes: Int) -> Bool {
        guard bytes > Self.smallAnswerBytes else { return true }
        return connection?.stream.reserve(bytes) ?? carrier?.reserve(bytes) ?? true
    }

    /// Whether the client has left more than `bytes` unread and the memory for it is exhausted.
    public func isBehind(by bytes: Int) -> Bool {
        guard connection?.stream.pendingBytes ?? carrier?.unsentBytes ?? 0 > bytes, let (server, share) = memoryOwner else { return false }
        return server.memory.answers.isFull || share?.isFull == true
    }

    /// The size that the kernel usually takes at once.
    private static let smallAnswerBytes = 64 * 1024

    /// Charges a body of `count` bytes.
    func claim(_ count: Int) -> MemoryCharge.Grant {
        guard count > charge.bytes else { return .granted }
        if !charge.isBound { charge = requestCharge() }
        // In steps, so that not every piece of a body changes the charge.
        let step = count < 64 * 1024 ? 4096 : 64 * 1024
        return charge.grow(to: (count + step - 1) / step * step)
    }

    /// Releases the charge of the body, except for ``hold(bytes:)``.
    func dropBody() {
        body.clear(keepingAtMost: 16 * 1024)
        if charge.bytes != 0, !keepsCharge { charge.set(to: 0) }
    }
}
