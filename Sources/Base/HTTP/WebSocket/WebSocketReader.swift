import HearthBytes

/// The limits of a WebSocket, and whether it compresses.
public struct WebSocketLimits: Sendable {
    /// The longest message, over all of its fragments and after decompression.
    public var messageBytesMax = 1024 * 1024
    /// The most fragments of a message.
    public var fragmentsMax = 1024
    /// The silence after which the peer is pinged; after twice as long the connection is closed. 0 for peers that must not be pinged.
    public var pingMilliseconds: UInt64 = 30_000
    /// The time after which the connection to such a peer is closed, if nothing was received or sent meanwhile.
    public var silenceMilliseconds: UInt64 = 120_000
    /// The time that the peer has to answer a close frame. At most a second while the server ends.
    public var closeMilliseconds: UInt64 = 5_000
    /// Whether messages are compressed (RFC 7692) if the client offers it. A message is compressed on its own.
    public var allowsCompression = false
    /// The size from which a message is compressed; a shorter one is sent as it is.
    public var compressedBytesMin = 512
    /// Whether the connection gives way to others while the loop has much to read.
    public var givesWay = false

    /// The defaults.
    public init() {}
}

/// A violation of RFC 6455 or RFC 7692 by the peer, with the close code.
struct WebSocketFault: Error, Equatable {
    let code: UInt16
    let reason: StaticString

    static func == (left: WebSocketFault, right: WebSocketFault) -> Bool { left.code == right.code }

    static func violation(_ reason: StaticString) -> WebSocketFault { WebSocketFault(code: 1002, reason: reason) }
    static let badCompression = WebSocketFault(code: 1007, reason: "the message is not compressed as agreed")
    static let badText = WebSocketFault(code: 1007, reason: "a text is not UTF-8")
    static let tooLong = WebSocketFault(code: 1009, reason: "the message is too long")
}

/// Parses the frames of a client (RFC 6455 section 5): unmasks, decompresses, joins fragments, enforces the rules.
///
/// Data arrives in arbitrary pieces. The reader keeps a frame's head, a control frame, and the incomplete message, with its inflater if it is
/// compressed. Between messages it keeps next to nothing.
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
    /// Decompresses messages; nil if the peer may not compress them.
    private let compression: SharedCompression?
    private var head = InlineArray<14, UInt8>(repeating: 0)
    private var headCount = 0
    private var opcode = Opcode.continuation
    private var isFinal = false
    private var remaining = 0
    private var mask = FrameMask(0, 0, 0, 0)
    private var control: [UInt8] = []
    private var message = ByteBuffer()
    /// The type of the incomplete message; nil between messages.
    private var messageKind: Opcode?
    private var fragmentCount = 0
    /// The inflater of the incomplete message; nil if it is not compressed.
    private var inflater: Inflater?
    /// The bytes of the incomplete message that have been announced, as they were sent.
    private var sentBytes = 0
    private var text = UTF8Check()

    /// The most memory that is kept between messages.
    private static let keptBytesMax = 4096

    init(limits: WebSocketLimits, compression: SharedCompression? = nil) {
        self.limits = limits
        self.compression = compression
    }

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
                head[headCount] = bytes[position]
                headCount += 1
                position += 1
                // Refuse at once: such a client does not send the rest of the head.
                guard headCount != 2 || head[1] & 0x80 != 0 else { throw .violation("a client's frame is not masked") }
                if headCount >= 2, headCount == headLength { try beginFrame() }
            case .payload:
                let count = min(remaining, bytes.count - position)
                try append(UnsafeBufferPointer(rebasing: bytes[position..<position + count]))
                position += count
                remaining -= count
                guard remaining == 0 else { return }
                state = .head
                guard try endFrame(handle) else { return }
            }
        }
    }

    /// Bytes of the incomplete message, with the memory for its decompression.
    var unfinishedBytes: Int { message.count + (inflater == nil ? 0 : Inflater.stateBytes) }

    private var headLength: Int {
        let length = head[1] & 0x7F
        return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + 4
    }

    private mutating func beginFrame() throws(WebSocketFault) {
        guard head[0] & 0x30 == 0 else { throw .violation("a reserved bit is set") }
        guard let opcode = Opcode(rawValue: head[0] & 0x0F) else { throw .violation("unknown opcode") }
        let isCompressed = head[0] & 0x40 != 0
        // Only the first frame of a message says that it is compressed (RFC 7692 section 6).
        guard !isCompressed || compression != nil && (opcode == .text || opcode == .binary) else { throw .violation("a reserved bit is set") }
        self.opcode = opcode
        isFinal = head[0] & 0x80 != 0
        let length = try payloadLength()
        if opcode.isControl {
            guard isFinal, length <= 125 else { throw .violation("a control frame is fragmented or too long") }
            control.removeAll(keepingCapacity: true)
        } else {
            try beginFragment(length, isCompressed: isCompressed)
        }
        remaining = Int(length)
        mask = FrameMask(head[headCount - 4], head[headCount - 3], head[headCount - 2], head[headCount - 1])
        headCount = 0
        state = .payload
    }

    private func payloadLength() throws(WebSocketFault) -> UInt64 {
        let short = UInt64(head[1] & 0x7F)
        guard short >= 126 else { return short }
        var length: UInt64 = 0
        for index in 2..<headCount - 4 { length = length << 8 | UInt64(head[index]) }
        guard length >= (short == 126 ? 126 : 65_536), length <= UInt64(Int64.max) else {
            throw .violation("a length is not encoded in the shortest form")
        }
        return length
    }

    private mutating func beginFragment(_ length: UInt64, isCompressed: Bool) throws(WebSocketFault) {
        if opcode == .continuation {
            guard messageKind != nil else { throw .violation("a continuation frame without a message") }
            fragmentCount += 1
        } else {
            guard messageKind == nil else { throw .violation("a message begins inside another one") }
            messageKind = opcode
            fragmentCount = 1
            sentBytes = 0
            text = UTF8Check()
            if isCompressed { inflater = compression?.takeInflater() }
        }
        // Data that does not shrink grows a little; the decompressed size is checked as it arrives.
        let bytesMax = inflater == nil ? limits.messageBytesMax : 2 * limits.messageBytesMax + 1024
        guard length <= UInt64(bytesMax - sentBytes), fragmentCount <= limits.fragmentsMax else { throw .tooLong }
        sentBytes += Int(length)
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebSocketFault) {
        guard !bytes.isEmpty else { return }
        if opcode.isControl {
            let start = control.count
            control.append(contentsOf: bytes)
            control.withUnsafeMutableBytes { control in
                if let base = control.baseAddress { mask.apply(to: bytes, into: base + start) }
            }
        } else if let inflater, let compression {
            try inflate(bytes, inflater, compression.room)
        } else {
            message.appendUninitialized(minimum: bytes.count) { room in
                if let base = room.baseAddress { mask.apply(to: bytes, into: base) }
                return bytes.count
            }
            guard messageKind != .text || isValidText(last: bytes.count) else { throw .badText }
        }
    }

    /// Checks the last bytes of the message.
    private mutating func isValidText(last count: Int) -> Bool {
        message.withUnsafeBytes { text.take(UnsafeRawBufferPointer(rebasing: $0.suffix(count))) }
    }

    /// - Parameter room: for the unmasked bytes.
    private mutating func inflate(
        _ bytes: UnsafeBufferPointer<UInt8>, _ inflater: Inflater, _ room: UnsafeMutableBufferPointer<UInt8>
    ) throws(WebSocketFault) {
        guard let base = room.baseAddress else { return }
        var start = 0
        while start < bytes.count {
            let piece = UnsafeBufferPointer(rebasing: bytes[start..<min(bytes.count, start + room.count)])
            mask.apply(to: piece, into: base)
            try check(inflater.inflate(UnsafeBufferPointer(start: base, count: piece.count)) { takeInflated($0) })
            start += piece.count
        }
    }

    /// Takes what fits before it refuses the rest, so that the first violation counts, however the data was cut.
    private mutating func takeInflated(_ bytes: UnsafeBufferPointer<UInt8>) -> WebSocketFault? {
        let count = min(bytes.count, limits.messageBytesMax - message.count)
        message.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).prefix(count)))
        guard messageKind != .text || isValidText(last: count) else { return .badText }
        return count == bytes.count ? nil : .tooLong
    }

    private func check(_ outcome: Inflation<WebSocketFault>) throws(WebSocketFault) {
        switch outcome {
        case .taken: break
        case .invalid: throw .badCompression
        case .refused(let fault): throw fault
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
            if let inflater {
                // Some senders leave out the only byte of an empty message.
                if sentBytes > 0 { try check(inflater.endMessage { takeInflated($0) }) }
                compression?.giveBack(inflater)
                self.inflater = nil
            }
            messageKind = nil
            defer { message.clear(keepingAtMost: Self.keptBytesMax) }
            guard kind == .text else { return handle(.binary, message.bytes) }
            guard text.isComplete else { throw .badText }
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
        var reason = UTF8Check()
        guard control.withUnsafeBytes({ reason.take(UnsafeRawBufferPointer(rebasing: $0[2...])) }), reason.isComplete else { throw .badText }
        return code
    }
}
