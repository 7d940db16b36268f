import HearthJSON
import Tree

/// A value during evaluation.
enum RuleValue {
    case null
    case boolean(Bool)
    case number(Double)
    /// An integer beyond the precision of doubles. Compared exactly; converted to a double for arithmetic.
    case integer(Int64)
    case string(String)
    /// An object or array of `auth`.
    case json(JSONValue)
    /// A node with children, whose contents are not read.
    case object

    /// The kind of a value, for error messages.
    enum Kind: UInt8 {
        case null, boolean, number, string, object
    }

    var kind: Kind {
        switch self {
        case .null: .null
        case .boolean: .boolean
        case .number, .integer: .number
        case .string: .string
        case .json, .object: .object
        }
    }

    @inline(__always)
    init(_ leaf: Leaf) {
        switch leaf {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self.init(value)
        case .double(let value): self = .number(value)
        case .string(let text): self = .string(text)
        }
    }

    init(_ value: Int64) { self = Int64(exactly: Double(value)) == value ? .number(Double(value)) : .integer(value) }

    init(_ value: JSONValue?) {
        switch value {
        case nil, .null: self = .null
        case .bool(let value): self = .boolean(value)
        case .int(let value): self.init(value)
        case .uint(let value): self = .number(Double(value))
        case .double(let value): self = .number(value)
        case .string(let text): self = .string(text)
        case .array?, .object?: self = value.map { .json($0) } ?? .null
        }
    }

    init(_ priority: Priority?) {
        switch priority {
        case nil: self = .null
        case .number(let value): self = .number(value)
        case .string(let text): self = .string(text)
        }
    }

    init(_ value: IndexValue) {
        switch value {
        case .null: self = .null
        case .false: self = .boolean(false)
        case .true: self = .boolean(true)
        case .number(let value): self = .number(value)
        case .string(let text): self = .string(text)
        case .object: self = .object
        }
    }

    /// The number as a double.
    var number: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// `==` of the language: values of different types differ, and an object differs from everything.
    static func areEqual(_ left: RuleValue, _ right: RuleValue) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): TextOrder.equal(left, right)
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        default: false
        }
    }

    /// The text that `+` appends to a string; nil for values that cannot be appended.
    var joined: String? {
        switch self {
        case .string(let text): text
        case .integer(let value): String(value)
        case .number(let value):
            if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
                String(whole)
            } else if value.isFinite {
                JSONValue.double(value).description
            } else {
                value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
            }
        default: nil
        }
    }
}
