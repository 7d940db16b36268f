/// Why a text is not JSON as RFC 8259 has it, and where.
public struct JSONError: Error, Sendable, Hashable {
    /// The rule that was broken.
    public enum Kind: UInt8, Sendable, Hashable {
        /// The text ends inside a value, or is empty.
        case unexpectedEnd
        /// A byte that cannot stand where it stands.
        case unexpectedByte
        /// Something other than white space follows the value.
        case trailingBytes
        /// A number the grammar does not know: a leading zero or plus, a bare point, an exponent without digits.
        case invalidNumber
        /// A number whose magnitude no `Double` holds, such as `1e400`.
        case numberOutOfRange
        /// A backslash followed by something other than the nine escapes.
        case invalidEscape
        /// A byte below U+0020 inside a string.
        case controlCharacter
        /// Bytes that are not UTF-8.
        case invalidUTF8
        /// More arrays and objects are open than `JSONLimits.depthMax`.
        case tooDeep
        /// The text is 4 GiB or longer.
        case tooLong
    }

    /// The rule that was broken.
    public var kind: Kind
    /// The position of the first offending byte, from 0; the length of the text when it ended too early.
    public var offset: Int

    /// An error at the byte `offset`, from 0.
    public init(kind: Kind, offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// One sentence without the place.
    public var message: String {
        switch kind {
        case .unexpectedEnd: "The text ends before the value is complete."
        case .unexpectedByte: "Unexpected character."
        case .trailingBytes: "There is more text after the value."
        case .invalidNumber: "Not a valid number."
        case .numberOutOfRange: "The number is out of range."
        case .invalidEscape: "Unknown escape sequence in a string."
        case .controlCharacter: "A control character in a string must be escaped."
        case .invalidUTF8: "The bytes are not UTF-8."
        case .tooDeep: "The nesting is too deep."
        case .tooLong: "The text is too long."
        }
    }

    /// Line and column of the offending byte in `text`, both from 1; columns count characters (Unicode scalars).
    public func location(in text: Span<UInt8>) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        for index in 0..<min(offset, text.count) {
            let byte = text[index]
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }

    /// The place, the reason, and the character at the place: `line 1, column 9: unexpected character '}'`.
    public func explanation(in text: Span<UInt8>) -> String {
        let (line, column) = location(in: text)
        let sentence = message.dropLast()
        let phrase = "line \(line), column \(column): \(sentence.prefix(1).lowercased())\(sentence.dropFirst())"
        guard kind == .unexpectedByte || kind == .trailingBytes, offset < text.count else { return phrase }
        let rest = text.extracting(offset..<min(offset + 4, text.count)).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        guard let first = rest.unicodeScalars.first, first.value >= 32, first.value != 127, first != "\u{FFFD}" else { return phrase }
        return kind == .trailingBytes ? "\(phrase), from '\(first)' on" : "\(phrase) '\(first)'"
    }
}

extension JSONError: CustomStringConvertible {
    public var description: String { "\(message) (at byte \(offset))" }
}
