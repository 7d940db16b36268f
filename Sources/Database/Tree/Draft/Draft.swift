/// The body of a write: a node, and the places in it that wait for the server's values.
public struct Draft: Sendable {
    /// The value; where a server value goes, a number holds the place.
    public var node: Node
    /// Where server values go, paths counted from the body's top. No path is there twice.
    public var serverValues: [(path: Path, value: PendingServerValue)]
    /// Nodes whose priority is the time.
    public var timestampPriorities: [Path]
    /// The bytes of all leaves, as `Leaf.sizeBytes` counts them.
    public var leafBytes: Int
    /// How many leaves there are, server values included.
    public var leafCount: Int

    /// Memory of one leaf besides its bytes: key and share of its containers.
    public static let leafOverheadBytes = 72
    /// About how much memory it takes.
    public var heldBytes: Int { leafBytes + leafCount * Self.leafOverheadBytes }

    /// A value that is known already, so that nothing waits.
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

    /// Reads a body in one pass: JSON whose arrays become children under their indices, whose nulls and empty objects are left
    /// out, and whose `.value`, `.priority` and `.sv` are understood.
    public init(parsing text: Span<UInt8>, limits: DraftLimits = DraftLimits()) throws(NodeError) {
        self = try text.withUnsafeBufferPointer { (text) throws(NodeError) -> Draft in
            var parser = try DraftParser(text, limits: limits)
            let node = try parser.value(depth: limits.depthAbove)
            try parser.end()
            return parser.draft(of: node)
        }
    }

    /// Reads the body of a write to a node's `.priority`: the node of the draft is empty, a number, a string, or the time.
    public init(parsingPriority text: Span<UInt8>, limits: DraftLimits = DraftLimits()) throws(NodeError) {
        try self.init(parsing: text, limits: limits)
        guard isPriority else { throw NodeError(kind: .badPriority) }
    }

    /// Whether the draft holds what a priority may be.
    var isPriority: Bool {
        guard node.priority == nil else { return false }
        switch node.content {
        case .empty: return true
        case .leaf(let leaf): return Priority(leaf) != nil && serverValues.allSatisfy { $0.value == .timestamp }
        case .children: return false
        }
    }

    /// Whether there is nothing to resolve, so that `node` is what will be written.
    public var isResolved: Bool { serverValues.isEmpty && timestampPriorities.isEmpty }

    /// Whether what will be written depends on what is stored: some number is to grow.
    public var readsStored: Bool { serverValues.contains { $0.value != .timestamp } }

    /// What will be written at the time `now`; `existing` tells the leaf that is at a path below the draft's place, before the
    /// write.
    public func resolved(now: Int64, existing: (Path) -> Leaf?) -> Node {
        if isResolved { return node }
        var node = node
        for (path, value) in serverValues {
            let leaf = value.resolved(now: now, existing: value == .timestamp ? nil : existing(path))
            node.update(at: path) { $0 = Node(leaf, priority: $0.priority) }
        }
        for path in timestampPriorities { node.update(at: path) { $0.priority = .number(Double(now)) } }
        return node
    }
}

/// How large a written value may be (spec database 1.1).
public struct DraftLimits: Sendable, Hashable {
    /// The greatest length of a string in UTF-8.
    public var stringBytesMax = 10 * 1024 * 1024
    /// The greatest length of a key in UTF-8.
    public var keyBytesMax = Path.keyBytesMax
    /// The greatest depth of what is written, counted from the root.
    public var depthMax = Path.depthMax
    /// The most values, containers and what is left out included: each takes memory, however short its text.
    public var nodesMax = Int.max
    /// How deep the place is where the body is written: the count of its path.
    public var depthAbove = 0

    /// The limits of a body that is written at the root.
    public init() {}

    /// The limits of a body that is written at a path of so many keys.
    public init(depthAbove: Int) { self.depthAbove = depthAbove }
}
