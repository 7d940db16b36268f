import Tree

/// A tree as a flat table: what stands at each path that has a leaf, and the priorities beside it.
struct LeafTable: Equatable {
    var leaves: [Path: Leaf] = [:]
    var priorities: [Path: Priority] = [:]

    init() {}

    init(_ node: Node) { add(node, at: .root) }

    private mutating func add(_ node: Node, at path: Path) {
        if let leaf = node.leaf { leaves[path] = leaf }
        if let priority = node.priority { priorities[path] = priority }
        for child in node.children { add(child.node, at: path.appending(child.key)) }
    }

    private func exists(_ path: Path) -> Bool { leaves.keys.contains { path.contains($0) } }

    mutating func set(_ priority: Priority?, at path: Path) {
        if exists(path) { priorities[path] = priority }
    }

    mutating func set(_ node: Node, at path: Path) {
        if node.isEmpty, !exists(path) { return }
        leaves = leaves.filter { !path.contains($0.key) }
        priorities = priorities.filter { !path.contains($0.key) }
        if !node.isEmpty {
            leaves = leaves.filter { !$0.key.contains(path) }
            add(node, at: path)
        }
        priorities = priorities.filter { exists($0.key) }
    }
}
