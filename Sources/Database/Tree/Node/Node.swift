/// A value of the tree in memory: nothing, a leaf, or children; with an optional priority.
///
/// Children are in key order, have unique names and are never empty. An empty node has no priority (spec database 1.1).
public struct Node: Sendable {
    /// The contents of a node without its priority.
    public enum Content: Sendable, Hashable {
        case empty
        case leaf(Leaf)
        /// At least one child, in key order.
        case children([Child])
    }

    /// A member of a node.
    public struct Child: Sendable {
        /// Its name, a valid key.
        public let key: String
        /// Its value; not empty where the child is part of a node.
        public var node: Node

        /// A child under a valid key.
        public init(key: String, node: Node) {
            self.key = key
            self.node = node
        }
    }

    /// Private setter: every change keeps the order of the children.
    public private(set) var content: Content
    /// Always nil for an empty node.
    public var priority: Priority? {
        didSet { if case .empty = content { priority = nil } }
    }

    /// The empty node, JSON null.
    public static let empty = Node()

    private init() {
        content = .empty
        priority = nil
    }

    /// A leaf.
    public init(_ leaf: Leaf, priority: Priority? = nil) {
        content = .leaf(leaf)
        self.priority = priority
    }

    /// A node of sorted, unique children; empty ones are left out.
    public init(sorted children: [Child], priority: Priority? = nil) {
        let isAnyEmpty = children.contains { $0.node.isEmpty }
        self.init(full: isAnyEmpty ? children.filter { !$0.node.isEmpty } : children, priority: priority)
    }

    /// A node of sorted, unique children of which none is empty.
    init(full children: [Child], priority: Priority?) {
        content = children.isEmpty ? .empty : .children(children)
        self.priority = children.isEmpty ? nil : priority
    }

    /// A node of children in any order; of equal names the last counts, and empty ones are left out.
    public init(unsorted children: [Child], priority: Priority? = nil) {
        self.init(sorted: ChildList.sorted(children), priority: priority)
    }

    /// Whether the node is empty (JSON null).
    public var isEmpty: Bool {
        if case .empty = content { true } else { false }
    }

    /// The value; nil for an empty node and for one with children.
    public var leaf: Leaf? {
        if case .leaf(let leaf) = content { leaf } else { nil }
    }

    /// The children in key order; none for a leaf.
    public var children: [Child] {
        if case .children(let children) = content { children } else { [] }
    }

    /// The number of leaves below.
    public var leafCount: Int {
        switch content {
        case .empty: 0
        case .leaf: 1
        case .children(let children): children.reduce(0) { $0 + $1.node.leafCount }
        }
    }

    /// The bytes of all leaves, as `Leaf.sizeBytes` counts them.
    public var leafBytes: Int {
        switch content {
        case .empty: 0
        case .leaf(let leaf): leaf.sizeBytes
        case .children(let children): children.reduce(0) { $0 + $1.node.leafBytes }
        }
    }

    /// Estimated memory of one leaf besides its bytes: key and share of its containers.
    public static let leafOverheadBytes = 72
    /// Estimated memory of the node.
    public var heldBytes: Int { leafBytes + leafCount * Self.leafOverheadBytes }

    /// The number of levels below this one.
    public var depth: Int {
        guard case .children(let children) = content else { return 0 }
        return children.reduce(0) { max($0, $1.node.depth) } + 1
    }
}

extension Node {
    /// Writes `node` at `path` in place, as ``setting(_:at:)`` does. Only shared storage is copied, so that a series of writes costs no
    /// more than each write alone.
    public mutating func set(_ node: Node, at path: Path) { set(node, at: path.segments[...]) }

    private mutating func set(_ node: Node, at path: ArraySlice<String>) {
        guard let key = path.first else { return self = node }
        var children = children
        let place = ChildList.find(key, in: children)
        guard place.isFound else {
            let child = Node.empty.setting(node, at: Path(Array(path.dropFirst())))
            guard !child.isEmpty else { return }
            content = .empty
            children.insert(Child(key: key, node: child), at: place.position)
            content = .children(children)
            return
        }
        // Makes this function the array's only owner, so that changing one child does not copy the others.
        content = .empty
        children[place.position].node.set(node, at: path.dropFirst())
        if children[place.position].node.isEmpty { children.remove(at: place.position) }
        self = Node(full: children, priority: priority)
    }

    /// Changes the node at `path` in place if it exists; `body` must not empty it.
    mutating func update(at path: Path, _ body: (inout Node) -> Void) { update(at: path.segments[...], body) }

    private mutating func update(at path: ArraySlice<String>, _ body: (inout Node) -> Void) {
        guard let key = path.first else { return body(&self) }
        guard case .children(var children) = content else { return }
        content = .empty
        let place = ChildList.find(key, in: children)
        if place.isFound { children[place.position].node.update(at: path.dropFirst(), body) }
        content = .children(children)
    }
}

extension Node: Hashable {}

extension Node.Child: Hashable {
    public static func == (left: Node.Child, right: Node.Child) -> Bool {
        TextOrder.equal(left.key, right.key) && left.node == right.node
    }

    public func hash(into hasher: inout Hasher) {
        TextOrder.hash(key, into: &hasher)
        hasher.combine(node)
    }
}
