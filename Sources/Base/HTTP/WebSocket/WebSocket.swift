import HearthBytes
import EventLoop

/// Hears what arrives on a WebSocket. Called on its loop.
public protocol WebSocketHandler: AnyObject {
    /// A whole text, which is UTF-8. The bytes are gone after this call.
    func webSocket(_ socket: WebSocket, didReceiveText text: Span<UInt8>)
    /// A whole binary message. The bytes are gone after this call.
    func webSocket(_ socket: WebSocket, didReceive bytes: Span<UInt8>)
    /// What was sent has mostly left, after ``HTTPFlow/congested`` was returned.
    func webSocketDidDrain(_ socket: WebSocket)
    /// The last call, once, always: the socket has closed, with the peer's code, 1005 where it gave none, or 1006 where it just went.
    func webSocket(_ socket: WebSocket, didCloseWith code: UInt16)
}

extension WebSocketHandler {
    /// Does nothing.
    public func webSocketDidDrain(_ socket: WebSocket) {}
}

/// The server's end of a WebSocket (RFC 6455). Confined to its loop's thread.
///
/// Pings are answered, and the peer is pinged when it is silent. A peer that breaks a rule is told so with a close; one that does not
/// take what it is sent is not listened to.
public final class WebSocket: UpgradedProtocol {
    private enum State {
        case open
        /// A close was sent; the peer's is awaited.
        case closing(since: UInt64)
        case closed
    }

    /// Not touched any more once the state is `closed`, which is before the connection ends.
    private unowned(unsafe) let connection: HTTPConnection
    private let limits: WebSocketLimits
    private var handler: (any WebSocketHandler)?
    private var reader: WebSocketReader
    private var state = State.open
    private var lastHeard: UInt64
    private var hasPinged = false

    init(_ connection: HTTPConnection, limits: WebSocketLimits, handler: any WebSocketHandler) {
        self.connection = connection
        self.limits = limits
        self.handler = handler
        reader = WebSocketReader(limits: limits)
        lastHeard = connection.stream.loop.nowMilliseconds
    }

    /// Whether something can be sent.
    public var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    // MARK: Sending

    /// Sends a text, which must be UTF-8. What is sent in one turn of the loop leaves together.
    ///
    /// - Returns: whether to go on now; the text is taken in any case, unless the socket has closed.
    @discardableResult
    public func send(text: Span<UInt8>) -> HTTPFlow { send(text, opcode: 1) }

    /// Sends a binary message.
    @discardableResult
    public func send(_ bytes: Span<UInt8>) -> HTTPFlow { send(bytes, opcode: 2) }

    private func send(_ payload: Span<UInt8>, opcode: UInt8) -> HTTPFlow {
        guard isOpen else { return .closed }
        write(payload, opcode: opcode)
        return connection.stream.isCongested ? .congested : .ready
    }

    /// Closes with a code and a reason of at most 123 bytes; what was sent before still arrives.
    public func close(code: UInt16 = 1000, reason: String = "") {
        guard isOpen else { return }
        state = .closing(since: connection.stream.loop.nowMilliseconds)
        write(Self.closePayload(code, reason).span, opcode: 8)
    }

    private static func closePayload(_ code: UInt16, _ reason: String) -> [UInt8] {
        var text = Array(reason.utf8.prefix(123))
        // A letter that is cut in two goes as a whole.
        while let last = text.last, text.count == 123, last & 0xC0 == 0x80 || last >= 0xC0 { text.removeLast() }
        return [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + text
    }

    /// A server's frames are not masked, and these are never fragmented.
    private func write(_ payload: Span<UInt8>, opcode: UInt8) {
        let stream = connection.stream
        stream.outbox.append(0x80 | opcode)
        switch payload.count {
        case 0..<126: stream.outbox.append(UInt8(payload.count))
        case 126..<65_536:
            stream.outbox.append(126)
            stream.outbox.append(littleEndian: UInt16(payload.count).byteSwapped)
        default:
            stream.outbox.append(127)
            stream.outbox.append(littleEndian: UInt64(payload.count).byteSwapped)
        }
        stream.outbox.append(payload)
        stream.queueFlush()
    }

    // MARK: What the connection says

    func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        lastHeard = connection.stream.loop.nowMilliseconds
        hasPinged = false
        do throws(WebSocketFault) {
            try reader.read(bytes) { event, payload in handle(event, payload) }
        } catch {
            if isOpen { write(Self.closePayload(error.code, "\(error.reason)").span, opcode: 8) }
            finish(error.code)
        }
    }

    /// - Returns: whether to go on.
    private func handle(_ event: WebSocketReader.Event, _ payload: Span<UInt8>) -> Bool {
        switch event {
        case .text: if isOpen { handler?.webSocket(self, didReceiveText: payload) }
        case .binary: if isOpen { handler?.webSocket(self, didReceive: payload) }
        case .ping: if isOpen { write(payload, opcode: 10) }
        case .pong: break
        case .close(let code):
            if isOpen { write(payload.extracting(first: min(2, payload.count)), opcode: 8) }
            finish(code)
        }
        if case .closed = state { return false }
        return true
    }

    /// Bytes of a message that has not come to its end.
    var unfinishedBytes: Int { reader.unfinishedBytes }

    /// There is no memory for the message that is on its way.
    func giveUp() {
        if isOpen { write(Self.closePayload(1013, "too much is being sent at this moment; try again").span, opcode: 8) }
        finish(1013)
    }

    func didDrain() {
        // It reads: what it has said meanwhile was not listened to.
        lastHeard = connection.stream.loop.nowMilliseconds
        if isOpen { handler?.webSocketDidDrain(self) }
    }

    /// Both sides have closed, or one cannot any more: lets go of the connection.
    private func finish(_ code: UInt16) {
        tellClosed(code)
        connection.beginClosing()
    }

    func connectionDidEnd() { tellClosed(1006) }

    private func tellClosed(_ code: UInt16) {
        if case .closed = state { return }
        state = .closed
        let handler = handler
        self.handler = nil
        handler?.webSocket(self, didCloseWith: code)
    }

    /// Called from time to time by the server.
    func check(_ now: UInt64) {
        switch state {
        case .closing(let since): if now - min(now, since) >= limits.closeMilliseconds { finish(1006) }
        case .open:
            let silence = now - min(now, lastHeard)
            if silence >= 2 * limits.pingMilliseconds {
                finish(1006)
            } else if silence >= limits.pingMilliseconds, !hasPinged {
                hasPinged = true
                write(Span(), opcode: 9)
            }
        case .closed: break
        }
    }
}
