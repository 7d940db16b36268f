import HearthJSON

/// A second, slow and plain reader of JSON, written straight from RFC 8259, to hold against the one that is fast.
struct ReferenceParser {
    struct Reading {
        let value: JSONValue
        let hasTypeKey: Bool
        let hasBigInteger: Bool
    }

    private var rest: Substring.UnicodeScalarView
    private var hasTypeKey = false
    private var hasBigInteger = false

    private init(rest: Substring.UnicodeScalarView) { self.rest = rest }

    /// The value of the text, or nil if it is not JSON.
    static func parse(_ bytes: [UInt8], depthMax: Int = 512) -> Reading? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var parser = ReferenceParser(rest: text[...].unicodeScalars)
        guard let value = parser.value(depth: depthMax), parser.rest.isEmpty else { return nil }
        return Reading(value: value, hasTypeKey: parser.hasTypeKey, hasBigInteger: parser.hasBigInteger)
    }

    private mutating func skipWhitespace() {
        while let first = rest.first, " \t\n\r".unicodeScalars.contains(first) { rest.removeFirst() }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func take(word: String) -> Bool {
        for scalar in word.unicodeScalars where !take(scalar) { return false }
        return true
    }

    private mutating func value(depth: Int) -> JSONValue? {
        skipWhitespace()
        defer { skipWhitespace() }
        switch rest.first {
        case "n": return take(word: "null") ? .null : nil
        case "t": return take(word: "true") ? .bool(true) : nil
        case "f": return take(word: "false") ? .bool(false) : nil
        case "\"": return string().map { .string($0) }
        case "[": return depth > 0 ? array(depth: depth - 1) : nil
        case "{": return depth > 0 ? object(depth: depth - 1) : nil
        default: return number()
        }
    }

    private mutating func array(depth: Int) -> JSONValue? {
        rest.removeFirst()
        var elements: [JSONValue] = []
        skipWhitespace()
        if take("]") { return .array([]) }
        while true {
            guard let element = value(depth: depth) else { return nil }
            elements.append(element)
            if take("]") { return .array(elements) }
            guard take(",") else { return nil }
        }
    }

    private mutating func object(depth: Int) -> JSONValue? {
        rest.removeFirst()
        var members = JSONObject()
        skipWhitespace()
        if take("}") { return .object(members) }
        while true {
            skipWhitespace()
            guard let name = string() else { return nil }
            skipWhitespace()
            guard take(":"), let member = value(depth: depth) else { return nil }
            members[name] = member
            if name == "@type" { hasTypeKey = true }
            if take("}") { return .object(members) }
            guard take(",") else { return nil }
        }
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var units: [UInt16] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(decoding: units, as: UTF16.self)
            case "\\":
                guard let unit = escape() else { return nil }
                units.append(unit)
            case _ where scalar.value < 0x20: return nil
            default: units += Array(String(scalar).utf16)
            }
        }
        return nil
    }

    private mutating func escape() -> UInt16? {
        let simple: [Unicode.Scalar: UInt16] = [
            "\"": 0x22, "\\": 0x5C, "/": 0x2F, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9,
        ]
        guard let letter = rest.popFirst() else { return nil }
        if let unit = simple[letter] { return unit }
        guard letter == "u" else { return nil }
        let digits = String(String.UnicodeScalarView(rest.prefix(4)))
        guard digits.unicodeScalars.count == 4, digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        rest.removeFirst(4)
        return UInt16(digits, radix: 16)
    }

    private mutating func number() -> JSONValue? {
        var text = ""
        while let first = rest.first, "+-.0123456789eE".unicodeScalars.contains(first) {
            text.unicodeScalars.append(rest.removeFirst())
        }
        guard text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+\-]?[0-9]+)?/) != nil else { return nil }
        if text.wholeMatch(of: /-?[0-9]+/) != nil, text != "-0" {
            hasBigInteger = hasBigInteger || Int64(text).map { $0.magnitude > 9_007_199_254_740_991 } ?? true
            if let value = Int64(text) { return .int(value) }
            if let value = UInt64(text) { return .uint(value) }
        }
        guard let value = Double(text), value.isFinite else { return nil }
        return .double(value)
    }
}
