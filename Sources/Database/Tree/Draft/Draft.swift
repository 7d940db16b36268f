/// The body of a write: a node, and the server values to resolve in it.
public struct Draft: Sendable {
    /// The value, with a number as placeholder for each server value.
    public var node: Node
    /// The server values, by path relative to the body. Each path occurs once.
    public var serverValues: [(path: Path, value: PendingServerValue)]
    /// Nodes whose priority is the server time.
    public var timestampPriorities: [Path]
    /// The bytes of all leaves, as `Leaf.sizeBytes` counts them.
    public var leafBytes: Int
    /// The number of leaves, including server values.
    public var leafCount: Int

    /// Estimated memory of the draft.
    public var heldBytes: Int { leafBytes + leafCount * Node.leafOverheadBytes }

    /// A draft without server values.
    public init(_ node: Node) {
        self.node = node
        serverValues = []
        timestampPriorities = []
        leafBytes = node.leafBytes
        leafCount = node.leafCount
    }

    init(node: Node, found: [DraftParser.Found], leafBytes: Int, leafCount: Int) {
        self.node = node
        self.leafBytes = leafBytes
        self.leafCount = leafCount
        serverValues = []
        timestampPriorities = []
        for place in found {
            let path = Path(place.keys.reversed())
            if let value = place.value { serverValues.append((path, value)) } else { timestampPriorities.append(path) }
        }
    }

    /// Parses a body in one pass. Arrays become children under their indices; nulls and empty objects are left out; `.value`, `.priority`
    /// and `.sv` are understood.
    public init(parsing text: Span<UInt8>, limits: DraftLimits = DraftLimits()) throws(NodeError) {
        self = try text.withUnsafeBufferPointer { (text) throws(NodeError) -> Draft in
            var parser = try DraftParser(text, limits: limits)
            let node = try parser.value(depth: limits.depthAbove)
            try parser.end()
            return parser.draft(of: node)
        }
    }

    /// Parses the body of a write to a node's `.priority`. The draft's node is empty, a number, a string, or the server time.
    public init(parsingPriority text: Span<UInt8>, limits: DraftLimits = DraftLimits()) throws(NodeError) {
        try self.init(parsing: text, limits: limits)
        guard isPriority else { throw NodeError(kind: .badPriority) }
    }

    /// Whether the draft is a valid priority.
    var isPriority: Bool {
        guard node.priority == nil else { return false }
        switch node.content {
        case .empty: return true
        case .leaf(let leaf): return Priority(leaf) != nil && serverValues.allSatisfy { $0.value == .timestamp }
        case .children: return false
        }
    }

    /// Whether there are no server values, so that `node` is the value to write.
    public var isResolved: Bool { serverValues.isEmpty && timestampPriorities.isEmpty }

    /// Whether the value to write depends on stored values (increments).
    public var readsStored: Bool { serverValues.contains { $0.value != .timestamp } }

    /// The value to write at the time `now`. `existing` returns the leaf at a path below the draft's location, as it was before the write.
    public func resolved<Failure: Error>(now: Int64, existing: (Path) throws(Failure) -> Leaf?) throws(Failure) -> Node {
        if isResolved { return node }
        var node = node
        for (path, value) in serverValues {
            let leaf = value.resolved(now: now, existing: value == .timestamp ? nil : try existing(path))
            node.update(at: path) { $0 = Node(leaf, priority: $0.priority) }
        }
        for path in timestampPriorities { node.update(at: path) { $0.priority = .number(Double(now)) } }
        return node
    }
}

/// Size limits for written values (spec database 1.1).
public struct DraftLimits: Sendable, Hashable {
    /// Bytes of a string in UTF-8.
    public var stringBytesMax = 10 * 1024 * 1024
    /// Bytes of a key in UTF-8.
    public var keyBytesMax = Path.keyBytesMax
    /// Levels of the tree, counted from the root.
    public var depthMax = Path.depthMax
    /// Values in the text, including containers and omitted values: each takes memory, however short its text.
    public var nodesMax = Int.max
    /// The depth of the location that the body is written to.
    public var depthAbove = 0

    /// The limits for a body at the root.
    public init() {}

    /// The limits for a body at a path with `depthAbove` keys.
    public init(depthAbove: Int) { self.depthAbove = depthAbove }
}
