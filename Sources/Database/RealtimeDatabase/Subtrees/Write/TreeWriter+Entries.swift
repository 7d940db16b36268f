import Rules
import Store
import Tree

extension TreeWriter {
    func putEntry(_ id: UInt32, _ child: [UInt8], parentCount: Int, _ value: IndexValue) throws(StoreError) {
        let entry = IndexEntry.key(IndexEntry.prefix(id, child[..<parentCount]), value, segment: child[parentCount...])
        if !state.deadEntries.isEmpty { try revive(entry, in: .index) }
        let value = IndexEntry.value(segmentCount: child.count - parentCount)
        try store.put(entry, value.span, in: .index)
    }

    func deleteEntry(_ id: UInt32, _ child: [UInt8], parentCount: Int, _ value: IndexValue) throws(StoreError) {
        let entry = IndexEntry.key(IndexEntry.prefix(id, child[..<parentCount]), value, segment: child[parentCount...])
        try store.delete(entry, in: .index)
    }

    /// Deletes the entries of all descendants of a place.
    func deleteEntries(below place: PlaceKey, newRows: Int) throws(StoreError) {
        if state.hasPriorities {
            try deleteAll(IndexEntry.subtree(TreeIndex.priorities, place.bytes), in: .index, newRows: newRows)
        }
        for group in groups(below: place) {
            for index in group.indexes {
                try deleteAll(IndexEntry.subtree(index.id, place.bytes), in: .index, newRows: newRows)
            }
        }
    }

    /// Adds the entries of all descendants of a place, after `node` was written.
    func putEntries(below place: PlaceKey, _ node: Node) throws(StoreError) {
        guard case .children = node.content else { return }
        for group in groups(below: place) {
            var key = PathKey(bytes: place.bytes)
            try putEntries(of: group, at: &key, depth: place.depth, node)
        }
    }

    private func groups(below place: PlaceKey) -> [IndexTable.Group] {
        state.indexes.groups.filter { $0.segments.count >= place.depth && $0.matches(place, count: place.depth) }
    }

    private func putEntries(of group: IndexTable.Group, at key: inout PathKey, depth: Int, _ node: Node) throws(StoreError) {
        let count = key.bytes.count
        guard depth == group.pattern.count else {
            let name = group.pattern[depth]
            let children = IndexDeclaration.isWildcard(name) ? node.children : [Node.Child(key: name, node: node.child(name))]
            for child in children {
                key.append(child.key)
                try putEntries(of: group, at: &key, depth: depth + 1, child.node)
                key.bytes.removeLast(key.bytes.count - count)
            }
            return
        }
        for child in node.children {
            key.append(child.key)
            for index in group.indexes {
                try putEntry(index.id, key.bytes, parentCount: count, IndexValue(child.node.at(index.declaration.path)))
            }
            key.bytes.removeLast(key.bytes.count - count)
        }
    }
}
