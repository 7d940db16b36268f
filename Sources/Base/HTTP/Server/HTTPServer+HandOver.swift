import HearthBytes
public import EventLoop

/// A connection between requests, which another process can continue.
public struct ReleasedConnection {
    /// Not reading, and without a handler.
    public let stream: Stream
    /// Bytes read but not used: the beginning of the next request.
    public let unread: [UInt8]
    /// Close after the next response: the releasing process only proxies TLS for the client and is waiting to exit.
    public let isLast: Bool

    /// A connection of another process.
    public init(stream: Stream, unread: [UInt8], isLast: Bool) {
        self.stream = stream
        self.unread = unread
        self.isLast = isLast
    }
}

/// Hands connections over to another process, and adopts those of another process.
extension HTTPServer {
    /// From now on no request starts. Requests that have started are answered; connections between requests wait, unread.
    ///
    /// Continue with ``endHolding()`` or ``releaseConnections(to:)``.
    public func holdRequests() {
        isHolding = true
        for connection in connections { connection.hold() }
    }

    /// The number of connections with an unanswered request.
    public var busyCount: Int { connections.count { $0.isBusy } }

    /// Reverts ``holdRequests()``.
    public func endHolding() {
        isHolding = false
        for connection in Array(connections) { connection.resumeAfterHold() }
    }

    /// Releases the waiting connections, and from now on every connection whose request has been answered. Accepts no new connections.
    ///
    /// - Parameters:
    ///   - receiver: gets each connection.
    ///   - completion: called once, when no connection is left.
    public func releaseConnections(to receiver: @escaping (ReleasedConnection) -> Void, completion: @escaping () -> Void) {
        isHolding = true
        self.receiver = receiver
        whenDrained = completion
        for connection in Array(connections) { connection.releaseIfIdle() }
        if connections.isEmpty { loop.endOfTurn { [self] in reportDrained() } } else { startTimer() }
    }

    /// Serves a connection that another server has released.
    public func adopt(_ released: ReleasedConnection) {
        let connection = HTTPConnection(released.stream, self)
        connection.index = connections.count
        connection.closesAfterAnswer = released.isLast
        connections.append(connection)
        released.stream.handler = connection
        if connections.count == 1 { startTimer() }
        connection.begin(withUnread: released.unread)
    }

    /// Takes a connection off the list without closing it.
    func forget(_ connection: HTTPConnection) { didClose(connection) }
}

extension HTTPConnection {
    /// A connection whose partial head is too long to hand over is finished here.
    private var isIdle: Bool {
        exchange == nil && (phase == .fresh || phase == .idle || phase == .head && backlog.count <= Self.unreadBytesMax)
    }

    /// The most unread bytes that fit in the message to the other process.
    private static let unreadBytesMax = MessageChannel.messageBytesMax / 2

    /// Whether requests are unanswered.
    var isBusy: Bool { exchange != nil || upgraded?.isBusy == true }

    /// Lets no request start.
    func hold() {
        holdIfIdle()
        upgraded?.hold()
    }

    /// Stops reading until it is decided which process continues.
    func holdIfIdle() {
        guard isIdle, !isHeld else { return }
        isHeld = true
        stream.pauseReading()
    }

    func resumeAfterHold() {
        guard isHeld else { return }
        isHeld = false
        processBacklog()
    }

    /// Releases the connection if it is between requests and its last answer has been sent.
    func releaseIfIdle() {
        guard let receiver = server.receiver, isIdle else { return }
        holdIfIdle()
        // TLS continues in this process, so queued bytes are still sent.
        guard stream.isTLS || stream.pendingBytes == 0 else { return }
        let unread = backlog.array()
        backlog.clear(keepingAtMost: 0)
        phase = .closed
        stream.handler = nil
        let stream = stream
        server.forget(self)
        receiver(ReleasedConnection(stream: stream, unread: unread, isLast: stream.isTLS || closesAfterAnswer))
    }

    /// Starts with bytes that another process has read.
    func begin(withUnread bytes: [UInt8]) {
        backlog.append(bytes)
        processBacklog()
        if phase != .closed, !isHeld { stream.startReading() }
    }
}
