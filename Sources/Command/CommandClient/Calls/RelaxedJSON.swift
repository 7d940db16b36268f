public import HearthJSON

/// Parses relaxed JSON for manual input: unquoted keys, single quotes, trailing commas, `undefined`. All JSON is valid relaxed JSON.
public struct RelaxedJSON {
    private let bytes: [UInt8]
    private var position = 0

    /// Deeper nesting is refused.
    private static let depthMax = 200

    /// A parser at the start of a text.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// Parses a whole text.
    ///
    /// - Throws: `RelaxedJSONError` if it is not one value.
    public static func value(of text: String) throws(RelaxedJSONError) -> JSONValue {
        var reader = RelaxedJSON(text)
        let value = try reader.value()
        guard reader.isAtEnd else { throw reader.error("unexpected text after the end") }
        return value
    }

    /// Whether only white space is left.
    public var isAtEnd: Bool {
        mutating get {
            skipBlanks()
            return position == bytes.count
        }
    }

    /// Skips white space and this character, if it is next.
    public mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Skips this character if it follows without white space and a word follows it.
    mutating func takeNow(_ character: Unicode.Scalar) -> Bool {
        guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: character), Self.isWord(bytes[position + 1]) else { return false }
        position += 1
        return true
    }

    /// Parses the next value.
    public mutating func value() throws(RelaxedJSONError) -> JSONValue { try value(depth: 0) }

    /// Parses the next word: letters, digits, `_` and `$`. Nil if there is none.
    public mutating func word() -> String? {
        skipBlanks()
        let start = position
        while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    /// An error at the current position.
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
            // JSON requires a digit on both sides of the point, and no plus sign.
            if character == ".", text.last?.isNumber != true { text += "0" }
            if text.last == ".", !character.isNumber { text += "0" }
            if !(text.isEmpty && character == "+") { text.append(character) }
            position += 1
        }
        if text.last == "." { text += "0" }
        guard let value = try? JSONValue(parsing: text), value.kind == .number else {
            position = start
            throw error("this is not a number")
        }
        return value
    }

    /// Rewrites the string as JSON, so that only the JSON parser interprets escapes.
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

/// The reason why a text is not a value.
public struct RelaxedJSONError: Error, Sendable, Equatable {
    /// The error, without a full stop.
    public let message: String
    /// The position, in bytes.
    public let offset: Int
}
