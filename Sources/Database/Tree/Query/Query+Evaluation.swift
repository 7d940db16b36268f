/// The reference evaluation: plain, in memory, what every other way of answering is held against.
extension Query {
    /// The node that the query leaves of `node`: the children it takes, without the node's priority. Nothing of a leaf.
    public func evaluate(_ node: Node) -> Node {
        if takesAll { return Node(full: node.children, priority: nil) }
        let taken = ordered(node).map(\.key)
        return Node(unsorted: taken.map { Node.Child(key: $0, node: node.child($0)) })
    }

    /// The children that the query takes, in its order.
    public func ordered(_ node: Node) -> [Node.Child] {
        var children = node.children
        if order != .key {
            // Children are in key order, so a stable order of values leaves ties as they should be.
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

    /// What `child` is sorted by in this query.
    public func indexValue(of child: Node.Child) -> IndexValue {
        switch order {
        case .key: .string(child.key)
        case .value: IndexValue(child.node)
        case .priority: IndexValue(child.node.priority)
        case .child(let path): IndexValue(child.node.at(path))
        }
    }

    /// Whether a child under `key` that is sorted by `value` lies within the range.
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

    /// Negative, zero or positive as the child stands to the position of `bound`.
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
    /// The key that a bound of the key order means: a string as it is, a number or boolean as JSON has it; nil, which comes before
    /// every key, for null.
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
