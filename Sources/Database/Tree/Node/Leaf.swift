public import HearthBytes
public import HearthJSON

/// A value without children.
///
/// A number that a 64-bit integer holds exactly is an integer, however it was written: use `number(_:)` to make one of a
/// double. Two numbers are equal when they are the same number, so that `0` and `-0` differ only in their hash.
public enum Leaf: Sendable {
    case boolean(Bool)
    case integer(Int64)
    /// A finite number with a fraction, or beyond 64 bits, or `-0`.
    case double(Double)
    case string(String)

    /// The number `value`, which is finite.
    public static func number(_ value: Double) -> Leaf {
        if let whole = Int64(exactly: value), whole != 0 || value.sign == .plus { return .integer(whole) }
        return .double(value)
    }

    /// The nearest double of a number; nil for anything else.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The text of a string; nil for anything else.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// A boolean's value; nil for anything else.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// How many bytes the value takes: those of a string's UTF-8, eight of a number, one of a boolean.
    public var sizeBytes: Int {
        switch self {
        case .boolean: 1
        case .integer, .double: 8
        case .string(let text): text.utf8.count
        }
    }
}

extension Leaf: Hashable {
    public static func == (left: Leaf, right: Leaf) -> Bool {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.integer(let whole), .double(let value)), (.double(let value), .integer(let whole)): Int64(exactly: value) == whole
        case (.string(let left), .string(let right)): TextOrder.equal(left, right)
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value):
            if let whole = Int64(exactly: value) { hasher.combine(whole) } else { hasher.combine(value) }
        case .string(let text): TextOrder.hash(text, into: &hasher)
        }
    }
}

extension Leaf {
    /// Appends the leaf's one JSON text: what rows hold and what answers copy.
    public func write(to buffer: inout ByteBuffer) {
        switch self {
        case .boolean(let value): buffer.append(value ? "true" : "false")
        case .integer(let value): buffer.append(decimal: Int(value))
        case .double(let value):
            if value == 0 { buffer.append(value.sign == .minus ? "-0" : "0") } else { buffer.append(jsonNumber: value) }
        case .string(let text): buffer.append(jsonString: text)
        }
    }

    /// Reads a leaf that `write(to:)` wrote, or any other JSON text of a boolean, a number or a string; nil for anything else.
    public init?(json: Span<UInt8>) {
        guard json.count > 0 else { return nil }
        let leaf = json.withUnsafeBufferPointer { Self.quick($0) } ?? (try? JSONValue(parsing: json)).flatMap { Leaf($0) }
        guard let leaf else { return nil }
        self = leaf
    }

    /// Takes the value when it is a boolean, a number or a string.
    public init?(_ value: JSONValue) {
        switch value {
        case .bool(let value): self = .boolean(value)
        case .int(let value): self = .integer(value)
        case .uint(let value): self = .double(Double(value))
        case .double(let value):
            guard value.isFinite else { return nil }
            self = .number(value)
        case .string(let text): self = .string(text)
        default: return nil
        }
    }

    /// The value as JSON has it; numbers stay whole or doubles as they are.
    public var json: JSONValue {
        switch self {
        case .boolean(let value): .bool(value)
        case .integer(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let text): .string(text)
        }
    }

    /// The common forms: whole numbers of up to 18 digits, strings without escapes, booleans.
    private static func quick(_ text: UnsafeBufferPointer<UInt8>) -> Leaf? {
        switch text[0] {
        case UInt8(ascii: "\""):
            guard text.count >= 2, text[text.count - 1] == UInt8(ascii: "\"") else { return nil }
            let inner = UnsafeBufferPointer(rebasing: text[1..<text.count - 1])
            for byte in inner where byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") || byte < 0x20 { return nil }
            return UTF8Text.string(inner).map { .string($0) }
        case UInt8(ascii: "t"): return text.elementsEqual("true".utf8) ? .boolean(true) : nil
        case UInt8(ascii: "f"): return text.elementsEqual("false".utf8) ? .boolean(false) : nil
        default: return ShortInteger.value(text).map { .integer($0) }
        }
    }
}

/// Whole numbers of up to 18 digits, which cannot overflow.
enum ShortInteger {
    /// The number that `text` is; nil when it is another number, `-0`, or none.
    @inline(__always)
    static func value(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard let base = text.baseAddress, text.count > 0 else { return nil }
        let isNegative = base[0] == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        let digits = text.count - start
        guard digits > 0, digits <= 18, digits == 1 || base[start] != UInt8(ascii: "0") else { return nil }
        var magnitude: Int64 = 0
        var index = start
        while index < text.count {
            let digit = base[index] &- UInt8(ascii: "0")
            if digit > 9 { return nil }
            magnitude = magnitude &* 10 &+ Int64(digit)
            index += 1
        }
        if isNegative, magnitude == 0 { return nil }
        return isNegative ? -magnitude : magnitude
    }
}

/// What a node is sorted by in the default order, when it has one (spec database 1.3). Numbers are compared as doubles.
public enum Priority: Sendable {
    /// A finite number.
    case number(Double)
    case string(String)

    /// Takes a number or a string; nil for a boolean, which no priority is.
    public init?(_ leaf: Leaf) {
        switch leaf {
        case .boolean: return nil
        case .integer(let value): self = .number(Double(value))
        case .double(let value): self = .number(value)
        case .string(let text): self = .string(text)
        }
    }

    /// The same number or string as a value.
    public var leaf: Leaf {
        switch self {
        case .number(let value): .number(value)
        case .string(let text): .string(text)
        }
    }

    /// The number or string as JSON has it.
    public var json: JSONValue { leaf.json }

    /// Appends the priority's one JSON text: what rows hold and what answers copy.
    public func write(to buffer: inout ByteBuffer) { leaf.write(to: &buffer) }

    /// Reads a priority that `write(to:)` wrote; nil for anything that is no priority.
    public init?(json: Span<UInt8>) {
        guard let leaf = Leaf(json: json) else { return nil }
        self.init(leaf)
    }
}

extension Priority: Hashable {
    public static func == (left: Priority, right: Priority) -> Bool { left.leaf == right.leaf }

    public func hash(into hasher: inout Hasher) { hasher.combine(leaf) }
}
