/// Parses a quoted string inside an expression, with the escapes of JavaScript.
struct StringLiteral {
    private let text: [UInt8]
    private(set) var position: Int
    private let start: Int
    private var bytes: [UInt8] = []

    /// `position` is the offset of the opening quote.
    init(text: [UInt8], position: Int) {
        self.text = text
        self.position = position
        self.start = position
    }

    mutating func read() throws(ExpressionError) -> String {
        let quote = text[position]
        position += 1
        while position < text.count, text[position] != 0x0A {
            let byte = text[position]
            position += 1
            if byte == quote { return String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                try escape()
            } else {
                bytes.append(byte)
            }
        }
        throw ExpressionError("unterminated string literal", at: start)
    }

    private mutating func escape() throws(ExpressionError) {
        guard position < text.count else { throw ExpressionError("unterminated string literal", at: start) }
        let letter = text[position]
        position += 1
        switch letter {
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "v"): bytes.append(0x0B)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "0"): bytes.append(0x00)
        // A newline after a backslash continues the string on the next line.
        case 0x0A: break
        case UInt8(ascii: "x"): append(Unicode.Scalar(UInt8(truncatingIfNeeded: try unit(digits: 2))))
        case UInt8(ascii: "u"): append(try scalar())
        default: bytes.append(letter)
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) { bytes.append(contentsOf: Array(String(Character(scalar)).utf8)) }

    /// The scalar of a `\u` escape or of a surrogate pair; an unpaired surrogate becomes U+FFFD.
    private mutating func scalar() throws(ExpressionError) -> Unicode.Scalar {
        let first = try unit(digits: 4)
        if let scalar = Unicode.Scalar(first) { return scalar }
        let isFollowed = position + 1 < text.count && text[position] == UInt8(ascii: "\\") && text[position + 1] == UInt8(ascii: "u")
        guard UTF16.isLeadSurrogate(first), isFollowed else { return "\u{FFFD}" }
        let before = position
        position += 2
        let second = try unit(digits: 4)
        guard UTF16.isTrailSurrogate(second) else {
            position = before
            return "\u{FFFD}"
        }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func unit(digits: Int) throws(ExpressionError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<digits {
            guard position < text.count, let digit = HexDigit.value(of: text[position]) else {
                throw ExpressionError("invalid escape in string literal", at: position)
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }
}

enum HexDigit {
    static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
