/// The sort value of a child (spec database 1.4): nothing, false, true, numbers, strings by UTF-16 code units, objects. All objects are
/// equal.
public enum IndexValue: Sendable {
    case null
    case `false`
    case `true`
    /// Numbers are compared as doubles.
    case number(Double)
    case string(String)
    /// A node with children.
    case object

    /// The sort value for a node: the child itself, or the node at the query's path.
    public init(_ node: Node) {
        switch node.content {
        case .empty: self = .null
        case .leaf(let leaf): self.init(leaf)
        case .children: self = .object
        }
    }

    /// The sort value for a leaf.
    public init(_ leaf: Leaf) {
        switch leaf {
        case .boolean(let value): self = value ? .true : .false
        case .integer(let value): self = .number(Double(value))
        case .double(let value): self = .number(value)
        case .string(let text): self = .string(text)
        }
    }

    /// The sort value for a priority.
    public init(_ priority: Priority?) {
        switch priority {
        case nil: self = .null
        case .number(let value): self = .number(value)
        case .string(let text): self = .string(text)
        }
    }

    private var rank: Int {
        switch self {
        case .null: 1
        case .false: 2
        case .true: 3
        case .number: 4
        case .string: 5
        case .object: 6
        }
    }

    /// Appends bytes that sort as the values do. No encoding is a prefix of another, so that more bytes may follow.
    ///
    /// The rank; then a number's eight bytes, or a string's UTF-8 as in a `PathKey` with `00` and `01` written as `01 01` and `01 02`, and
    /// `00` at the end.
    public func encode(into bytes: inout [UInt8]) {
        bytes.append(UInt8(rank))
        switch self {
        case .number(let value): Self.append(value, to: &bytes)
        case .string(let text):
            var text = text
            text.withUTF8 { Self.append($0, to: &bytes) }
        default: break
        }
    }

    /// Appends a double in sortable form: the bits of negative numbers are inverted; both zeros are equal.
    private static func append(_ value: Double, to bytes: inout [UInt8]) {
        let bits = (value == 0 ? 0 : value).bitPattern
        let ordered = bits >> 63 == 1 ? ~bits : bits | 1 << 63
        for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: ordered >> shift)) }
    }

    private static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + text.count + 1)
        for byte in text {
            if byte <= 1 {
                bytes.append(1)
                bytes.append(byte + 1)
            } else {
                bytes.append(UTF16Order.lifted(byte))
            }
        }
        bytes.append(0)
    }

    /// The end of the value that `encode(into:)` wrote at `start`; nil if there is none.
    public static func encodedEnd(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        guard start < bytes.count else { return nil }
        switch bytes[start] {
        case 1, 2, 3, 6: return start + 1
        case 4: return start + 9 <= bytes.count ? start + 9 : nil
        case 5:
            var index = start + 1
            while index < bytes.count {
                if bytes[index] == 0 { return index + 1 }
                index += 1
            }
            return nil
        default: return nil
        }
    }
}

extension IndexValue: Comparable {
    public static func == (left: IndexValue, right: IndexValue) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): TextOrder.equal(left, right)
        default: left.rank == right.rank
        }
    }

    public static func < (left: IndexValue, right: IndexValue) -> Bool { left.compared(to: right) < 0 }

    /// Negative, zero or positive if this value sorts before, with or after `other`.
    func compared(to other: IndexValue) -> Int {
        switch (self, other) {
        case (.number(let left), .number(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.string(let left), .string(let right)): TextOrder.withBytes(left, right) { TextOrder.compareUTF16($0, $1) }
        default: rank - other.rank
        }
    }
}

extension IndexValue: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        switch self {
        case .number(let value): hasher.combine(value)
        case .string(let text): TextOrder.hash(text, into: &hasher)
        default: break
        }
    }
}
