import HearthBytes
import HearthJSON

/// A value of a rules document with its position.
struct DocumentValue: Sendable {
    enum Content: Sendable {
        case object([Member])
        case array([DocumentValue])
        case string(RuleText)
        /// Numbers are refused everywhere, so they are not parsed.
        case number
        case boolean(Bool)
        case null
    }

    struct Member: Sendable {
        var key: RuleText
        var value: DocumentValue
    }

    var content: Content
    var offset: Int
}

extension DocumentValue {
    /// Appends the value as compact JSON, without comments and raw newlines.
    func write(to buffer: inout ByteBuffer) {
        switch content {
        case .object(let members):
            buffer.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { buffer.append(UInt8(ascii: ",")) }
                Self.write(member.key, to: &buffer)
                buffer.append(UInt8(ascii: ":"))
                member.value.write(to: &buffer)
            }
            buffer.append(UInt8(ascii: "}"))
        case .array(let elements):
            buffer.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { buffer.append(UInt8(ascii: ",")) }
                element.write(to: &buffer)
            }
            buffer.append(UInt8(ascii: "]"))
        case .string(let text): Self.write(text, to: &buffer)
        case .number, .null: buffer.append("null")
        case .boolean(let value): buffer.append(value ? "true" : "false")
        }
    }

    private static func write(_ text: RuleText, to buffer: inout ByteBuffer) {
        JSONValue.string(text.string).write(to: &buffer)
    }
}

/// The text of a string in a rules document, with escapes resolved, and the offset of each byte in the document.
struct RuleText: Sendable {
    let bytes: [UInt8]
    /// The offset of the string's opening quote.
    let start: Int
    /// The offset of each byte; empty for a string without escapes, whose bytes are contiguous.
    private let offsets: [UInt32]

    init(bytes: [UInt8], start: Int, offsets: [UInt32] = []) {
        self.bytes = bytes
        self.start = start
        self.offsets = offsets
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// The offset in the document of the byte at `index`.
    func offset(of index: Int) -> Int {
        if offsets.isEmpty { return start + 1 + index }
        if index < offsets.count { return Int(offsets[index]) }
        return (offsets.last.map(Int.init) ?? start) + 1
    }

    /// Part of the text, for messages.
    func excerpt(_ range: Range<Int>) -> String { String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self) }
}
