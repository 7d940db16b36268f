/// Parses JSON (RFC 8259) and keeps the position of every value.
///
/// Common mistakes (comments, trailing commas, duplicate keys) are reported and skipped, so that one run shows all of them. Other syntax
/// errors end the parsing, since the rest would be guesswork.
struct LocatedParser {
    static let depthMax = 100
    static let sizeBytesMax = 1024 * 1024

    private let text: SourceText
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0
    private(set) var problems: [Problem] = []

    /// Thrown after a problem has been recorded.
    private struct Halt: Error {}

    /// The document, or nil after a syntax error; with all problems.
    static func parse(_ text: SourceText) -> (value: LocatedValue?, problems: [Problem]) {
        guard text.bytes.count <= sizeBytesMax else {
            let message = "the file has \(text.bytes.count) bytes; at most \(sizeBytesMax) are read"
            return (nil, [Problem(file: text.file, message: message)])
        }
        if let offset = text.firstInvalidOffset {
            return (nil, [text.problem(at: offset, "expected text in UTF-8, found the byte \(text.bytes[offset])")])
        }
        var parser = LocatedParser(text: text)
        let value = try? parser.document()
        return (value, parser.problems)
    }

    private init(text: SourceText) {
        self.text = text
        bytes = text.bytes
    }

    private mutating func document() throws(Halt) -> LocatedValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        try skipBlanks()
        guard index < bytes.count else { throw halt("expected a JSON document, found an empty file") }
        let value = try value()
        try skipBlanks()
        guard index == bytes.count else { throw halt("expected the end of the file after the document, found \(found())") }
        return value
    }

    private mutating func value() throws(Halt) -> LocatedValue {
        let start = index
        guard index < bytes.count else { throw halt("expected a value, found the end of the file") }
        switch bytes[index] {
        case UInt8(ascii: "{"): return try nested { parser throws(Halt) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(Halt) in try parser.array() }
        case UInt8(ascii: "\""): return LocatedValue(content: .string(try string()), offset: start)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: return try literal()
        }
    }

    private mutating func nested(_ body: (inout LocatedParser) throws(Halt) -> LocatedValue) throws(Halt) -> LocatedValue {
        depth += 1
        guard depth <= Self.depthMax else { throw halt("lists and objects are nested more than \(Self.depthMax) deep") }
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func object() throws(Halt) -> LocatedValue {
        let start = index
        var members: [LocatedMember] = []
        var places: [String: Int] = [:]
        index += 1
        try skipBlanks()
        while peek() != UInt8(ascii: "}") {
            guard peek() == UInt8(ascii: "\"") else { throw halt(keyExpected(start)) }
            let keyOffset = index
            let key = try string()
            if let first = places.updateValue(keyOffset, forKey: key), problems.count < SchemaValidator.problemsMax {
                let line = text.position(at: first).line
                note(at: keyOffset, "the key \(key.quoted) occurs twice in this object, before in line \(line)")
            }
            try skipBlanks()
            guard peek() == UInt8(ascii: ":") else { throw halt("expected a colon after the key \(key.quoted), found \(found())") }
            index += 1
            try skipBlanks()
            members.append(LocatedMember(key: key, keyOffset: keyOffset, value: try value()))
            try separator(closing: UInt8(ascii: "}"), start: start, what: "object")
        }
        index += 1
        return LocatedValue(content: .object(members), offset: start)
    }

    private func keyExpected(_ start: Int) -> String {
        if index >= bytes.count { return unfinished("object", start) }
        return "expected a key in double quotes, found \(found())"
    }

    private mutating func array() throws(Halt) -> LocatedValue {
        let start = index
        var elements: [LocatedValue] = []
        index += 1
        try skipBlanks()
        while peek() != UInt8(ascii: "]") {
            if index >= bytes.count { throw halt(unfinished("list", start)) }
            elements.append(try value())
            try separator(closing: UInt8(ascii: "]"), start: start, what: "list")
        }
        index += 1
        return LocatedValue(content: .array(elements), offset: start)
    }

    /// Parses the separator after an element: a comma and another element, or the end.
    private mutating func separator(closing: UInt8, start: Int, what: String) throws(Halt) {
        try skipBlanks()
        if peek() == closing { return }
        if index >= bytes.count { throw halt(unfinished(what, start)) }
        guard peek() == UInt8(ascii: ",") else {
            throw halt("expected a comma or the end of the \(what), found \(found())")
        }
        let comma = index
        index += 1
        try skipBlanks()
        if peek() == closing, problems.count < SchemaValidator.problemsMax {
            note(at: comma, "a comma before the end of the \(what) is not allowed in JSON")
        }
    }

    private func unfinished(_ what: String, _ start: Int) -> String {
        "the file ends inside the \(what) that starts in line \(text.position(at: start).line)"
    }

    private mutating func literal() throws(Halt) -> LocatedValue {
        let start = index
        let word = wordAhead()
        let content: LocatedValue.Content
        switch word {
        case "null": content = .null
        case "true": content = .bool(true)
        case "false": content = .bool(false)
        default: throw halt(literalExpected(word))
        }
        index += word.utf8.count
        return LocatedValue(content: content, offset: start)
    }

    private func literalExpected(_ word: String) -> String {
        switch word.lowercased() {
        case "true", "false", "null": return "expected a value, found \(word); JSON writes \(word.lowercased())"
        case "none", "nil", "undefined": return "expected a value, found \(word); JSON writes null"
        default: break
        }
        if peek() == UInt8(ascii: "'") { return "expected a value, found a single quote; text needs double quotes" }
        return "expected a value, found \(found())"
    }

    private mutating func number() throws(Halt) -> LocatedValue {
        let start = index
        var isWhole = true
        if peek() == UInt8(ascii: "-") { index += 1 }
        let firstDigit = index
        let digits = skipDigits()
        if digits == 0 { throw halt("expected a digit after the minus sign, found \(found())") }
        if digits > 1 && bytes[firstDigit] == UInt8(ascii: "0") {
            index = firstDigit
            throw halt("a number may not begin with a zero")
        }
        if peek() == UInt8(ascii: ".") {
            isWhole = false
            index += 1
            if skipDigits() == 0 { throw halt("expected a digit after the decimal point, found \(found())") }
        }
        if peek().map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            isWhole = false
            index += 1
            if peek() == UInt8(ascii: "-") || peek() == UInt8(ascii: "+") { index += 1 }
            if skipDigits() == 0 { throw halt("expected a digit in the exponent, found \(found())") }
        }
        let literal = String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let value = Int(literal) { return LocatedValue(content: .integer(value), offset: start) }
        guard let value = Double(literal), value.isFinite else {
            index = start
            throw halt("the number \(literal.prefix(40)) is too large")
        }
        return LocatedValue(content: .number(value), offset: start)
    }

    private mutating func skipDigits() -> Int {
        let start = index
        while let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
        return index - start
    }

    private mutating func string() throws(Halt) -> String {
        let start = index
        index += 1
        var decoded: [UInt8] = []
        while true {
            guard let byte = peek(), byte != UInt8(ascii: "\n") else {
                index = start
                throw halt("the text that begins here has no closing quote in its line")
            }
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return String(decoding: decoded, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try escape(into: &decoded)
            case 0..<0x20:
                throw halt("a control character in text is written as an escape such as \\t")
            default:
                decoded.append(byte)
                index += 1
            }
        }
    }

    private mutating func escape(into decoded: inout [UInt8]) throws(Halt) {
        let start = index
        index += 1
        let plain: UInt8
        switch peek() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = bytes[index]
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0C
        case UInt8(ascii: "n"): plain = 0x0A
        case UInt8(ascii: "r"): plain = 0x0D
        case UInt8(ascii: "t"): plain = 0x09
        case UInt8(ascii: "u"):
            index += 1
            decoded.append(contentsOf: Array(String(Character(try scalar(start))).utf8))
            return
        default:
            index = start
            throw halt("an escape in text is one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")
        }
        decoded.append(plain)
        index += 1
    }

    /// The scalar of `\uXXXX`, or of a surrogate pair of two such escapes.
    private mutating func scalar(_ start: Int) throws(Halt) -> Unicode.Scalar {
        let high = try hexadecimal(start)
        if let scalar = Unicode.Scalar(high) { return scalar }
        if high < 0xDC00, bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
            index += 2
            let low = try hexadecimal(start)
            let combined = 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF)
            if (0xDC00..<0xE000).contains(low), let scalar = Unicode.Scalar(combined) { return scalar }
        }
        index = start
        throw halt("half of a surrogate pair is not a character")
    }

    private mutating func hexadecimal(_ start: Int) throws(Halt) -> UInt32 {
        let digits = bytes[index...].prefix(4)
        let isHexadecimal = digits.count == 4 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard isHexadecimal, let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
            index = start
            throw halt("\\u is followed by four hexadecimal digits")
        }
        index += 4
        return value
    }

    private mutating func skipBlanks() throws(Halt) {
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): index += 1
            case UInt8(ascii: "/"), UInt8(ascii: "#"): try comment(byte)
            default: return
            }
        }
    }

    private mutating func comment(_ mark: UInt8) throws(Halt) {
        let start = index
        let second = index + 1 < bytes.count ? bytes[index + 1] : 0
        let isBlock = mark == UInt8(ascii: "/") && second == UInt8(ascii: "*")
        guard isBlock || mark == UInt8(ascii: "#") || second == UInt8(ascii: "/") else { throw halt("expected a value, found \(found())") }
        if problems.count < SchemaValidator.problemsMax { note(at: start, "comments are not allowed in JSON") }
        index += 1
        if isBlock {
            index += 1
            while index < bytes.count, !bytes[index...].starts(with: [UInt8(ascii: "*"), UInt8(ascii: "/")]) { index += 1 }
            index = min(index + 2, bytes.count)
        } else {
            while let byte = peek(), byte != UInt8(ascii: "\n") { index += 1 }
        }
    }

    private func peek() -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private func wordAhead() -> String {
        String(decoding: bytes[index...].prefix { byte in Character(Unicode.Scalar(byte)).isLetter && byte < 0x80 }, as: UTF8.self)
    }

    /// The token at the index, for messages.
    private func found() -> String {
        guard index < bytes.count else { return "the end of the file" }
        let word = wordAhead()
        if !word.isEmpty { return String(word.prefix(40)) }
        let character = String(decoding: bytes[index...].prefix(4), as: UTF8.self).first.map(String.init) ?? ""
        return character == "\"" ? "a text" : character.quoted
    }

    private mutating func note(at offset: Int, _ message: String) {
        problems.append(text.problem(at: offset, message))
    }

    private mutating func halt(_ message: String) -> Halt {
        note(at: index, message)
        return Halt()
    }
}
