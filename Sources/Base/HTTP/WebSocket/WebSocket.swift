import HearthBytes
import EventLoop

/// Receives the events of a WebSocket, on its loop.
public protocol WebSocketHandler: AnyObject {
    /// A whole text message, valid UTF-8. The bytes are valid only during this call.
    func webSocket(_ socket: WebSocket, didReceiveText text: Span<UInt8>)
    /// A whole binary message. The bytes are valid only during this call.
    func webSocket(_ socket: WebSocket, didReceive bytes: Span<UInt8>)
    /// Most of the queued data has been sent, after ``HTTPFlow/congested`` was returned.
    func webSocketDidDrain(_ socket: WebSocket)
    /// The server ends the connection by itself; the close is reported afterwards.
    func webSocket(_ socket: WebSocket, willEndBecauseOf cause: WebSocketEnd)
    /// The socket has closed, with the peer's code, 1005 if it gave none, or 1006 if the connection was lost. The last call, exactly once.
    func webSocket(_ socket: WebSocket, didCloseWith code: UInt16)
}

extension WebSocketHandler {
    /// Does nothing.
    public func webSocketDidDrain(_ socket: WebSocket) {}
    /// Does nothing.
    public func webSocket(_ socket: WebSocket, willEndBecauseOf cause: WebSocketEnd) {}
}

/// Why the server ends the connection of a WebSocket by itself.
public enum WebSocketEnd: Sendable {
    /// The peer violates the protocol.
    case violation(StaticString)
    /// There is no memory for an incomplete message.
    case shortage
    /// The peer has said nothing for too long.
    case silence
}

/// The server side of a WebSocket (RFC 6455), which can compress messages (RFC 7692). Confined to its loop's thread.
///
/// Answers pings, and pings a silent peer. A peer that violates the protocol gets a close frame. Reading pauses while the peer does not
/// read.
public final class WebSocket: UpgradedProtocol {
    private enum State {
        case open
        /// A close frame was sent; the peer's is awaited.
        case closing(since: UInt64)
        case closed
    }

    /// Not used once the state is `closed`, which happens before the connection ends.
    private unowned(unsafe) let connection: HTTPConnection
    private let limits: WebSocketLimits
    /// Nil if messages are not compressed.
    private let agreement: DeflateAgreement?
    private var handler: (any WebSocketHandler)?
    private var reader: WebSocketReader
    private var state = State.open
    private var lastHeard: UInt64
    /// The bytes of all frames that were sent.
    private var sentBytes = 0
    private var acknowledged: Acknowledged
    private var hasPinged = false
    /// Whether further bytes of the peer wait.
    private(set) var isPaused = false

    init(_ connection: HTTPConnection, limits: WebSocketLimits, agreement: DeflateAgreement?, handler: any WebSocketHandler) {
        self.connection = connection
        self.limits = limits
        self.agreement = agreement
        self.handler = handler
        reader = WebSocketReader(limits: limits, compression: agreement == nil ? nil : connection.server.compression)
        lastHeard = connection.stream.loop.nowMilliseconds
        acknowledged = Acknowledged(time: lastHeard, checked: lastHeard)
    }

    /// The bytes that the peer's kernel has acknowledged, for peers that receive but send nothing.
    private struct Acknowledged {
        /// The time at which more was found to be acknowledged.
        var time: UInt64
        var checked: UInt64
        /// The bytes that were sent, and those of them that were not acknowledged, at that time.
        var sentBytes = 0
        var unsentBytes = 0
    }

    /// Whether messages can be sent.
    public var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    // MARK: Sending

    /// Sends a text message, which must be UTF-8. The messages of one turn of the loop are sent together.
    ///
    /// - Returns: whether to continue now. The message is taken in any case, unless the socket has closed.
    @discardableResult
    public func send(text: Span<UInt8>) -> HTTPFlow { send(text, opcode: 1) }

    /// Sends a binary message.
    @discardableResult
    public func send(_ bytes: Span<UInt8>) -> HTTPFlow { send(bytes, opcode: 2) }

    private func send(_ payload: Span<UInt8>, opcode: UInt8) -> HTTPFlow {
        guard isOpen else { return .closed }
        writeMessage(payload, opcode: opcode)
        return connection.stream.isCongested ? .congested : .ready
    }

    /// Closes with a code and a reason of at most 123 bytes. Messages sent before still arrive.
    public func close(code: UInt16 = 1000, reason: String = "") {
        guard isOpen else { return }
        state = .closing(since: connection.stream.loop.nowMilliseconds)
        write(Self.closePayload(code, reason).span, opcode: 8)
    }

    private static func closePayload(_ code: UInt16, _ reason: String) -> [UInt8] {
        var text = Array(reason.utf8.prefix(123))
        // Do not cut a UTF-8 sequence: remove it as a whole.
        while let last = text.last, text.count == 123, last & 0xC0 == 0x80 || last >= 0xC0 { text.removeLast() }
        return [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + text
    }

    private func writeMessage(_ payload: Span<UInt8>, opcode: UInt8) {
        if let agreement, payload.count >= limits.compressedBytesMin {
            let isCompressed = connection.server.compression.compress(payload, windowBits: agreement.windowBits) { write($0, opcode: 0x40 | opcode) }
            if isCompressed { return }
        }
        write(payload, opcode: opcode)
    }

    /// Frames of a server are unmasked; this one never fragments.
    ///
    /// - Parameter opcode: with the bit of a compressed message.
    private func write(_ payload: Span<UInt8>, opcode: UInt8) {
        let stream = connection.stream
        sentBytes += payload.count + 2
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

    /// Whether the peer may leave a message of `bytes` unread. Small ones always may.
    public func admits(_ bytes: Int) -> Bool { bytes <= 64 * 1024 || connection.stream.reserve(bytes) }

    // MARK: Receiving

    /// Reads no further bytes until ``resumeReading()``. Messages that were already read may still arrive.
    public func pauseReading() { isPaused = true }

    /// Continues after ``pauseReading()``.
    public func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        lastHeard = connection.stream.loop.nowMilliseconds
        if isOpen { connection.processBacklog() }
    }

    // MARK: Connection events

    func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        lastHeard = connection.stream.loop.nowMilliseconds
        hasPinged = false
        do throws(WebSocketFault) {
            try reader.read(bytes) { event, payload in handle(event, payload) }
        } catch {
            if isOpen {
                handler?.webSocket(self, willEndBecauseOf: .violation(error.reason))
                write(Self.closePayload(error.code, "\(error.reason)").span, opcode: 8)
            }
            finish(error.code)
        }
    }

    /// - Returns: whether to continue.
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

    /// Bytes of the incomplete message.
    var unfinishedBytes: Int { reader.unfinishedBytes }

    /// The reason that a peer gets when there is no memory for its message.
    public static let shortage = "too much is being sent at this moment; try again"

    /// No memory is left for the incomplete message.
    func giveUp() {
        if isOpen {
            handler?.webSocket(self, willEndBecauseOf: .shortage)
            write(Self.closePayload(1013, Self.shortage).span, opcode: 8)
        }
        finish(1013)
    }

    func didDrain() {
        // The peer reads; its input was paused meanwhile, so the time of silence starts anew.
        lastHeard = connection.stream.loop.nowMilliseconds
        if isOpen { handler?.webSocketDidDrain(self) }
    }

    /// The closing handshake is complete or impossible: ends the connection.
    private func finish(_ code: UInt16) {
        tellClosed(code)
        connection.beginClosing()
    }

    /// The peer is silent.
    private func giveUpPeer() {
        handler?.webSocket(self, willEndBecauseOf: .silence)
        finish(1006)
    }

    /// Waits for the peer's close frame. While the server ends, it waits for a short time only, and not for the peer's end of the connection.
    private func checkClosing(_ milliseconds: UInt64) {
        guard !connection.server.isEnding else {
            if milliseconds >= HTTPServer.endingPatienceMilliseconds { connection.stream.close() }
            return
        }
        if milliseconds >= limits.closeMilliseconds { finish(1006) }
    }

    func connectionDidEnd() { tellClosed(1006) }

    private func tellClosed(_ code: UInt16) {
        if case .closed = state { return }
        state = .closed
        let handler = handler
        self.handler = nil
        handler?.webSocket(self, didCloseWith: code)
    }

    /// Checks deadlines. Called from time to time by the server.
    func check(_ now: UInt64) {
        switch state {
        case .closing(let since): checkClosing(now - min(now, since))
        case .open where limits.pingMilliseconds == 0:
            checkAcknowledged(now)
            if !isPaused, now - min(now, max(lastHeard, acknowledged.time)) >= limits.silenceMilliseconds { giveUpPeer() }
        case .open:
            let silence = now - min(now, lastHeard)
            if silence >= 2 * limits.pingMilliseconds {
                giveUpPeer()
            } else if silence >= limits.pingMilliseconds, !hasPinged {
                hasPinged = true
                write(Span(), opcode: 9)
            }
        case .closed: break
        }
    }

    /// Asks the kernel, if something was sent, whether the peer has received more. A peer that receives something says nothing meanwhile.
    private func checkAcknowledged(_ now: UInt64) {
        let old = acknowledged
        guard sentBytes != old.sentBytes || old.unsentBytes > 0, now - min(now, old.checked) >= limits.silenceMilliseconds / 24 else { return }
        let unsent = connection.stream.unsentBytes
        // Encryption adds to what is not acknowledged, which then only grows more.
        if sentBytes - unsent > old.sentBytes - old.unsentBytes { acknowledged.time = now }
        acknowledged.checked = now
        acknowledged.sentBytes = sentBytes
        acknowledged.unsentBytes = unsent
    }
}
