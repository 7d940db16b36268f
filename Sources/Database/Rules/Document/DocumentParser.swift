import HearthBytes
import HearthJSON

/// Parses a rules document: JSON with comments wherever white space is allowed, newlines in strings, and trailing commas. The hosted
/// service accepts the same.
struct DocumentParser {
    private let source: SourceLines
    private let depthMax: Int
    private var position = 0
    private var depth = 0

    /// Parses the whole of `source` as one value.
    static func parse(_ source: SourceLines, depthMax: Int) throws(RulesError) -> DocumentValue {
        var parser = DocumentParser(source: source, depthMax: depthMax)
        if let offset = source.firstInvalidOffset { throw parser.failure(at: offset) }
        if source.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = try parser.value()
        try parser.skipTrivia()
        guard parser.position == source.bytes.count else { throw parser.failure() }
        return value
    }

    private init(source: SourceLines, depthMax: Int) {
        self.source = source
        self.depthMax = depthMax
    }

    private func failure(at offset: Int? = nil) -> RulesError { .notJSON(at: offset ?? position, in: source) }

    /// The byte at the position; 0 at the end, which no rule accepts.
    private var byte: UInt8 { position < source.bytes.count ? source.bytes[position] : 0 }

    private mutating func skipTrivia() throws(RulesError) {
        let bytes = source.bytes
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            case UInt8(ascii: "/"): try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(RulesError) {
        let bytes = source.bytes
        let start = position
        let second = start + 1 < bytes.count ? bytes[start + 1] : 0
        if second == UInt8(ascii: "/") {
            while position < bytes.count, bytes[position] != 0x0A { position += 1 }
        } else if second == UInt8(ascii: "*") {
            position += 2
            while position + 1 < bytes.count {
                if bytes[position] == UInt8(ascii: "*"), bytes[position + 1] == UInt8(ascii: "/") {
                    position += 2
                    return
                }
                position += 1
            }
            throw failure(at: start)
        } else {
            throw failure()
        }
    }

    private mutating func value() throws(RulesError) -> DocumentValue {
        try skipTrivia()
        let start = position
        let content: DocumentValue.Content
        switch byte {
        case UInt8(ascii: "{"): content = .object(try nested(Self.members))
        case UInt8(ascii: "["): content = .array(try nested(Self.elements))
        case UInt8(ascii: "\""): content = .string(try string())
        case UInt8(ascii: "t"): content = try word("true", .boolean(true))
        case UInt8(ascii: "f"): content = try word("false", .boolean(false))
        case UInt8(ascii: "n"): content = try word("null", .null)
        default: content = try number()
        }
        return DocumentValue(content: content, offset: start)
    }

    private mutating func nested<R>(_ body: (inout DocumentParser) throws(RulesError) -> R) throws(RulesError) -> R {
        guard depth < depthMax else { throw RulesError("Rules are nested too deeply.", at: position, in: source) }
        depth += 1
        position += 1
        let result = try body(&self)
        position += 1
        depth -= 1
        return result
    }

    private static func members(_ parser: inout DocumentParser) throws(RulesError) -> [DocumentValue.Member] {
        var members: [DocumentValue.Member] = []
        try parser.skipTrivia()
        if parser.byte == UInt8(ascii: "}") { return members }
        while true {
            guard parser.byte == UInt8(ascii: "\"") else { throw parser.failure() }
            let key = try parser.string()
            try parser.skipTrivia()
            guard parser.byte == UInt8(ascii: ":") else { throw parser.failure() }
            parser.position += 1
            members.append(DocumentValue.Member(key: key, value: try parser.value()))
            if try !parser.comma(orEnd: UInt8(ascii: "}")) { return members }
        }
    }

    private static func elements(_ parser: inout DocumentParser) throws(RulesError) -> [DocumentValue] {
        var elements: [DocumentValue] = []
        try parser.skipTrivia()
        if parser.byte == UInt8(ascii: "]") { return elements }
        while true {
            elements.append(try parser.value())
            if try !parser.comma(orEnd: UInt8(ascii: "]")) { return elements }
        }
    }

    /// Skips a comma and white space before the next member; false before the closing bracket, also after a trailing comma.
    private mutating func comma(orEnd end: UInt8) throws(RulesError) -> Bool {
        try skipTrivia()
        if byte == end { return false }
        guard byte == UInt8(ascii: ",") else { throw failure() }
        position += 1
        try skipTrivia()
        return byte != end
    }

    private mutating func word(_ text: StaticString, _ content: DocumentValue.Content) throws(RulesError) -> DocumentValue.Content {
        for index in 0..<text.utf8CodeUnitCount {
            guard byte == text.utf8Start[index] else { throw failure() }
            position += 1
        }
        return content
    }

    private mutating func number() throws(RulesError) -> DocumentValue.Content {
        let start = position
        let rest = source.bytes[start...].prefix { isNumeric($0) }
        guard !rest.isEmpty, (try? JSONValue(parsing: Array(rest))) != nil else { throw failure() }
        position += rest.count
        return .number
    }

    private func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func string() throws(RulesError) -> RuleText {
        var strings = StringReader(source: source, position: position)
        let text = try strings.read()
        position = strings.position
        return text
    }
}
