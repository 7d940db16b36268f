import HearthBytes
public import EventLoop

/// A connection that is between requests, for somebody else to go on with.
public struct ReleasedConnection {
    /// Nobody reads from it, and it has no handler.
    public let stream: Stream
    /// What was read from it and not used: the beginning of the next request.
    public let unread: [UInt8]
    /// Whether only one more request is answered on it, because somebody in between, who speaks TLS with the client, would be glad to go.
    public let isLast: Bool

    /// A connection of another process.
    public init(stream: Stream, unread: [UInt8], isLast: Bool) {
        self.stream = stream
        self.unread = unread
        self.isLast = isLast
    }
}

/// How a server gives its connections to another process, and takes over another's.
extension HTTPServer {
    /// From now on no request is begun: what has begun is answered, and connections that are between requests wait, unread.
    ///
    /// Goes on with ``endHolding()`` or ``releaseConnections(to:)``.
    public func holdRequests() {
        isHolding = true
        for connection in connections { connection.holdIfIdle() }
    }

    /// How many connections have a request that is not answered yet.
    public var busyCount: Int { connections.count { $0.exchange != nil } }

    /// Goes on as before ``holdRequests()``.
    public func endHolding() {
        isHolding = false
        for connection in Array(connections) { connection.resumeAfterHold() }
    }

    /// Gives away what waits, and from now on every connection whose request has been answered. Nothing new is accepted.
    ///
    /// - Parameters:
    ///   - receiver: gets each of them.
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
    /// A head that is too long to be handed over is finished here.
    private var isIdle: Bool { exchange == nil && (phase == .idle || phase == .head && backlog.count <= Self.unreadBytesMax) }

    /// The most unread bytes that fit in the message to the other process.
    private static let unreadBytesMax = MessageChannel.messageBytesMax / 2

    /// Stops reading until it is known who goes on.
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

    /// Gives the connection away where it is between requests and its last answer has left.
    func releaseIfIdle() {
        guard let receiver = server.receiver, isIdle else { return }
        holdIfIdle()
        // TLS goes on here, so that what is queued still leaves.
        guard stream.isTLS || stream.pendingBytes == 0 else { return }
        let unread = backlog.array()
        backlog.clear(keepingAtMost: 0)
        phase = .closed
        stream.handler = nil
        let stream = stream
        server.forget(self)
        receiver(ReleasedConnection(stream: stream, unread: unread, isLast: stream.isTLS || closesAfterAnswer))
    }

    /// Begins with what somebody else has read.
    func begin(withUnread bytes: [UInt8]) {
        backlog.append(bytes)
        processBacklog()
        if phase != .closed, !isHeld { stream.startReading() }
    }
}
