import EventLoop
import HearthBytes
import HTTP

/// The way by which the messages of a live connection travel: a WebSocket, or long polling.
protocol LiveTransport: AnyObject {
    /// Sends a whole message.
    ///
    /// - Returns: whether to continue now. The message is taken in any case.
    func send(_ message: Span<UInt8>) -> HTTPFlow
    /// Stops or continues to take messages from the client.
    func setPaused(_ isPaused: Bool)
    /// Whether the client may leave a message of so many bytes unread.
    func admits(_ bytes: Int) -> Bool
    /// Ends the connection when the sent messages have arrived.
    func close()
}

/// A live connection by WebSocket.
final class LiveSocket: LiveTransport, WebSocketHandler {
    private var socket: WebSocket?
    private var connection: LiveConnection?
    private var assembler = LiveAssembler(bytesMax: LiveSocket.messageBytesMax)
    /// Counts the memory of the incomplete message.
    private var charge: MemoryCharge

    /// The most bytes of a message of a client.
    static let messageBytesMax = 16 * 1024 * 1024
    /// The time without any message in either direction after which the client is regarded as lost. Clients say something every 45 seconds.
    private static let silenceMilliseconds: UInt64 = 120_000

    /// The reasons for the end of a connection, which clients log.
    static let shortage = WebSocket.shortage
    static let silence = "the client has said nothing for too long"
    static let framesAreTexts = "frames must be texts"

    static let limits = {
        var limits = WebSocketLimits()
        limits.messageBytesMax = messageBytesMax
        // The database's Java clients fail on pings.
        limits.pingMilliseconds = 0
        limits.silenceMilliseconds = silenceMilliseconds
        limits.allowsCompression = true
        // Clients reconnect all at once after a failure.
        limits.givesWay = true
        return limits
    }()

    private init(_ charge: consuming MemoryCharge) { self.charge = charge }

    /// Upgrades the request's connection.
    ///
    /// - Parameter connect: makes the connection with this transport.
    static func open(_ exchange: HTTPExchange, connect: (LiveSocket) -> LiveConnection) -> LiveConnection? {
        let transport = LiveSocket(exchange.requestCharge())
        let connection = connect(transport)
        guard let socket = exchange.openWebSocket(limits: limits, handler: transport) else { return nil }
        transport.socket = socket
        transport.connection = connection
        return connection
    }

    // MARK: LiveTransport

    func send(_ message: Span<UInt8>) -> HTTPFlow {
        guard let socket else { return .closed }
        var flow = HTTPFlow.ready
        LiveSegments.send(message) { flow = socket.send(text: $0) }
        return flow
    }

    func setPaused(_ isPaused: Bool) {
        if isPaused { socket?.pauseReading() } else { socket?.resumeReading() }
    }

    func admits(_ bytes: Int) -> Bool { socket?.admits(bytes) ?? true }

    func close() { socket?.close() }

    // MARK: WebSocketHandler

    func webSocket(_ socket: WebSocket, didReceiveText text: Span<UInt8>) {
        do throws(LiveMessage.Fault) {
            let bytes = assembler.unfinishedBytes + text.count
            guard charge.grow(to: bytes) == .granted else {
                return end(1013, .shortage, Self.shortage)
            }
            try assembler.take(text) { connection?.receive($0) }
            charge.set(to: assembler.unfinishedBytes)
        } catch {
            end(1009, .mistake, error.reason)
        }
    }

    private func end(_ code: UInt16, _ ending: LiveEnding, _ reason: String) {
        connection?.note(ending, reason)
        socket?.end(code, reason)
        connection?.didClose()
    }

    func webSocket(_ socket: WebSocket, didReceive bytes: Span<UInt8>) {
        connection?.note(.mistake, Self.framesAreTexts)
        socket.close(code: 1003, reason: Self.framesAreTexts)
        connection?.didClose()
    }

    func webSocket(_ socket: WebSocket, willEndBecauseOf cause: WebSocketEnd) { connection?.note(cause) }

    func webSocketDidDrain(_ socket: WebSocket) { connection?.didDrain() }

    func webSocket(_ socket: WebSocket, didCloseWith code: UInt16) {
        self.socket = nil
        let ended = connection
        connection = nil
        ended?.didClose()
    }
}

extension WebSocket {
    /// Ends the connection with a reason that the client logs.
    func end(_ code: UInt16, _ reason: String) {
        send(text: LivePush.control("e", reason).span)
        close(code: code, reason: reason)
    }
}

extension LiveConnection {
    /// Notes why the WebSocket ends.
    func note(_ cause: WebSocketEnd) {
        switch cause {
        case .violation(let reason): note(.mistake, "\(reason)")
        case .shortage: note(.shortage, LiveSocket.shortage)
        case .silence: note(.silence, LiveSocket.silence)
        }
    }
}
