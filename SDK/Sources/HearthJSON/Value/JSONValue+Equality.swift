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
