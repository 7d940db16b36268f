public import Tree

/// A tree in memory for rules to look at: what a simulation or a test runs on.
public final class NodeData: RuleData, Sendable {
    private let root: Node

    /// The tree as seen from its root.
    public init(_ root: Node) { self.root = root }

    private func node(at key: PathKey) -> Node {
        var node = root
        var start = 0
        let row = key.bytes.span
        while let end = PathKey.segmentEnd(row, from: start) {
            guard case .children = node.content else { return .empty }
            node = node.child(PathKey.decodeSegment(row, start..<end))
            start = end
        }
        return node
    }

    public func leaf(at key: PathKey) -> Leaf? { node(at: key).leaf }
    public func exists(at key: PathKey) -> Bool { !node(at: key).isEmpty }
    public func priority(at key: PathKey) -> Priority? { node(at: key).priority }

    public func hasChildren(at key: PathKey) -> Bool {
        if case .children = node(at: key).content { true } else { false }
    }
}
