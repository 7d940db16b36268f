/// The reference evaluation, in memory. Tests compare other evaluations with it.
extension Query {
    /// The node with the children that the query selects, without its priority. Empty for a leaf.
    public func evaluate(_ node: Node) -> Node {
        if takesAll { return Node(full: node.children, priority: nil) }
        let taken = ordered(node).map(\.key)
        return Node(unsorted: taken.map { Node.Child(key: $0, node: node.child($0)) })
    }

    /// The selected children, in the order of the query.
    public func ordered(_ node: Node) -> [Node.Child] {
        var children = node.children
        if order != .key {
            // Children are in key order, so a stable sort by value orders ties by key.
            let values = children.map { indexValue(of: $0) }
            let positions = children.indices.sorted { left, right in
                let order = values[left].compared(to: values[right])
                return order == 0 ? left < right : order < 0
            }
            children = positions.map { children[$0] }
        }
        if start != nil || end != nil { children = children.filter { contains(key: $0.key, value: indexValue(of: $0)) } }
        guard let limit, limit < children.count else { return children }
        return Array(anchorsLast ? children.suffix(max(limit, 0)) : children.prefix(max(limit, 0)))
    }

    /// The sort value of `child` in this query.
    public func indexValue(of child: Node.Child) -> IndexValue {
        switch order {
        case .key: .string(child.key)
        case .value: IndexValue(child.node)
        case .priority: IndexValue(child.node.priority)
        case .child(let path): IndexValue(child.node.at(path))
        }
    }

    /// Whether a child with this key and sort value is within the range.
    public func contains(key: String, value: IndexValue) -> Bool {
        if let start {
            let order = compare(key, value, to: start)
            if order < 0 || order == 0 && !start.isInclusive { return false }
        }
        if let end {
            let order = compare(key, value, to: end)
            if order > 0 || order == 0 && !end.isInclusive { return false }
        }
        return true
    }

    /// Negative, zero or positive if the child sorts before, at or after `bound`.
    private func compare(_ key: String, _ value: IndexValue, to bound: Bound) -> Int {
        if case .key = order {
            guard let text = bound.value.keyText else { return 1 }
            return KeyOrder.compare(key, text)
        }
        let byValue = value.compared(to: bound.value)
        if byValue != 0 { return byValue }
        return switch bound.key {
        case .min: 1
        case .max: -1
        case .key(let other): KeyOrder.compare(key, other)
        }
    }
}

extension IndexValue {
    /// The key that a bound in key order means: a string itself, a number or boolean as JSON; nil for null, which sorts before every key.
    public var keyText: String? {
        switch self {
        case .null, .object: nil
        case .false: "false"
        case .true: "true"
        case .number(let value): String(decoding: Node(.number(value)).serialized(), as: UTF8.self)
        case .string(let text): text
        }
    }
}
