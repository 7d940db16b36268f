import Rules
import Tree

/// The tree as it will be after a write: the new values laid over what is stored. Nothing is read but what is asked for.
struct StagedTree: RuleData {
    fileprivate struct Layer {
        var key: PathKey
        var node: Node
    }

    private let stored: StoredTree
    private let layers: [Layer]

    /// - Parameter changes: no path of them is at or below another.
    init(_ stored: StoredTree, changes: [ResolvedChange]) {
        self.stored = stored
        layers = changes.map { Layer(key: $0.key, node: $0.node) }
    }

    func leaf(at key: PathKey) -> Leaf? {
        switch place(of: key) {
        case .written(let node):
            if case .leaf(let leaf) = node.content { return leaf }
            return nil
        case .above(let layers):
            return layers.contains { !$0.node.isEmpty } ? nil : stored.leaf(at: key)
        case .apart: return stored.leaf(at: key)
        }
    }

    func exists(at key: PathKey) -> Bool {
        switch place(of: key) {
        case .written(let node): return !node.isEmpty
        case .above(let layers):
            return layers.contains { !$0.node.isEmpty } || stored.leaf(at: key) != nil || keepsChild(of: key, layers)
        case .apart: return stored.exists(at: key)
        }
    }

    func hasChildren(at key: PathKey) -> Bool {
        switch place(of: key) {
        case .written(let node):
            if case .children = node.content { return true }
            return false
        case .above(let layers): return layers.contains { !$0.node.isEmpty } || keepsChild(of: key, layers)
        case .apart: return stored.hasChildren(at: key)
        }
    }

    func priority(at key: PathKey) -> Priority? {
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
        /// Above written paths, these.
        case above([Layer])
        case apart
    }

    private func place(of key: PathKey) -> Place {
        var below: [Layer] = []
        for layer in layers {
            if let node = layer.node(at: key) { return .written(node) }
            if layer.key.bytes.starts(with: key.bytes) { below.append(layer) }
        }
        return below.isEmpty ? .apart : .above(below)
    }

    /// Whether a stored child of `key` is still there after `layers`, all of which delete something below it.
    private func keepsChild(of key: PathKey, _ layers: [Layer]) -> Bool {
        var after: String?
        // Each page is longer than the layers can delete whole, so that the first page mostly decides.
        let pageSize = layers.count + 1
        while true {
            let names = stored.childKeys(at: key, after: after, limit: pageSize)
            for name in names where exists(at: key.appending(name)) { return true }
            guard names.count == pageSize else { return false }
            after = names.last
        }
    }
}

extension StagedTree.Layer {
    /// The node at `key`, where that is at or below this layer's path.
    fileprivate func node(at key: PathKey) -> Node? {
        guard key.bytes.starts(with: self.key.bytes) else { return nil }
        var node = node
        var offset = self.key.bytes.count
        while let end = PathKey.segmentEnd(key.bytes.span, from: offset) {
            node = node.child(PathKey.decodeSegment(key.bytes.span, offset..<end))
            offset = end
        }
        return node
    }
}
