import Rules
import Tree

/// The tree as it will be after a write: the new values laid over what is stored. Nothing is read but what is asked for.
struct StagedTree: RuleData {
    fileprivate struct Layer {
        var key: PathKey
        var node: Node
    }

    private let stored: StoredTree
    /// In the order of the tree.
    private let layers: [Layer]
    /// How many of the layers up to each one write something; empty for a single one.
    private let written: [Int]
    /// Nodes that get another priority and are as they were otherwise.
    private let priorities: [PathKey: Priority?]
    /// Nil where nothing is deleted.
    private let memory: Memory?

    /// What became of nodes below which something is deleted: rules ask that for each of many changes.
    private final class Memory {
        var keepsChild: [PathKey: Bool] = [:]
    }

    private static let pageMax = 256

    /// - Parameter changes: no path of them is at or below another.
    init(_ stored: StoredTree, changes: [ResolvedChange]) {
        self.stored = stored
        var layers: [Layer] = []
        layers.reserveCapacity(changes.count)
        var priorities: [PathKey: Priority?] = [:]
        for change in changes {
            if change.isPriorityOnly {
                priorities[change.key] = .some(change.node.priority)
            } else {
                layers.append(Layer(key: change.key, node: change.node))
            }
        }
        if layers.count > 1 { layers.sort { ByteOrder.precedes($0.key.bytes, $1.key.bytes) } }
        self.layers = layers
        self.priorities = priorities
        var count = 0
        written = layers.count == 1 ? [] : layers.map { layer in
            count += layer.node.isEmpty ? 0 : 1
            return count
        }
        memory = layers.contains { $0.node.isEmpty } ? Memory() : nil
    }

    func leaf(at key: PathKey) -> Leaf? {
        switch place(of: key) {
        case .written(let node):
            if case .leaf(let leaf) = node.content { return leaf }
            return nil
        case .above(let layers): return isWritten(layers) ? nil : stored.leaf(at: key)
        case .apart: return stored.leaf(at: key)
        }
    }

    func exists(at key: PathKey) -> Bool {
        switch place(of: key) {
        case .written(let node): !node.isEmpty
        case .above(let layers): isWritten(layers) || stored.leaf(at: key) != nil || keepsChild(key, layers)
        case .apart: stored.exists(at: key)
        }
    }

    func hasChildren(at key: PathKey) -> Bool {
        switch place(of: key) {
        case .written(let node):
            if case .children = node.content { return true }
            return false
        case .above(let layers): return isWritten(layers) || keepsChild(key, layers)
        case .apart: return stored.hasChildren(at: key)
        }
    }

    func priority(at key: PathKey) -> Priority? {
        if !priorities.isEmpty, let priority = priorities[key] { return exists(at: key) ? priority : nil }
        switch place(of: key) {
        case .written(let node): return node.priority
        case .above: return exists(at: key) ? stored.priority(at: key) : nil
        case .apart: return stored.priority(at: key)
        }
    }

    // MARK: Where a key lies

    private enum Place {
        /// At or below a written path: this is the node.
        case written(Node)
        /// Above the written paths of these layers.
        case above(Range<Int>)
        case apart
    }

    private func place(of key: PathKey) -> Place {
        // No layer is above another, so that one which holds the key is the key's own or the last before it.
        let next = layers.firstPosition { ByteOrder.precedes($0.key.bytes, key.bytes) }
        if next < layers.count, layers[next].isAtOrBelow(key) {
            if layers[next].key == key { return .written(layers[next].node) }
            return .above(next..<layers[next...].firstPosition { $0.isAtOrBelow(key) })
        }
        if next > 0, let node = layers[next - 1].node(at: key) { return .written(node) }
        return .apart
    }

    private func isWritten(_ range: Range<Int>) -> Bool {
        if written.isEmpty { return !layers[0].node.isEmpty }
        return written[range.upperBound - 1] > (range.lowerBound > 0 ? written[range.lowerBound - 1] : 0)
    }

    /// Whether a stored child of `key` is still there after the layers of `range`, all of which delete something below it.
    private func keepsChild(_ key: PathKey, _ range: Range<Int>) -> Bool {
        if let known = memory?.keepsChild[key] { return known }
        // A page is longer than what the layers can delete of the children, where that is not much: then the first one decides.
        let keepsChild = findsChild(of: key, pageSize: min(range.count + 1, Self.pageMax))
        memory?.keepsChild[key] = keepsChild
        return keepsChild
    }

    private func findsChild(of key: PathKey, pageSize: Int) -> Bool {
        var after: String?
        while true {
            let names = stored.childKeys(at: key, after: after, limit: pageSize)
            for name in names where exists(at: key.appending(name)) { return true }
            guard names.count == pageSize else { return false }
            after = names.last
        }
    }
}

extension StagedTree.Layer {
    fileprivate func isAtOrBelow(_ place: PathKey) -> Bool {
        let row = key.bytes
        return place.contains(row: row.span)
    }

    /// The node at `key`, where that is at or below this layer's path.
    fileprivate func node(at key: PathKey) -> Node? {
        let row = key.bytes
        guard self.key.contains(row: row.span) else { return nil }
        var node = node
        var offset = self.key.bytes.count
        while let end = PathKey.segmentEnd(row.span, from: offset) {
            node = node.child(PathKey.decodeSegment(row.span, offset..<end))
            offset = end
        }
        return node
    }
}
