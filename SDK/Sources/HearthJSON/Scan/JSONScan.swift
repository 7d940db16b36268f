/// Looks through JSON without making anything of it: one pass, no memory taken.
///
/// What the host does with the text of each request and each answer: prove that it is JSON, learn the two things that decide
/// whether the text may be passed on as it is, and find the slice that matters.
public struct JSONScan: Sendable {
    /// What a scan learns on its way.
    public struct Facts: Sendable, Hashable {
        /// Whether some object in the text, at any depth, has the key `@type`, written plainly or with escapes.
        public internal(set) var hasTypeKey = false
        /// Whether some number is a whole one, without fraction and exponent, beyond ±(2^53 - 1): more than a JavaScript
        /// number holds exactly.
        public internal(set) var hasBigInteger = false
        /// What the text is at its top.
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
