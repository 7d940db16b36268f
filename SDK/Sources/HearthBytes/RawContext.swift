/// The raw form of the context of an HTTP call: the head of the request as it was received, and the positions of its parts. The host copies it
/// in one piece; a plugin reads it only where a function asks for a part. `hearth.h` describes the layout (`HEARTH_CONTEXT_RAW`).
///
/// This type is the table of positions. It is read from bytes that may be anything, and every range lies within them.
public struct RawContext: Sendable, Equatable {
    /// A part of the text: its first byte, counted from the beginning of the text, and its size.
    public struct Part: Sendable, Equatable {
        public var offset: UInt32
        public var size: UInt32

        /// A part.
        public init(offset: UInt32, size: UInt32) {
            self.offset = offset
            self.size = size
        }

        /// An absent part.
        public static let none = Part(offset: .max, size: 0)
    }

    /// The place of the call in a trace (W3C Trace Context).
    public struct Trace: Sendable, Equatable {
        public var high: UInt64
        public var low: UInt64
        public var span: UInt64
        public var isSampled: Bool

        /// A place in a trace.
        public init(high: UInt64, low: UInt64, span: UInt64, isSampled: Bool) {
            self.high = high
            self.low = low
            self.span = span
            self.isSampled = isSampled
        }
    }

    public var method = Part.none
    public var path = Part.none
    /// Without "?"; none where the URL has none.
    public var query = Part.none
    /// The address of the client.
    public var peer = Part.none
    public var tracestate = Part.none
    /// JSON members, each after a comma: `auth`, `app` and what else the host has verified; none where there are none.
    public var caller = Part.none
    public var trace: Trace?
    /// The number of header fields.
    public var fieldCount = 0
    /// The number of bytes of the text.
    public var textSize = 0

    /// Bytes before the fields.
    public static let headSize = 88
    /// Bytes of a header field: the positions of its name and of its value.
    public static let fieldSize = 16
    private static let version: UInt32 = 1
    private static let sampled: UInt32 = 2
    private static let traced: UInt32 = 1

    /// A context without parts.
    public init() {}

    // MARK: Writing

    /// Writes the table up to the fields over the ``headSize`` bytes at `start`. Fields and text follow it.
    public func write(to buffer: inout ByteBuffer, at start: Int) {
        buffer.overwrite(littleEndian: Self.version, at: start)
        buffer.overwrite(littleEndian: trace.map { $0.isSampled ? Self.traced | Self.sampled : Self.traced } ?? 0, at: start + 4)
        buffer.overwrite(littleEndian: trace?.high ?? 0, at: start + 8)
        buffer.overwrite(littleEndian: trace?.low ?? 0, at: start + 16)
        buffer.overwrite(littleEndian: trace?.span ?? 0, at: start + 24)
        var place = start + 32
        func add(_ part: Part) {
            buffer.overwrite(littleEndian: UInt64(part.size) << 32 | UInt64(part.offset), at: place)
            place += 8
        }
        add(method)
        add(path)
        add(query)
        add(peer)
        add(tracestate)
        add(caller)
        buffer.overwrite(littleEndian: UInt64(UInt32(textSize)) << 32 | UInt64(UInt32(fieldCount)), at: place)
    }

    // MARK: Reading

    /// Reads the table; nil where the bytes are not a raw context.
    public init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.headSize, bytes.littleEndian(at: 0) == Self.version else { return nil }
        let flags: UInt32 = bytes.littleEndian(at: 4)
        if flags & Self.traced != 0 {
            trace = Trace(
                high: bytes.littleEndian(at: 8), low: bytes.littleEndian(at: 16), span: bytes.littleEndian(at: 24),
                isSampled: flags & Self.sampled != 0)
        }
        let count: UInt32 = bytes.littleEndian(at: 80)
        let size: UInt32 = bytes.littleEndian(at: 84)
        (fieldCount, textSize) = (Int(count), Int(size))
        guard bytes.count == Self.headSize + fieldCount * Self.fieldSize + textSize else { return nil }
        let parts = (0..<6).map { Part(bytes, at: 32 + 8 * $0) }
        guard parts.allSatisfy({ $0 == .none || Int($0.offset) + Int($0.size) <= textSize }) else { return nil }
        (method, path, query) = (parts[0], parts[1], parts[2])
        (peer, tracestate, caller) = (parts[3], parts[4], parts[5])
        for index in 0..<(2 * fieldCount) {
            let part = Part(bytes, at: Self.headSize + 8 * index)
            guard Int(part.offset) + Int(part.size) <= textSize else { return nil }
        }
    }

    /// The positions of a part among all bytes; nil where it is absent.
    public func range(_ part: Part) -> Range<Int>? {
        guard part != .none else { return nil }
        let start = Self.headSize + fieldCount * Self.fieldSize + Int(part.offset)
        return start..<start + Int(part.size)
    }

    /// The positions of the name and the value of a header field among all bytes.
    ///
    /// - Parameters:
    ///   - index: from 0 below ``fieldCount``.
    ///   - bytes: those that the table was read from.
    public func field(_ index: Int, in bytes: Span<UInt8>) -> (name: Range<Int>, value: Range<Int>) {
        precondition(index >= 0 && index < fieldCount)
        let place = Self.headSize + index * Self.fieldSize
        let text = Self.headSize + fieldCount * Self.fieldSize
        func range(_ part: Part) -> Range<Int> { text + Int(part.offset)..<text + Int(part.offset) + Int(part.size) }
        return (range(Part(bytes, at: place)), range(Part(bytes, at: place + 8)))
    }
}

extension RawContext.Part {
    fileprivate init(_ bytes: Span<UInt8>, at offset: Int) {
        self.init(offset: bytes.littleEndian(at: offset), size: bytes.littleEndian(at: offset + 4))
    }
}

extension RawContext.Trace {
    /// As a W3C `traceparent`.
    public var parent: String {
        var buffer = ByteBuffer(capacity: 55)
        buffer.append("00-")
        buffer.append(hexadecimal: high)
        buffer.append(hexadecimal: low)
        buffer.append("-")
        buffer.append(hexadecimal: span)
        buffer.append(isSampled ? "-01" : "-00")
        return buffer.string()
    }
}
