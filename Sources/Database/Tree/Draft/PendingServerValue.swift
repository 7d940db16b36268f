/// A value that the server computes (spec database 2.7).
public enum PendingServerValue: Sendable, Hashable {
    /// The time of the request in milliseconds since 1970.
    case timestamp
    /// The stored value plus a number.
    case increment(Leaf)

    /// Parses the value of `.sv`; nil if it is unknown.
    init?(_ node: Node) {
        switch node.content {
        case .leaf(.string("timestamp")): self = .timestamp
        case .children(let children):
            guard children.count == 1, children[0].key == "increment", children[0].node.priority == nil,
                let delta = children[0].node.leaf, delta.number != nil
            else { return nil }
            self = .increment(delta)
        default: return nil
        }
    }

    /// The value at the time `now`, with `existing` as the stored value. Integers are added exactly if the sum fits 64 bits, otherwise as
    /// doubles; sums out of range are clamped.
    public func resolved(now: Int64, existing: Leaf?) -> Leaf {
        switch self {
        case .timestamp: return .integer(now)
        case .increment(let delta):
            if case .integer(let one) = existing, case .integer(let other) = delta {
                let (sum, overflow) = one.addingReportingOverflow(other)
                if !overflow { return .integer(sum) }
            }
            guard let base = existing?.number else { return delta }
            let sum = base + (delta.number ?? 0)
            if sum.isFinite { return .number(sum) }
            return .double(sum < 0 ? -Double.greatestFiniteMagnitude : Double.greatestFiniteMagnitude)
        }
    }

    /// The placeholder in a draft.
    var placeholder: Leaf {
        switch self {
        case .timestamp: .integer(0)
        case .increment(let delta): delta
        }
    }
}

/// The members of an object that are not children (spec database 1.3, 2.7).
struct VirtualMembers {
    enum Name {
        case value, priority, serverValue
    }

    fileprivate var value: Node?
    private var priority: Priority?
    private var isTimestampPriority = false
    fileprivate var serverValue: PendingServerValue?
    private var hasPriority = false

    mutating func set(priority draft: Draft) throws(NodeError) {
        guard draft.isPriority else { throw NodeError(kind: .badPriority) }
        hasPriority = true
        isTimestampPriority = !draft.serverValues.isEmpty
        priority = draft.node.leaf.flatMap { Priority($0) }
    }

    /// The node of these members and `children`. `hasChildren` tells whether there were any before nulls were left out.
    func node(children: [Node.Child], hasChildren: Bool, parser: inout DraftParser) throws(NodeError) -> Node {
        var node: Node
        if let serverValue {
            guard !hasChildren, value == nil, !hasPriority else { throw NodeError(kind: .badServerValue) }
            let leaf = serverValue.placeholder
            parser.found.append(DraftParser.Found(keys: [], value: serverValue, owner: 0))
            parser.count(leaf)
            return Node(leaf)
        } else if let value {
            guard !hasChildren || value.isEmpty else { throw NodeError(kind: .mixedValue) }
            node = value.isEmpty ? Node(sorted: children) : value
        } else {
            node = Node(sorted: children)
        }
        guard hasPriority, !node.isEmpty else { return node }
        node.priority = priority
        if isTimestampPriority { parser.found.append(DraftParser.Found(keys: [], value: nil, owner: 0)) }
        return node
    }
}

extension DraftParser {
    /// Parses the value of a virtual member of an object at `depth`.
    mutating func member(
        _ name: VirtualMembers.Name, of members: inout VirtualMembers, depth: Int, foundBefore: Int, hasChildren: Bool
    ) throws(NodeError) {
        switch name {
        case .value:
            // A second `.value` replaces the first, including its server values.
            if let replaced = members.value {
                guard !hasChildren || replaced.isEmpty else { throw NodeError(kind: .mixedValue) }
                if !hasChildren { found.removeSubrange(foundBefore...) }
                hasDuplicates = true
            }
            let value = try value(depth: depth)
            guard !hasChildren || value.isEmpty else { throw NodeError(kind: .mixedValue) }
            members.value = value
        case .priority:
            let isList = peek() == UInt8(ascii: "[")
            let draft = try aside(depth: depth)
            guard !isList else { throw NodeError(kind: .badPriority) }
            try members.set(priority: draft)
        case .serverValue:
            let draft = try aside(depth: depth)
            guard draft.isResolved, draft.node.priority == nil, let value = PendingServerValue(draft.node) else {
                throw NodeError(kind: .badServerValue)
            }
            members.serverValue = value
        }
    }
}
