import HearthBytes

/// The limits of a WebSocket.
public struct WebSocketLimits: Sendable {
    /// The longest message, over all of its fragments.
    public var messageBytesMax = 1024 * 1024
    /// The most fragments of a message.
    public var fragmentsMax = 1024
    /// The silence after which the peer is pinged; after twice as long the connection is closed. 0 for peers that must not be pinged.
    public var pingMilliseconds: UInt64 = 30_000
    /// The time after which the connection to such a peer is closed, if nothing was received or sent meanwhile.
    public var silenceMilliseconds: UInt64 = 120_000
    /// The time that the peer has to answer a close frame.
    public var closeMilliseconds: UInt64 = 5_000

    /// The defaults.
    public init() {}
}

/// A violation of RFC 6455 by the peer, with the close code.
struct WebSocketFault: Error, Equatable {
    let code: UInt16
    let reason: StaticString

    static func == (left: WebSocketFault, right: WebSocketFault) -> Bool { left.code == right.code }

    static func violation(_ reason: StaticString) -> WebSocketFault { WebSocketFault(code: 1002, reason: reason) }
    static let badText = WebSocketFault(code: 1007, reason: "a text is not UTF-8")
    static let tooLong = WebSocketFault(code: 1009, reason: "the message is too long")
}

/// Parses the frames of a client (RFC 6455 section 5): unmasks, joins fragments, enforces the rules.
///
/// Data arrives in arbitrary pieces. The reader keeps a frame's head, a control frame, and the incomplete message.
struct WebSocketReader: ~Copyable {
    /// A received message or control frame. Its bytes are valid only during the call.
    enum Event {
        case text
        case binary
        case ping
        case pong
        /// Code 1005 where the peer gave none.
        case close(UInt16)
    }

    private enum State {
        case head
        case payload
    }

    private enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    private let limits: WebSocketLimits
    private var state = State.head
    /// The head of a frame, at most 14 bytes.
    private var head: [UInt8] = []
    private var opcode = Opcode.continuation
    private var isFinal = false
    private var remaining = 0
    private var mask: [UInt8] = [0, 0, 0, 0]
    private var maskIndex = 0
    private var control: [UInt8] = []
    private var message = ByteBuffer()
    /// The type of the incomplete message; nil between messages.
    private var messageKind: Opcode?
    private var fragmentCount = 0

    init(limits: WebSocketLimits) { self.limits = limits }

    /// Reads data, and reports each message and control frame that it completes.
    ///
    /// - Parameter handle: returns whether to continue; data after a close is ignored.
    mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>, _ handle: (Event, Span<UInt8>) -> Bool
    ) throws(WebSocketFault) {
        var position = 0
        while position < bytes.count || state == .payload && remaining == 0 {
            switch state {
            case .head:
                head.append(bytes[position])
                position += 1
                // Refuse at once: such a client does not send the rest of the head.
                guard head.count != 2 || head[1] & 0x80 != 0 else { throw .violation("a client's frame is not masked") }
                if head.count >= 2, head.count == headLength { try beginFrame() }
            case .payload:
                let count = min(remaining, bytes.count - position)
                append(UnsafeBufferPointer(rebasing: bytes[position..<position + count]))
                position += count
                remaining -= count
                guard remaining == 0 else { return }
                state = .head
                guard try endFrame(handle) else { return }
            }
        }
    }

    /// Bytes of the incomplete message.
    var unfinishedBytes: Int { message.count }

    private var headLength: Int {
        let length = head[1] & 0x7F
        return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + 4
    }

    private mutating func beginFrame() throws(WebSocketFault) {
        guard head[0] & 0x70 == 0 else { throw .violation("a reserved bit is set") }
        guard let opcode = Opcode(rawValue: head[0] & 0x0F) else { throw .violation("unknown opcode") }
        self.opcode = opcode
        isFinal = head[0] & 0x80 != 0
        let length = try payloadLength()
        if opcode.isControl {
            guard isFinal, length <= 125 else { throw .violation("a control frame is fragmented or too long") }
            control.removeAll(keepingCapacity: true)
        } else {
            try beginFragment(length)
        }
        remaining = Int(length)
        mask = Array(head.suffix(4))
        maskIndex = 0
        head.removeAll(keepingCapacity: true)
        state = .payload
    }

    private func payloadLength() throws(WebSocketFault) -> UInt64 {
        let short = UInt64(head[1] & 0x7F)
        guard short >= 126 else { return short }
        let length = head[2..<head.count - 4].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length >= (short == 126 ? 126 : 65_536), length <= UInt64(Int64.max) else {
            throw .violation("a length is not encoded in the shortest form")
        }
        return length
    }

    private mutating func beginFragment(_ length: UInt64) throws(WebSocketFault) {
        if opcode == .continuation {
            guard messageKind != nil else { throw .violation("a continuation frame without a message") }
            fragmentCount += 1
        } else {
            guard messageKind == nil else { throw .violation("a message begins inside another one") }
            messageKind = opcode
            fragmentCount = 1
        }
        guard length <= UInt64(limits.messageBytesMax - message.count), fragmentCount <= limits.fragmentsMax else { throw .tooLong }
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard !bytes.isEmpty else { return }
        let (mask, start) = (self.mask, maskIndex)
        maskIndex = (start + bytes.count) & 3
        if opcode.isControl {
            for (index, byte) in bytes.enumerated() { control.append(byte ^ mask[(start + index) & 3]) }
            return
        }
        mask.withUnsafeBufferPointer { mask in
            message.appendUninitialized(minimum: bytes.count) { room in
                for index in 0..<bytes.count { room[index] = bytes[index] ^ mask[(start + index) & 3] }
                return bytes.count
            }
        }
    }

    /// - Returns: whether to continue.
    private mutating func endFrame(_ handle: (Event, Span<UInt8>) -> Bool) throws(WebSocketFault) -> Bool {
        switch opcode {
        case .ping: return handle(.ping, control.span)
        case .pong: return handle(.pong, control.span)
        case .close:
            let code = try closeCode()
            _ = handle(.close(code), control.span)
            return false
        case .continuation, .text, .binary:
            guard isFinal, let kind = messageKind else { return true }
            messageKind = nil
            defer { message.clear(keepingAtMost: 64 * 1024) }
            if kind == .binary { return handle(.binary, message.bytes) }
            guard message.withUnsafeBytes({ String(validating: $0, as: UTF8.self) != nil }) else { throw .badText }
            return handle(.text, message.bytes)
        }
    }

    private func closeCode() throws(WebSocketFault) -> UInt16 {
        guard !control.isEmpty else { return 1005 }
        guard control.count >= 2 else { throw .violation("a close frame has half a code") }
        let code = UInt16(control[0]) << 8 | UInt16(control[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw .violation("a close frame has a code that may not be sent")
        }
        guard String(validating: control[2...], as: UTF8.self) != nil else { throw .badText }
        return code
    }
}
