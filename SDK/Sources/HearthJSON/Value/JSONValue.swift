/// Any JSON value as a tree.
///
/// Numbers are as exact as in the text: a whole number of up to 64 bits loses nothing. Two numbers are equal when they are the same number,
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

extension JSONValue: Hashable {
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.string(let left), .string(let right)): ExactText(left) == ExactText(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.uint(let left), .uint(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        // Integers compare by value across types; a double equals an integer that it holds exactly.
        case (.int(let left), .uint(let right)), (.uint(let right), .int(let left)): left == right
        case (.double(let left), .int(let right)), (.int(let right), .double(let left)): Int64(exactly: left) == right
        case (.double(let left), .uint(let right)), (.uint(let right), .double(let left)): UInt64(exactly: left) == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .string(let value): hasher.combine(ExactText(value))
        case .array(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .uint(let value): Self.hash(value, into: &hasher)
        case .double(let value):
            if let whole = Int64(exactly: value) {
                hasher.combine(whole)
            } else if let whole = UInt64(exactly: value) {
                hasher.combine(whole)
            } else {
                hasher.combine(value)
            }
        }
    }

    private static func hash(_ value: UInt64, into hasher: inout Hasher) {
        if let small = Int64(exactly: value) { hasher.combine(small) } else { hasher.combine(value) }
    }
}

/// Text that is equal only to the same code points, as JSON has it; `String` takes canonically equivalent ones as equal.
struct ExactText: Hashable {
    let text: String

    @inline(__always)
    init(_ text: String) { self.text = text }

    static func == (left: ExactText, right: ExactText) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count else { return false }
        let equal = left.text.utf8.withContiguousStorageIfAvailable { left in
            right.text.utf8.withContiguousStorageIfAvailable { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return Word.equal(first, second, count: left.count)
            }
        }
        return (equal ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8.max)
    }
}

extension JSONValue: Codable {
    /// Takes any value of a decoder. The decoder of this module hands the tree over without this call.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: JSONKey.self) {
            var members = JSONObject(minimumCapacity: container.allKeys.count)
            for key in container.allKeys { members[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
            self = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .int(value) }
        if let value = try? container.decode(UInt64.self) { return .uint(value) }
        if let value = try? container.decode(Double.self) { return .double(value) }
        return .string(try container.decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let members):
            var container = encoder.container(keyedBy: JSONKey.self)
            for member in members { try container.encode(member.value, forKey: JSONKey(member.key)) }
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(in: &container)
        }
    }

    private func encodeScalar(in container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        default: try container.encodeNil()
        }
    }
}

extension JSONObject: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        guard let members = value.object else {
            throw DecodingError.typeMismatch(
                Self.self, DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "Expected an object."))
        }
        self = members
    }

    public func encode(to encoder: any Encoder) throws { try JSONValue.object(self).encode(to: encoder) }
}
