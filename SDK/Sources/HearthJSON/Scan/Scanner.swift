/// The grammar of RFC 8259 over borrowed bytes: one pass, no recursion, no memory taken.
///
/// Strict: no byte order mark, no comments, no trailing comma, nothing after the value. Text is checked to be UTF-8. An escape
/// for half a surrogate pair is let through, as JavaScript does; where a string is made of it, it becomes U+FFFD.
struct Scanner {
    let base: UnsafePointer<UInt8>
    let end: Int
    var position = 0

    /// Scans `bytes` as one whole JSON text.
    @inline(__always)
    static func scan<Events: ScanEvents & ~Copyable>(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits, _ events: inout Events
    ) throws(JSONError) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { throw JSONError(kind: .unexpectedEnd, offset: 0) }
        guard bytes.count < Int(UInt32.max) else { throw JSONError(kind: .tooLong, offset: Int(UInt32.max)) }
        var scanner = Scanner(base: base, end: bytes.count)
        try scanner.text(depthMax: limits.depthMax, &events)
    }

    @inline(__always)
    private init(base: UnsafePointer<UInt8>, end: Int) {
        self.base = base
        self.end = end
    }

    /// The byte at the position, or 0, which no rule accepts, at the end.
    @inline(__always)
    private func peek() -> UInt8 { position < end ? base[position] : 0 }

    @inline(__always)
    private mutating func skipWhitespace() {
        while position < end {
            let byte = base[position]
            if byte > 0x20 { return }
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    @inline(__always)
    private func unexpected() -> JSONError {
        JSONError(kind: position < end ? .unexpectedByte : .unexpectedEnd, offset: position)
    }

    @inline(__always)
    private mutating func text<Events: ScanEvents & ~Copyable>(depthMax: Int, _ events: inout Events) throws(JSONError) {
        var nesting = Nesting()
        skipWhitespace()
        while true {
            let first = peek()
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
                let isObject = first == UInt8(ascii: "{")
                guard nesting.depth < depthMax else { throw JSONError(kind: .tooDeep, offset: position) }
                nesting.push(isObject: isObject)
                events.open(isObject: isObject, at: position)
                position += 1
                skipWhitespace()
                // ASCII puts each closing bracket two after its opening one.
                if peek() != first + 2 {
                    if isObject { try key(&events) }
                    continue
                }
            } else {
                try scalar(first, &events)
            }
            if try !followed(&nesting, &events) { return }
        }
    }

    /// Reads from the end of a value to the start of the next: closes containers, takes a comma and a key. False at the end of the text.
    @inline(__always)
    private mutating func followed<Events: ScanEvents & ~Copyable>(
        _ nesting: inout Nesting, _ events: inout Events
    ) throws(JSONError) -> Bool {
        while true {
            skipWhitespace()
            if nesting.depth == 0 {
                guard position == end else { throw JSONError(kind: .trailingBytes, offset: position) }
                return false
            }
            let byte = peek()
            if byte == UInt8(ascii: ",") {
                position += 1
                skipWhitespace()
                if nesting.isObject { try key(&events) }
                return true
            }
            guard byte == (nesting.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw unexpected() }
            events.close(isObject: nesting.isObject, at: position)
            nesting.pop()
            position += 1
        }
    }

    @inline(__always)
    private mutating func key<Events: ScanEvents & ~Copyable>(_ events: inout Events) throws(JSONError) {
        guard peek() == UInt8(ascii: "\"") else { throw unexpected() }
        let start = position + 1
        let hasEscapes = try string()
        events.key(start: start, end: position - 1, hasEscapes: hasEscapes)
        skipWhitespace()
        guard peek() == UInt8(ascii: ":") else { throw unexpected() }
        position += 1
        skipWhitespace()
    }

    @inline(__always)
    private mutating func scalar<Events: ScanEvents & ~Copyable>(_ first: UInt8, _ events: inout Events) throws(JSONError) {
        let start = position
        switch first {
        case UInt8(ascii: "\""):
            let hasEscapes = try string()
            events.string(start: start + 1, end: position - 1, hasEscapes: hasEscapes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let isInteger = try number()
            events.number(start: start, end: position, isInteger: isInteger)
        case UInt8(ascii: "t"):
            try literal("true")
            events.bool(true, start: start)
        case UInt8(ascii: "f"):
            try literal("false")
            events.bool(false, start: start)
        case UInt8(ascii: "n"):
            try literal("null")
            events.null(start: start)
        default:
            throw unexpected()
        }
    }

    @inline(__always)
    private mutating func literal(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard peek() == word.utf8Start[index] else { throw unexpected() }
            position += 1
        }
    }
}

/// Receives the parts of a text during a scan. Positions are byte offsets.
///
/// The grammar is generic over its listener, so that validating costs no more than validating and the tape of
/// a decoder is written in the same pass. Listeners see a prefix of the events when the text turns out to be wrong.
protocol ScanEvents: ~Copyable {
    /// A member's name between its quotes.
    mutating func key(start: Int, end: Int, hasEscapes: Bool)
    /// A string between its quotes.
    mutating func string(start: Int, end: Int, hasEscapes: Bool)
    mutating func number(start: Int, end: Int, isInteger: Bool)
    mutating func bool(_ value: Bool, start: Int)
    mutating func null(start: Int)
    mutating func open(isObject: Bool, at position: Int)
    /// The closing bracket of the innermost open container is at `position`.
    mutating func close(isObject: Bool, at position: Int)
}

/// Which of the open containers are objects: one bit a level, no memory taken.
struct Nesting {
    private var levels = InlineArray<16, UInt64>(repeating: 0)
    private(set) var depth = 0
    /// Whether the innermost container is an object.
    private(set) var isObject = false

    /// Enters a level. The caller has checked the limit.
    @inline(__always)
    mutating func push(isObject: Bool) {
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: depth & 63)
        let index = depth >> 6
        if isObject { levels[index] |= bit } else { levels[index] &= ~bit }
        self.isObject = isObject
        depth += 1
    }

    /// Leaves a level.
    @inline(__always)
    mutating func pop() {
        depth -= 1
        guard depth > 0 else { return }
        let outer = depth - 1
        isObject = levels[outer >> 6] >> UInt64(truncatingIfNeeded: outer & 63) & 1 == 1
    }
}

/// Well-formed UTF-8 outside ASCII, as table 3-7 of the Unicode standard has it: no overlong forms, no surrogates.
enum UTF8Sequence {
    /// The position after the run of sequences of two to four bytes that begins at `start`.
    static func end(in base: UnsafePointer<UInt8>, from start: Int, to end: Int) throws(JSONError) -> Int {
        var index = start
        while index < end, base[index] >= 0x80 {
            let first = base[index]
            let length: Int
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch first {
            case 0xC2...0xDF: length = 2
            case 0xE0: length = 3; second = 0xA0...0xBF
            case 0xED: length = 3; second = 0x80...0x9F
            case 0xE1...0xEF: length = 3
            case 0xF0: length = 4; second = 0x90...0xBF
            case 0xF1...0xF3: length = 4
            case 0xF4: length = 4; second = 0x80...0x8F
            default: throw JSONError(kind: .invalidUTF8, offset: index)
            }
            guard end - index >= length, second.contains(base[index + 1]) else {
                throw JSONError(kind: .invalidUTF8, offset: index)
            }
            for tail in (index + 2)..<(index + length) where base[tail] & 0xC0 != 0x80 {
                throw JSONError(kind: .invalidUTF8, offset: index)
            }
            index += length
        }
        return index
    }
}

extension Scanner {
    /// Takes a string from its opening quote to its closing one; true when it holds an escape.
    @inline(__always)
    mutating func string() throws(JSONError) -> Bool {
        var index = position + 1
        while index + 8 <= end {
            let special = Word.special(Word.load(base, index))
            if special != 0 {
                index += special.trailingZeroBitCount >> 3
                break
            }
            index += 8
        }
        if index < end, base[index] == UInt8(ascii: "\"") {
            position = index + 1
            return false
        }
        return try stringRemainder(from: index)
    }

    /// The rest of a string that is not plain ASCII up to its quote, or that ends within the last bytes of the text.
    @inline(never)
    private mutating func stringRemainder(from start: Int) throws(JSONError) -> Bool {
        var index = start
        var hasEscapes = false
        while index < end {
            let byte = base[index]
            if byte == UInt8(ascii: "\"") {
                position = index + 1
                return hasEscapes
            }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                index = try escape(at: index)
            } else if byte < 0x20 {
                throw JSONError(kind: .controlCharacter, offset: index)
            } else if byte < 0x80 {
                index += 1
            } else {
                index = try UTF8Sequence.end(in: base, from: index, to: end)
            }
            while index + 8 <= end {
                let special = Word.special(Word.load(base, index))
                if special != 0 {
                    index += special.trailingZeroBitCount >> 3
                    break
                }
                index += 8
            }
        }
        throw JSONError(kind: .unexpectedEnd, offset: end)
    }

    /// The position after the escape that begins at `start`.
    private func escape(at start: Int) throws(JSONError) -> Int {
        guard start + 1 < end else { throw JSONError(kind: .unexpectedEnd, offset: end) }
        switch base[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"):
            for index in start + 2..<start + 6 {
                guard index < end else { throw JSONError(kind: .unexpectedEnd, offset: end) }
                guard Escape.hexDigit(base[index]) != nil else { throw JSONError(kind: .invalidEscape, offset: start) }
            }
            return start + 6
        default:
            throw JSONError(kind: .invalidEscape, offset: start)
        }
    }
}

extension Scanner {
    /// Takes a number; true when it has neither fraction nor exponent. A number that no `Double` holds is refused.
    @inline(__always)
    mutating func number() throws(JSONError) -> Bool {
        let start = position
        var index = start
        if base[index] == UInt8(ascii: "-") { index += 1 }
        let digits = index
        index = digitsEnd(from: index)
        guard index > digits else { throw malformed(at: index) }
        if base[digits] == UInt8(ascii: "0"), index - digits > 1 { throw JSONError(kind: .invalidNumber, offset: digits) }
        guard index < end, base[index] == UInt8(ascii: ".") || base[index] | 0x20 == UInt8(ascii: "e") else {
            position = index
            if index - digits > 300 { try checkRange(from: start) }
            return true
        }
        try fraction(from: index, of: start)
        return false
    }

    /// Reads the fraction and the exponent of the number that began at `start`.
    @inline(never)
    private mutating func fraction(from point: Int, of start: Int) throws(JSONError) {
        var index = point
        if base[index] == UInt8(ascii: ".") {
            index = digitsEnd(from: point + 1)
            guard index > point + 1 else { throw malformed(at: index) }
        }
        var exponentDigits = 0
        if index < end, base[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < end, base[index] == UInt8(ascii: "+") || base[index] == UInt8(ascii: "-") { index += 1 }
            let first = index
            index = digitsEnd(from: index)
            exponentDigits = index - first
            guard exponentDigits > 0 else { throw malformed(at: index) }
        }
        position = index
        // Two digits of exponent and 200 before it stay far below the greatest double, about 1.8e308.
        if exponentDigits > 2 || index - start > 200 { try checkRange(from: start) }
    }

    @inline(__always)
    private func digitsEnd(from start: Int) -> Int {
        var index = start
        while index < end, base[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index
    }

    private func malformed(at index: Int) -> JSONError {
        JSONError(kind: index < end ? .invalidNumber : .unexpectedEnd, offset: index)
    }

    @inline(never)
    private func checkRange(from start: Int) throws(JSONError) {
        guard NumberText(base + start, count: position - start).slowDouble().isFinite else {
            throw JSONError(kind: .numberOutOfRange, offset: start)
        }
    }
}
