public import HearthJSON

/// JSON as people type it: keys without quotes, single quotes, commas before an end, `undefined`. All JSON is such a text, too.
public struct RelaxedJSON {
    private let bytes: [UInt8]
    private var position = 0

    /// Deeper values are refused.
    private static let depthMax = 200

    /// Begins to read a text.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The value of a whole text.
    ///
    /// - Throws: `RelaxedJSONError` where it is none, or something follows it.
    public static func value(of text: String) throws(RelaxedJSONError) -> JSONValue {
        var reader = RelaxedJSON(text)
        let value = try reader.value()
        guard reader.isAtEnd else { throw reader.error("unexpected text after the end") }
        return value
    }

    /// Whether nothing but blanks follows.
    public var isAtEnd: Bool {
        mutating get {
            skipBlanks()
            return position == bytes.count
        }
    }

    /// Passes over this character where it is the next one that is not blank.
    public mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// The same where it follows without a blank, and a word behind it.
    mutating func takeNow(_ character: Unicode.Scalar) -> Bool {
        guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: character), Self.isWord(bytes[position + 1]) else { return false }
        position += 1
        return true
    }

    /// The next value.
    public mutating func value() throws(RelaxedJSONError) -> JSONValue { try value(depth: 0) }

    /// The next word: letters, digits, `_` and `$`. nil where there is none.
    public mutating func word() -> String? {
        skipBlanks()
        let start = position
        while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    /// A complaint about the place that has been reached.
    public func error(_ message: String) -> RelaxedJSONError { RelaxedJSONError(message: message, offset: position) }

    // MARK: Values

    private mutating func value(depth: Int) throws(RelaxedJSONError) -> JSONValue {
        guard depth < Self.depthMax else { throw error("the value is nested too deeply") }
        skipBlanks()
        guard position < bytes.count else { throw error("a value is missing") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string())
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): return try number()
        case let byte where Self.isDigit(byte): return try number()
        default: return try name()
        }
    }

    private mutating func object(_ depth: Int) throws(RelaxedJSONError) -> JSONValue {
        position += 1
        var members = JSONObject()
        while !take("}") {
            let key = try key()
            guard take(":") else { throw error("a colon is missing after \(key)") }
            members[key] = try value(depth: depth + 1)
            if take(",") { continue }
            guard take("}") else { throw error("a comma or } is missing") }
            break
        }
        return .object(members)
    }

    private mutating func array(_ depth: Int) throws(RelaxedJSONError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        while !take("]") {
            elements.append(try value(depth: depth + 1))
            if take(",") { continue }
            guard take("]") else { throw error("a comma or ] is missing") }
            break
        }
        return .array(elements)
    }

    private mutating func key() throws(RelaxedJSONError) -> String {
        skipBlanks()
        guard position < bytes.count else { throw error("a key or } is missing") }
        if bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'") { return try string() }
        let start = position
        while position < bytes.count, Self.isWord(bytes[position]) || bytes[position] == UInt8(ascii: "-") { position += 1 }
        guard position > start else { throw error("a key or } is missing") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func name() throws(RelaxedJSONError) -> JSONValue {
        let start = position
        switch word() {
        case "true"?: return true
        case "false"?: return false
        case "null"?, "undefined"?: return .null
        case let word?:
            position = start
            throw error("\(word) is not a value; text needs quotes")
        case nil: throw error("a value is missing")
        }
    }

    private mutating func number() throws(RelaxedJSONError) -> JSONValue {
        let start = position
        var text = ""
        while position < bytes.count, Self.isNumber(bytes[position]) {
            let character = Character(Unicode.Scalar(bytes[position]))
            // JSON wants a digit on both sides of a point, and no plus sign.
            if character == ".", text.last?.isNumber != true { text += "0" }
            if text.last == ".", !character.isNumber { text += "0" }
            if !(text.isEmpty && character == "+") { text.append(character) }
            position += 1
        }
        if text.last == "." { text += "0" }
        guard let value = try? JSONValue(parsing: text), value.kind == .number else {
            position = start
            throw error("this is no number")
        }
        return value
    }

    /// Rewrites it as JSON has it, so that there is one reader of escapes.
    private mutating func string() throws(RelaxedJSONError) -> String {
        let (start, quote) = (position, bytes[position])
        position += 1
        var text: [UInt8] = [UInt8(ascii: "\"")]
        while position < bytes.count, bytes[position] != quote {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\\") where position < bytes.count:
                if bytes[position] != UInt8(ascii: "'") { text.append(byte) }
                text.append(bytes[position])
                position += 1
            case UInt8(ascii: "\""): text += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: text += Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: text.append(byte)
            }
        }
        guard position < bytes.count else {
            position = start
            throw error("the text that begins here has no closing quote")
        }
        position += 1
        text.append(UInt8(ascii: "\""))
        guard let value = try? JSONValue(parsing: text), case .string(let string) = value else {
            position = start
            throw error("the text that begins here has an unknown escape sequence")
        }
        return string
    }

    // MARK: Characters

    private mutating func skipBlanks() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    private static func isNumber(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
    }
}

/// Why a text is no value.
public struct RelaxedJSONError: Error, Sendable, Equatable {
    /// What is wrong, without a full stop.
    public let message: String
    /// Where, in bytes of the text.
    public let offset: Int
}
