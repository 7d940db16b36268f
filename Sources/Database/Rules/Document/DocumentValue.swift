import HearthBytes
import HearthJSON

/// A value of a rules document and where it stands.
struct DocumentValue: Sendable {
    enum Content: Sendable {
        case object([Member])
        case array([DocumentValue])
        case string(RuleText)
        /// A number is refused wherever it stands, so that it stays text.
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
