/// Splits an expression into tokens. A slash starts a regular expression where an operand is expected and is a division elsewhere, so the
/// parser tells which it expects.
struct Lexer {
    let text: [UInt8]
    private(set) var position = 0

    init(_ text: [UInt8]) { self.text = text }

    /// The byte at `index`; 0 beyond the end, which no rule accepts.
    func byte(_ index: Int) -> UInt8 { index < text.count ? text[index] : 0 }

    /// Moves behind a token.
    mutating func take(_ token: RuleToken) { position = token.range.upperBound }

    private mutating func skipTrivia() throws(ExpressionError) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            case UInt8(ascii: "/") where byte(position + 1) == UInt8(ascii: "/"):
                while position < text.count, text[position] != 0x0A { position += 1 }
            case UInt8(ascii: "/") where byte(position + 1) == UInt8(ascii: "*"): try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(ExpressionError) {
        let start = position
        position += 2
        while position + 1 < text.count {
            if text[position] == UInt8(ascii: "*"), text[position + 1] == UInt8(ascii: "/") {
                position += 2
                return
            }
            position += 1
        }
        throw ExpressionError("unterminated comment", at: start)
    }

    /// The next token, where an operand is expected.
    mutating func operand() throws(ExpressionError) -> RuleToken {
        try skipTrivia()
        let start = position
        let first = byte(start)
        if start == text.count { return RuleToken(kind: .end, range: start..<start) }
        if Self.isDigit(first) || first == UInt8(ascii: ".") && Self.isDigit(byte(start + 1)) { return try number() }
        if Self.beginsName(first) { return name() }
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            var literal = StringLiteral(text: text, position: start)
            let string = try literal.read()
            return RuleToken(kind: .string(string), range: start..<literal.position)
        case UInt8(ascii: "/"): return try pattern()
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "!"), UInt8(ascii: "-"), UInt8(ascii: ")"), UInt8(ascii: "]"):
            if first == UInt8(ascii: "-"), byte(start + 1) == first { throw unsupported("--") }
            return mark(length: 1)
        default: throw unexpected()
        }
    }

    /// The next token, where an operator or the end is expected.
    mutating func `operator`() throws(ExpressionError) -> RuleToken {
        try skipTrivia()
        let first = byte(position)
        if position == text.count { return RuleToken(kind: .end, range: position..<position) }
        let second = byte(position + 1)
        switch first {
        case UInt8(ascii: "="), UInt8(ascii: "!"):
            if second == UInt8(ascii: "=") { return mark(length: 2, taking: byte(position + 2) == UInt8(ascii: "=") ? 3 : 2) }
            throw first == UInt8(ascii: "=") ? assignment() : unexpected()
        case UInt8(ascii: "<"), UInt8(ascii: ">"):
            if second == first { throw unsupported(first == UInt8(ascii: "<") ? "<<" : ">>") }
            return mark(length: second == UInt8(ascii: "=") ? 2 : 1)
        case UInt8(ascii: "&"), UInt8(ascii: "|"):
            if second == first { return mark(length: 2) }
            throw second == UInt8(ascii: "=") ? assignment() : unsupported(first == UInt8(ascii: "&") ? "&" : "|")
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "^"):
            if second == UInt8(ascii: "=") { throw assignment() }
            if second == first, first != UInt8(ascii: "/"), first != UInt8(ascii: "%") {
                throw unsupported(String(repeating: Character(Unicode.Scalar(first)), count: 2))
            }
            if first == UInt8(ascii: "^") { throw unsupported("^") }
            return mark(length: 1)
        case UInt8(ascii: ";"): throw ExpressionError("Rule expressions may contain only one expression.", at: position)
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "."), UInt8(ascii: ","),
            UInt8(ascii: "?"), UInt8(ascii: ":"):
            return mark(length: 1)
        default: throw unexpected()
        }
    }

    /// The name after a point.
    mutating func memberName() throws(ExpressionError) -> RuleToken {
        try skipTrivia()
        guard Self.beginsName(byte(position)) else { throw ExpressionError("missing name after . operator", at: position) }
        return name()
    }

    private func mark(length: Int, taking: Int? = nil) -> RuleToken {
        let range = position..<position + (taking ?? length)
        let spelling = String(decoding: text[position..<position + length], as: UTF8.self)
        return RuleToken(kind: RuleToken.Mark(rawValue: spelling).map { .mark($0) } ?? .end, range: range)
    }

    private func name() -> RuleToken {
        var end = position
        while end < text.count, Self.beginsName(text[end]) || Self.isDigit(text[end]) { end += 1 }
        return RuleToken(kind: .name(String(decoding: text[position..<end], as: UTF8.self)), range: position..<end)
    }

    private func number() throws(ExpressionError) -> RuleToken {
        var end = position
        while Self.isDigit(byte(end)) { end += 1 }
        if byte(end) == UInt8(ascii: ".") {
            end += 1
            while Self.isDigit(byte(end)) { end += 1 }
        }
        if byte(end) | 0x20 == UInt8(ascii: "e") {
            end += 1
            if byte(end) == UInt8(ascii: "+") || byte(end) == UInt8(ascii: "-") { end += 1 }
            while Self.isDigit(byte(end)) { end += 1 }
        }
        var digits = String(decoding: text[position..<end], as: UTF8.self)
        if digits.hasSuffix(".") { digits.removeLast() }
        guard !Self.beginsName(byte(end)), let value = Double(digits), value.isFinite else {
            throw ExpressionError("syntax error: '\(digits)' is not a number", at: position)
        }
        return RuleToken(kind: .number(value), range: position..<end)
    }

    private func pattern() throws(ExpressionError) -> RuleToken {
        var end = position + 1
        var isInClass = false
        while byte(end) != UInt8(ascii: "/") || isInClass {
            guard end < text.count, text[end] != 0x0A else {
                throw ExpressionError("unterminated regular expression literal", at: position)
            }
            switch text[end] {
            case UInt8(ascii: "\\"): end += 1
            case UInt8(ascii: "["): isInClass = true
            case UInt8(ascii: "]"): isInClass = false
            default: break
            }
            end += 1
        }
        var flagsEnd = end + 1
        while flagsEnd < text.count, Self.beginsName(text[flagsEnd]) || Self.isDigit(text[flagsEnd]) { flagsEnd += 1 }
        let flags = text[end + 1..<flagsEnd]
        guard flags.isEmpty || flags.elementsEqual([UInt8(ascii: "i")]) else {
            throw ExpressionError("regular expressions do not support flags other than i", at: end + 1)
        }
        return RuleToken(kind: .pattern(RuleToken.Pattern(range: position + 1..<end, ignoresCase: !flags.isEmpty)), range: position..<flagsEnd)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func beginsName(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    private func assignment() -> ExpressionError { ExpressionError("Rule expressions may not contain assignments.", at: position) }

    private func unsupported(_ spelling: String) -> ExpressionError {
        ExpressionError("syntax error: the operator \(spelling) is not supported", at: position)
    }

    /// The error for an unexpected character at the position.
    func unexpected() -> ExpressionError {
        guard position < text.count else { return ExpressionError("syntax error: the expression is not complete", at: position) }
        if Self.beginsName(text[position]), case .name(let word) = name().kind {
            return ExpressionError("syntax error: unexpected '\(word)'", at: position)
        }
        let rest = String(decoding: text[position..<min(position + 4, text.count)], as: UTF8.self)
        return ExpressionError("syntax error: unexpected '\(rest.prefix(1))'", at: position)
    }
}
