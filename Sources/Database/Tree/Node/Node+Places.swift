extension Node {
    /// The child under `key`; empty when there is none.
    public func child(_ key: String) -> Node {
        guard case .children(let children) = content else { return .empty }
        let place = ChildList.find(key, in: children)
        return place.isFound ? children[place.position].node : .empty
    }

    /// The node at `path` below this one; empty when there is none.
    public func at(_ path: Path) -> Node {
        var node = self
        for segment in path.segments {
            guard case .children = node.content else { return .empty }
            node = node.child(segment)
        }
        return node
    }

    /// This node with `node` written at `path` (spec database 1.1).
    ///
    /// A leaf on the path becomes a node with children and keeps its priority. Nodes that lose their last child vanish with their priority.
    /// Writing an empty node where there is nothing changes nothing.
    public func setting(_ node: Node, at path: Path) -> Node {
        var changed = self
        changed.set(node, at: path)
        return changed
    }

    /// This node with another priority at `path`; unchanged if there is no node at `path`.
    public func settingPriority(_ priority: Priority?, at path: Path) -> Node {
        var node = at(path)
        if node.isEmpty { return self }
        node.priority = priority
        return setting(node, at: path)
    }
}

/// Operations on children sorted by key.
enum ChildList {
    private static let linearMax = 8

    /// `children` in key order; of equal keys, the last remains.
    static func sorted(_ children: [Node.Child]) -> [Node.Child] {
        isSorted(children) ? children : positions(children).map { children[$0] }
    }

    /// The indices of `children` in key order; of equal keys, the last counts.
    static func positions(_ children: [Node.Child]) -> [Int] {
        var indices = Array(children.indices)
        indices.sort { left, right in
            let order = KeyOrder.compare(children[left].key, children[right].key)
            return order == 0 ? left < right : order < 0
        }
        var result: [Int] = []
        result.reserveCapacity(indices.count)
        for index in indices {
            if let last = result.last, TextOrder.equal(children[last].key, children[index].key) { result.removeLast() }
            result.append(index)
        }
        return result
    }

    private static func isSorted(_ children: [Node.Child]) -> Bool {
        var index = 1
        while index < children.count {
            if KeyOrder.compare(children[index - 1].key, children[index].key) >= 0 { return false }
            index += 1
        }
        return true
    }

    /// The index of the child `key`, or the index to insert it at.
    static func find(_ key: String, in children: [Node.Child]) -> (position: Int, isFound: Bool) {
        if children.count <= linearMax, let position = children.firstIndex(where: { TextOrder.equal($0.key, key) }) {
            return (position, true)
        }
        var low = 0
        var high = children.count
        while low < high {
            let middle = (low + high) / 2
            let order = KeyOrder.compare(children[middle].key, key)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }
}
