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

    /// What stands between a value and the next: closes containers, takes a comma and a key. False at the end of the text.
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
