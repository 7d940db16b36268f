/// One entry of the flat index that a scan leaves of a text.
///
/// Entries stand in the order of the text: a container, then its content; in an object each key before its value.
struct Token {
    enum Kind: UInt8 {
        case null, bool, number, string, array, object, key
    }

    /// A string, or a key, that holds escapes; a number that is written as a whole one; a bool that is true.
    static let flag: UInt32 = 1 << 8

    /// The first byte; of a string or key the first one between its quotes.
    var start: UInt32
    /// The position after a scalar's last byte; how many members or elements a container has.
    var extent: UInt32
    /// The entry after this one and everything in it.
    var next: UInt32
    /// The kind in the lowest byte, then the flag; of an object, above that, the number of its `MemberIndex`, 0 for none.
    var bits: UInt32

    @inline(__always)
    var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: bits)) ?? .null }

    @inline(__always)
    func isKind(_ kind: Kind) -> Bool { UInt8(truncatingIfNeeded: bits) == kind.rawValue }

    @inline(__always)
    var isFlagged: Bool { bits & Self.flag != 0 }

    static let memberIndexMax = 1 << 23 - 1

    /// The number of an object's `MemberIndex`, 0 for none.
    var memberIndex: Int {
        get { Int(bits >> 9) }
        set { bits = bits & 0x1FF | UInt32(truncatingIfNeeded: newValue) << 9 }
    }

    /// The same entry without its flag.
    var unflagged: Token { Token(start: start, extent: extent, next: next, bits: bits & ~Self.flag) }

    @inline(__always)
    var length: Int { Int(extent &- start) }
}

/// The index of a text while it is written, in memory that outlives it.
struct Tape: ~Copyable {
    private(set) var tokens: UnsafeMutablePointer<Token>
    private(set) var count = 0
    private var capacity: Int
    /// The innermost open container, whose `next` names the one around it until it closes.
    private var container: UInt32 = Self.none

    private static var none: UInt32 { .max }

    init(capacity: Int = 128) {
        self.capacity = capacity
        tokens = .allocate(capacity: capacity)
    }

    deinit { tokens.deallocate() }

    /// Forgets everything; memory for more than `limit` entries is given back.
    @inline(__always)
    mutating func clear(keepingAtMost limit: Int) {
        count = 0
        container = Self.none
        if capacity > limit { grow(to: 128) }
    }

    @inline(never)
    private mutating func grow(to wanted: Int) {
        let grown = UnsafeMutablePointer<Token>.allocate(capacity: wanted)
        grown.moveInitialize(from: tokens, count: count)
        tokens.deallocate()
        tokens = grown
        capacity = wanted
    }

    @inline(__always)
    mutating func append(_ kind: Token.Kind, start: Int, extent: Int, flagged: Bool) {
        if count == capacity { grow(to: capacity * 2) }
        let bits = UInt32(kind.rawValue) | (flagged ? Token.flag : 0)
        tokens[count] = Token(
            start: UInt32(truncatingIfNeeded: start), extent: UInt32(truncatingIfNeeded: extent),
            next: UInt32(truncatingIfNeeded: count + 1), bits: bits)
        count += 1
    }

    @inline(__always)
    private mutating func countValue() {
        if container != Self.none { tokens[Int(container)].extent &+= 1 }
    }

    @inline(__always)
    private mutating func scalar(_ kind: Token.Kind, start: Int, end: Int, flagged: Bool) {
        countValue()
        append(kind, start: start, extent: end, flagged: flagged)
    }
}

extension Tape: ScanEvents {
    @inline(__always)
    mutating func key(start: Int, end: Int, hasEscapes: Bool) {
        append(.key, start: start, extent: end, flagged: hasEscapes)
    }

    @inline(__always)
    mutating func string(start: Int, end: Int, hasEscapes: Bool) {
        scalar(.string, start: start, end: end, flagged: hasEscapes)
    }

    @inline(__always)
    mutating func number(start: Int, end: Int, isInteger: Bool) {
        scalar(.number, start: start, end: end, flagged: isInteger)
    }

    @inline(__always)
    mutating func bool(_ value: Bool, start: Int) {
        scalar(.bool, start: start, end: start + (value ? 4 : 5), flagged: value)
    }

    @inline(__always)
    mutating func null(start: Int) {
        scalar(.null, start: start, end: start + 4, flagged: false)
    }

    @inline(__always)
    mutating func open(isObject: Bool, at position: Int) {
        countValue()
        let index = UInt32(truncatingIfNeeded: count)
        append(isObject ? .object : .array, start: position, extent: 0, flagged: false)
        tokens[Int(index)].next = container
        container = index
    }

    @inline(__always)
    mutating func close(isObject: Bool, at position: Int) {
        let closed = Int(container)
        container = tokens[closed].next
        tokens[closed].next = UInt32(truncatingIfNeeded: count)
    }
}
