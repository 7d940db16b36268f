import Rules
import Store
import Tree

/// The tree as it will be after a write: the new values in front of the stored ones. Reads stored values only on request.
struct StagedTree: RuleData {
    fileprivate struct Layer {
        var key: PathKey
        var node: Node
    }

    private let stored: StoredTree
    /// The written nodes, in the order of the tree.
    private let layers: [Layer]
    /// For each layer, the number of layers up to it that write something; empty for a single layer.
    private let written: [Int]
    /// Nodes of which only the priority changes.
    private let priorities: [PathKey: Priority?]
    /// Nil if nothing is deleted.
    private let memory: Memory?

    /// Caches whether nodes above deleted ones still exist, because rules check this for each of many changes.
    private final class Memory {
        var keepsChild: [PathKey: Bool] = [:]
    }

    private static let pageMax = 256

    /// - Parameter changes: no path may be at or below another one.
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

    func leaf(at key: PathKey) throws(StoreError) -> Leaf? {
        switch place(of: key) {
        case .written(let node):
            if case .leaf(let leaf) = node.content { return leaf }
            return nil
        case .above(let layers): return isWritten(layers) ? nil : try stored.leaf(at: key)
        case .apart: return try stored.leaf(at: key)
        }
    }

    func exists(at key: PathKey) throws(StoreError) -> Bool {
        switch place(of: key) {
        case .written(let node): !node.isEmpty
        case .above(let layers):
            if isWritten(layers) { true } else if try stored.leaf(at: key) != nil { true } else { try keepsChild(key, layers) }
        case .apart: try stored.exists(at: key)
        }
    }

    func hasChildren(at key: PathKey) throws(StoreError) -> Bool {
        switch place(of: key) {
        case .written(let node):
            if case .children = node.content { return true }
            return false
        case .above(let layers): return if isWritten(layers) { true } else { try keepsChild(key, layers) }
        case .apart: return try stored.hasChildren(at: key)
        }
    }

    func priority(at key: PathKey) throws(StoreError) -> Priority? {
        if !priorities.isEmpty, let priority = priorities[key] { return try exists(at: key) ? priority : nil }
        switch place(of: key) {
        case .written(let node): return node.priority
        case .above: return try exists(at: key) ? stored.priority(at: key) : nil
        case .apart: return try stored.priority(at: key)
        }
    }

    // MARK: Finding a key

    private enum Place {
        /// The key is at or below a written path, and this is its node.
        case written(Node)
        /// The key is above the written paths of these layers.
        case above(Range<Int>)
        case apart
    }

    private func place(of key: PathKey) -> Place {
        // No layer is above another one, so the layer that contains the key is that of the key itself, or the last one before it.
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

    /// Whether a stored child of `key` still exists after the layers of `range`, all of which delete nodes below it.
    private func keepsChild(_ key: PathKey, _ range: Range<Int>) throws(StoreError) -> Bool {
        if let known = memory?.keepsChild[key] { return known }
        // If the layers are few, a page has more children than they can delete, so the first page decides.
        let keepsChild = try findsChild(of: key, pageSize: min(range.count + 1, Self.pageMax))
        memory?.keepsChild[key] = keepsChild
        return keepsChild
    }

    private func findsChild(of key: PathKey, pageSize: Int) throws(StoreError) -> Bool {
        var after: String?
        while true {
            let names = try stored.childKeys(at: key, after: after, limit: pageSize)
            for name in names where try exists(at: key.appending(name)) { return true }
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

    /// The node at `key` if the key is at or below this layer's path.
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
