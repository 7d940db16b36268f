/// Checks a regular expression against the subset of the rules language (spec database 5.4) and translates it for RE2.
///
/// Everything outside the subset is refused, so that no other RE2 syntax gets through: no look-around, back-references, named or
/// non-capturing groups, lazy quantifiers, or anchors except at the two ends.
struct PatternTranslator {
    private let text: [UInt8]
    private let start: Int
    private let end: Int
    private var position: Int
    private var depth = 0
    private var output: [UInt8] = []

    private static let depthMax = 50
    /// The greatest repetition count of RE2.
    private static let countMax = 1000

    /// Translates the pattern at `range` of an expression's `text` for RE2.
    static func translate(_ text: [UInt8], _ range: Range<Int>) throws(ExpressionError) -> [UInt8] {
        var translator = PatternTranslator(text: text, range: range)
        try translator.alternatives()
        guard translator.position == range.upperBound else { throw translator.failure("unmatched )") }
        return translator.output
    }

    private init(text: [UInt8], range: Range<Int>) {
        self.text = text
        start = range.lowerBound
        end = range.upperBound
        position = range.lowerBound
    }

    private var byte: UInt8 { position < end ? text[position] : 0 }

    private func failure(_ reason: String) -> ExpressionError {
        ExpressionError("Invalid regular expression: \(reason).", at: min(position, end))
    }

    private mutating func alternatives() throws(ExpressionError) {
        while true {
            try sequence()
            guard byte == UInt8(ascii: "|") else { return }
            output.append(byte)
            position += 1
        }
    }

    private mutating func sequence() throws(ExpressionError) {
        let first = position
        while position < end, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") {
            switch byte {
            case UInt8(ascii: "^"):
                guard position == start else { throw failure("^ may only stand at the beginning") }
                try anchor()
            case UInt8(ascii: "$"):
                guard position == end - 1 else { throw failure("$ may only stand at the end") }
                try anchor()
            default:
                try atom()
                try quantifier()
            }
        }
        guard position > first else { throw failure("empty alternative") }
    }

    private mutating func anchor() throws(ExpressionError) {
        output.append(byte)
        position += 1
        if Self.isQuantifier(byte), position < end { throw failure("nothing to repeat") }
    }

    private static func isQuantifier(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "*") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "{")
    }

    private mutating func atom() throws(ExpressionError) {
        switch byte {
        case UInt8(ascii: "("):
            guard depth < Self.depthMax else { throw failure("too many nested groups") }
            depth += 1
            position += 1
            if byte == UInt8(ascii: "?") { throw failure("groups that begin with (? are not supported") }
            // A non-capturing group costs RE2 less.
            output.append(contentsOf: Array("(?:".utf8))
            try alternatives()
            guard position < end else { throw failure("missing )") }
            output.append(UInt8(ascii: ")"))
            position += 1
            depth -= 1
        case UInt8(ascii: "["): try characterClass()
        case UInt8(ascii: "\\"): output.append(contentsOf: try escape().bytes)
        case UInt8(ascii: "."):
            output.append(byte)
            position += 1
        case let other where Self.isQuantifier(other): throw failure("nothing to repeat")
        default: literal()
        }
    }

    /// A literal character.
    private mutating func literal() {
        if byte < 0x80, !Self.isWord(byte) { output.append(UInt8(ascii: "\\")) }
        repeat {
            output.append(byte)
            position += 1
        } while position < end && byte & 0xC0 == 0x80
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "_") || byte <= 0x20
    }

    private mutating func quantifier() throws(ExpressionError) {
        guard position < end, Self.isQuantifier(byte) else { return }
        if byte == UInt8(ascii: "{") {
            try counts()
        } else {
            output.append(byte)
            position += 1
        }
        if position < end, Self.isQuantifier(byte) { throw failure("nothing to repeat") }
    }

    private mutating func counts() throws(ExpressionError) {
        position += 1
        guard let least = try count() else { throw failure("a count must follow {") }
        var most: Int? = least
        output.append(contentsOf: Array("{\(least)".utf8))
        if byte == UInt8(ascii: ",") {
            position += 1
            output.append(UInt8(ascii: ","))
            most = try count()
            if let most { output.append(contentsOf: Array("\(most)".utf8)) }
        }
        guard byte == UInt8(ascii: "}"), position < end else { throw failure("missing } after a count") }
        if let most, most < least { throw failure("the counts are in the wrong order") }
        output.append(byte)
        position += 1
    }

    private mutating func count() throws(ExpressionError) -> Int? {
        var value: Int?
        while position < end, byte &- UInt8(ascii: "0") < 10 {
            value = (value ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
            if value ?? 0 > Self.countMax { throw failure("a count may be at most \(Self.countMax)") }
            position += 1
        }
        return value
    }

    /// The translation of an escape; `scalar` is nil for a class of characters.
    private mutating func escape() throws(ExpressionError) -> (bytes: [UInt8], scalar: UInt32?) {
        position += 1
        guard position < end else { throw failure("\\ at the end") }
        let letter = byte
        switch letter {
        case UInt8(ascii: "d"), UInt8(ascii: "D"), UInt8(ascii: "w"), UInt8(ascii: "W"), UInt8(ascii: "s"), UInt8(ascii: "S"):
            position += 1
            return ([UInt8(ascii: "\\"), letter], nil)
        case UInt8(ascii: "t"): return simple(0x09)
        case UInt8(ascii: "n"): return simple(0x0A)
        case UInt8(ascii: "v"): return simple(0x0B)
        case UInt8(ascii: "f"): return simple(0x0C)
        case UInt8(ascii: "r"): return simple(0x0D)
        case UInt8(ascii: "x"): return try numbered(digits: 2)
        case UInt8(ascii: "u"): return try numbered(digits: 4)
        default:
            guard letter < 0x80, letter > 0x20, !Self.isWord(letter) else {
                throw failure("this escape is not supported")
            }
            return simple(letter)
        }
    }

    private mutating func simple(_ byte: UInt8) -> (bytes: [UInt8], scalar: UInt32?) {
        position += 1
        return (Self.spelling(UInt32(byte)), UInt32(byte))
    }

    private mutating func numbered(digits: Int) throws(ExpressionError) -> (bytes: [UInt8], scalar: UInt32?) {
        var value: UInt32 = 0
        for offset in 1...digits {
            guard position + offset < end, let digit = HexDigit.value(of: text[position + offset]) else {
                throw failure("hexadecimal digits must follow")
            }
            value = value << 4 | UInt32(digit)
        }
        guard Unicode.Scalar(value) != nil else { throw failure("half a surrogate pair is not a character") }
        position += 1 + digits
        return (Self.spelling(value), value)
    }

    private static func spelling(_ scalar: UInt32) -> [UInt8] { Array("\\x{\(String(scalar, radix: 16))}".utf8) }

    private mutating func characterClass() throws(ExpressionError) {
        output.append(byte)
        position += 1
        if byte == UInt8(ascii: "^") {
            output.append(byte)
            position += 1
        }
        if byte == UInt8(ascii: "]") { throw failure("empty character class") }
        while byte != UInt8(ascii: "]") || position >= end {
            guard position < end else { throw failure("missing ]") }
            let first = try member()
            output.append(contentsOf: first.bytes)
            let isRange = byte == UInt8(ascii: "-") && position + 1 < end && text[position + 1] != UInt8(ascii: "]")
            guard isRange else { continue }
            position += 1
            let last = try member()
            guard let low = first.scalar, let high = last.scalar else { throw failure("a class cannot be the end of a range") }
            guard low <= high else { throw failure("the range is in the wrong order") }
            output.append(UInt8(ascii: "-"))
            output.append(contentsOf: last.bytes)
        }
        output.append(byte)
        position += 1
    }

    /// One character, or one class, inside brackets.
    private mutating func member() throws(ExpressionError) -> (bytes: [UInt8], scalar: UInt32?) {
        if byte == UInt8(ascii: "\\") { return try escape() }
        let first = position
        repeat { position += 1 } while position < end && byte & 0xC0 == 0x80
        let scalar = String(decoding: text[first..<position], as: UTF8.self).unicodeScalars.first.map(\.value) ?? 0xFFFD
        return (Self.spelling(scalar), scalar)
    }
}
