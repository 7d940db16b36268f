public import HearthBytes
public import HearthJSON

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
