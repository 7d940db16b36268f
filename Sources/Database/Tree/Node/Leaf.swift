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
