/// Any JSON value as a tree.
///
/// Numbers keep what the text said: a whole one up to 64 bits is exact. Two numbers are equal when they are the same number,
/// however they are held: `.int(3) == .double(3)`.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// A whole number above `Int64.max`; a smaller one is an `int`.
    case uint(UInt64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    /// Which of the six sorts of value this is.
    public var kind: JSONKind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .int, .uint, .double: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// Whether this is `null`, which is not the same as an absent member.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// Nil for anything but `true` and `false`: neither numbers nor texts are converted.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number when it is whole and fits `Int`.
    public var int: Int? {
        switch self {
        case .int(let value): Int(exactly: value)
        case .uint(let value): Int(exactly: value)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number as the nearest `Double`.
    public var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// Nil for anything but a string: numbers are not converted.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// Nil for anything but an array.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// Nil for anything but an object.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of that name when this is an object that has one. Setting nil removes it; setting a value in anything that is
    /// not an object replaces the whole by an object of that one member.
    public subscript(name: String) -> JSONValue? {
        get {
            if case .object(let members) = self { members[name] } else { nil }
        }
        set {
            var members = object ?? JSONObject()
            if object == nil, newValue == nil { return }
            // The tree gives up its hold first, so that the members are changed in place.
            self = .null
            members[name] = newValue
            self = .object(members)
        }
    }

    /// The element at that index when this is an array that reaches so far.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// A number: an `int` where it fits, a `uint` above.
    public init<I: BinaryInteger & FixedWidthInteger>(_ value: I) {
        if let value = Int64(exactly: value) {
            self = .int(value)
        } else if let value = UInt64(exactly: value) {
            self = .uint(value)
        } else {
            self = .double(Double(value))
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON.
    public var description: String { String(decoding: serialized(), as: UTF8.self) }
}
