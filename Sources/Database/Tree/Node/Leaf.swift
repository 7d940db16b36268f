public import HearthBytes
public import HearthJSON

/// A value without children.
///
/// A number that a 64-bit integer holds exactly is always an integer: use `number(_:)` to convert a double. Numbers are equal by value, so
/// that `0` and `-0` differ only in their hash.
public enum Leaf: Sendable {
    case boolean(Bool)
    case integer(Int64)
    /// A finite number with a fraction or beyond 64 bits, or `-0`.
    case double(Double)
    case string(String)

    /// A finite number.
    public static func number(_ value: Double) -> Leaf {
        if let whole = Int64(exactly: value), whole != 0 || value.sign == .plus { return .integer(whole) }
        return .double(value)
    }

    /// The nearest double of a number; nil for other leaves.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The text of a string; nil for other leaves.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of a boolean; nil for other leaves.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The size of the value: bytes of a string in UTF-8, 8 for a number, 1 for a boolean.
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
    /// Appends the canonical JSON text of the leaf, which rows store and answers copy.
    public func write(to buffer: inout ByteBuffer) {
        switch self {
        case .boolean(let value): buffer.append(value ? "true" : "false")
        case .integer(let value): buffer.append(decimal: Int(value))
        case .double(let value):
            if value == 0 { return buffer.append(value.sign == .minus ? "-0" : "0") }
            let start = buffer.count
            buffer.append(jsonNumber: value)
            // Clients in Java take digits alone for an integer of 64 bits, and fail on a larger one (spec database 10.2).
            if value.magnitude >= 0x1p63, buffer.bytes.extracting(start..<buffer.count).isDigits { buffer.append(".0") }
        case .string(let text): buffer.append(jsonString: text)
        }
    }

    /// Parses a leaf from JSON text; nil unless it is a boolean, a number or a string.
    public init?(json: Span<UInt8>) {
        guard json.count > 0 else { return nil }
        let leaf = json.withUnsafeBufferPointer { Self.quick($0) } ?? (try? JSONValue(parsing: json)).flatMap { Leaf($0) }
        guard let leaf else { return nil }
        self = leaf
    }

    /// Converts a boolean, a number or a string; nil for other values.
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

    /// The JSON value. Integers and doubles keep their kind.
    public var json: JSONValue {
        switch self {
        case .boolean(let value): .bool(value)
        case .integer(let value): .int(value)
        case .double(let value): .double(value)
        case .string(let text): .string(text)
        }
    }

    /// Fast path for common forms: integers of up to 18 digits, strings without escapes, booleans.
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

/// Integers of up to 18 digits, which cannot overflow.
enum ShortInteger {
    /// The number; nil for other numbers, `-0`, and other text.
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

/// The sort value of a node in the default order (spec database 1.3). Numbers are compared as doubles.
public enum Priority: Sendable {
    /// A finite number.
    case number(Double)
    case string(String)

    /// Converts a number or a string; nil for a boolean.
    public init?(_ leaf: Leaf) {
        switch leaf {
        case .boolean: return nil
        case .integer(let value): self = .number(Double(value))
        case .double(let value): self = .number(value)
        case .string(let text): self = .string(text)
        }
    }

    /// The priority as a leaf.
    public var leaf: Leaf {
        switch self {
        case .number(let value): .number(value)
        case .string(let text): .string(text)
        }
    }

    /// The priority as JSON.
    public var json: JSONValue { leaf.json }

    /// Appends the canonical JSON text of the priority.
    public func write(to buffer: inout ByteBuffer) { leaf.write(to: &buffer) }

    /// Parses a priority that `write(to:)` wrote; nil for other text.
    public init?(json: Span<UInt8>) {
        guard let leaf = Leaf(json: json) else { return nil }
        self.init(leaf)
    }
}

extension Priority: Hashable {
    public static func == (left: Priority, right: Priority) -> Bool { left.leaf == right.leaf }

    public func hash(into hasher: inout Hasher) { hasher.combine(leaf) }
}

extension Span<UInt8> {
    /// Whether it is an integer, with or without a sign.
    fileprivate var isDigits: Bool {
        for index in 0..<count where !(48...57).contains(self[index]) && self[index] != UInt8(ascii: "-") { return false }
        return true
    }
}
