extension Node {
    /// The child under `key`; empty when there is none.
    public func child(_ key: String) -> Node {
        guard case .children(let children) = content else { return .empty }
        let place = ChildList.find(key, in: children)
        return place.isFound ? children[place.position].node : .empty
    }

    /// What is at `path` below this node; empty when nothing is.
    public func at(_ path: Path) -> Node {
        var node = self
        for segment in path.segments {
            guard case .children = node.content else { return .empty }
            node = node.child(segment)
        }
        return node
    }

    /// This node after `node` has been written at `path` below it (spec database 1.1).
    ///
    /// A leaf on the way is replaced and its priority kept. What is left without children vanishes with its priority. Writing
    /// nothing below a leaf or where nothing is changes nothing.
    public func setting(_ node: Node, at path: Path) -> Node {
        var changed = self
        changed.set(node, at: path)
        return changed
    }

    /// This node with another priority at `path`; nothing changes where there is no node.
    public func settingPriority(_ priority: Priority?, at path: Path) -> Node {
        var node = at(path)
        if node.isEmpty { return self }
        node.priority = priority
        return setting(node, at: path)
    }
}
