/// Checks JSON without building values: one pass, without allocating memory.
///
/// The host does this with the text of each request and each answer: it proves that the text is JSON, finds out whether the text may be
/// passed on unchanged, and finds the slice that matters.
public struct JSONScan: Sendable {
    /// The results of a scan.
    public struct Facts: Sendable, Hashable {
        /// Whether some object in the text, at any depth, has the key `@type`, written plainly or with escapes.
        public internal(set) var hasTypeKey = false
        /// Whether some number is a whole one, without fraction and exponent, beyond ±(2^53 - 1): more than a JavaScript
        /// number holds exactly.
        public internal(set) var hasBigInteger = false
        /// The kind of the whole text.
        public internal(set) var kind: JSONKind = .null
    }

    /// Proves that `bytes` is exactly one JSON value, white space around it allowed.
    public static func validate(_ bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) -> Facts {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) -> Facts in
            var events = FactEvents(buffer)
            try Scanner.scan(buffer, limits: limits, &events)
            return events.facts
        }
    }

    /// Proves that `bytes` is exactly one JSON value, white space around it allowed.
    public static func validate(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) -> Facts {
        try validate(bytes.span, limits: limits)
    }
}

/// Gathers the facts. The top value is the last event of a scan.
struct FactEvents: ScanEvents {
    let base: UnsafePointer<UInt8>?
    var facts = JSONScan.Facts()

    @inline(__always)
    init(_ buffer: UnsafeBufferPointer<UInt8>) { base = buffer.baseAddress }

    @inline(__always)
    mutating func key(start: Int, end: Int, hasEscapes: Bool) {
        guard let base else { return }
        if !hasEscapes {
            guard end - start == 5, base[start] == UInt8(ascii: "@") else { return }
        }
        if KeyText(base + start, count: end - start, hasEscapes: hasEscapes).equals("@type") { facts.hasTypeKey = true }
    }

    @inline(__always)
    mutating func number(start: Int, end: Int, isInteger: Bool) {
        facts.kind = .number
        if end - start > 15, isInteger, let base, Self.isBig(NumberText(base + start, count: end - start)) {
            facts.hasBigInteger = true
        }
    }

    @inline(never)
    private static func isBig(_ text: NumberText) -> Bool {
        guard let integer = text.integer else { return true }
        return integer.magnitude > 1 << 53 - 1
    }

    @inline(__always)
    mutating func string(start: Int, end: Int, hasEscapes: Bool) { facts.kind = .string }

    @inline(__always)
    mutating func bool(_ value: Bool, start: Int) { facts.kind = .bool }

    @inline(__always)
    mutating func null(start: Int) { facts.kind = .null }

    @inline(__always)
    mutating func open(isObject: Bool, at position: Int) {}

    @inline(__always)
    mutating func close(isObject: Bool, at position: Int) { facts.kind = isObject ? .object : .array }
}

extension JSONScan {
    /// The result of `member(_:of:limits:)`.
    public struct Envelope: Sendable, Hashable {
        /// The facts about the whole text. Only a text whose `kind` is `.object` can have members.
        public internal(set) var facts = Facts()
        /// The range of the value of the requested member, without white space around it. The last one of equal names counts.
        public internal(set) var value: Range<Int>?
        /// The kind of the value.
        public internal(set) var kind: JSONKind = .null
        /// Whether the top object has a member of another name.
        public internal(set) var hasOtherMembers = false
    }

    /// Validates `bytes` and finds the member `name` of the top object in the same pass, however its name is written.
    public static func member(
        _ name: StaticString, of bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> Envelope {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) -> Envelope in
            var events = MemberEvents(buffer, EnvelopeFinder(name: name))
            try Scanner.scan(buffer, limits: limits, &events)
            var envelope = events.consumer.envelope
            envelope.facts = events.facts.facts
            return envelope
        }
    }

    /// Validates `bytes` and hands each member of the top object to `body` in the order of the text: the name with escapes
    /// resolved, the range of the value, and its kind.
    ///
    /// Members are handed on before the rest of the text has been checked: act on them only once this returns. Members with equal names
    /// are all handed on; the last one counts. A text that is not an object has no members, and `facts.kind` is its kind.
    public static func members(
        of bytes: Span<UInt8>, limits: JSONLimits = JSONLimits(),
        _ body: (_ name: Span<UInt8>, _ value: Range<Int>, _ kind: JSONKind) -> Void
    ) throws(JSONError) -> Facts {
        try withoutActuallyEscaping(body) { (body) throws(JSONError) -> Facts in
            try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) -> Facts in
                var events = MemberEvents(buffer, MemberCaller(body: body))
                try Scanner.scan(buffer, limits: limits, &events)
                return events.facts.facts
            }
        }
    }
}

/// Takes the members of the top object.
private protocol MemberConsumer {
    mutating func member(_ name: KeyText, _ value: Range<Int>, _ kind: JSONKind)
}

private struct EnvelopeFinder: MemberConsumer {
    let name: StaticString
    var envelope = JSONScan.Envelope()

    @inline(__always)
    mutating func member(_ name: KeyText, _ value: Range<Int>, _ kind: JSONKind) {
        guard name.equals(self.name) else {
            envelope.hasOtherMembers = true
            return
        }
        envelope.value = value
        envelope.kind = kind
    }
}

private struct MemberCaller: MemberConsumer {
    let body: (Span<UInt8>, Range<Int>, JSONKind) -> Void

    mutating func member(_ name: KeyText, _ value: Range<Int>, _ kind: JSONKind) {
        name.withDecoded { body($0.span, value, kind) }
    }
}

/// Gathers the facts and the members one level below the top.
private struct MemberEvents<Consumer: MemberConsumer>: ScanEvents {
    var facts: FactEvents
    var consumer: Consumer
    private let base: UnsafePointer<UInt8>?
    private var depth = 0
    private var isObject = false
    private var keyStart = 0
    private var keyEnd = 0
    private var keyHasEscapes = false
    private var valueStart = 0

    @inline(__always)
    init(_ buffer: UnsafeBufferPointer<UInt8>, _ consumer: Consumer) {
        facts = FactEvents(buffer)
        base = buffer.baseAddress
        self.consumer = consumer
    }

    @inline(__always)
    private mutating func value(start: Int, end: Int, _ kind: JSONKind) {
        guard depth == 1, isObject, let base else { return }
        consumer.member(
            KeyText(base + keyStart, count: keyEnd - keyStart, hasEscapes: keyHasEscapes), Range(uncheckedBounds: (start, end)), kind)
    }

    @inline(__always)
    mutating func key(start: Int, end: Int, hasEscapes: Bool) {
        facts.key(start: start, end: end, hasEscapes: hasEscapes)
        guard depth == 1 else { return }
        keyStart = start
        keyEnd = end
        keyHasEscapes = hasEscapes
    }

    @inline(__always)
    mutating func string(start: Int, end: Int, hasEscapes: Bool) {
        facts.string(start: start, end: end, hasEscapes: hasEscapes)
        value(start: start - 1, end: end + 1, .string)
    }

    @inline(__always)
    mutating func number(start: Int, end: Int, isInteger: Bool) {
        facts.number(start: start, end: end, isInteger: isInteger)
        value(start: start, end: end, .number)
    }

    @inline(__always)
    mutating func bool(_ value: Bool, start: Int) {
        facts.bool(value, start: start)
        self.value(start: start, end: start + (value ? 4 : 5), .bool)
    }

    @inline(__always)
    mutating func null(start: Int) {
        facts.null(start: start)
        value(start: start, end: start + 4, .null)
    }

    @inline(__always)
    mutating func open(isObject: Bool, at position: Int) {
        if depth == 0 { self.isObject = isObject }
        if depth == 1 { valueStart = position }
        depth += 1
    }

    @inline(__always)
    mutating func close(isObject: Bool, at position: Int) {
        facts.close(isObject: isObject, at: position)
        depth -= 1
        value(start: valueStart, end: position + 1, isObject ? .object : .array)
    }
}
