extension Node {
    /// The child under `key`; empty when there is none.
    public func child(_ key: String) -> Node {
        guard case .children(let children) = content else { return .empty }
        let place = ChildOrder.find(key, in: children)
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
    public func setting(_ node: Node, at path: Path) -> Node { setting(node, at: path.segments[...]) }

    /// This node with another priority at `path`; nothing changes where there is no node.
    public func settingPriority(_ priority: Priority?, at path: Path) -> Node {
        var node = at(path)
        if node.isEmpty { return self }
        node.priority = priority
        return setting(node, at: path)
    }

    private func setting(_ node: Node, at path: ArraySlice<String>) -> Node {
        guard let key = path.first else { return node }
        var children = self.children
        let place = ChildOrder.find(key, in: children)
        let child = (place.isFound ? children[place.position].node : .empty).setting(node, at: path.dropFirst())
        switch (place.isFound, child.isEmpty) {
        case (false, true): return self
        case (false, false): children.insert(Child(key: key, node: child), at: place.position)
        case (true, true): children.remove(at: place.position)
        case (true, false): children[place.position].node = child
        }
        return Node(full: children, priority: priority)
    }
}
