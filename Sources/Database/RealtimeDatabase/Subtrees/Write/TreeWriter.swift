import HearthBytes
public import Tree

/// Changes the tree in the rows of a store, inside of its transactions.
///
/// Keeps the rules of spec database 1.1 and every index, touches the rows of what is written and few others: a leaf on the way is found by
/// one seek backward, whether an ancestor is left empty by one forward. A big subtree is not deleted but declared dead, which
/// takes no longer than a small one; `sweep` removes its rows later.
///
/// Knows something of what is stored. After a transaction is rolled back a new one is needed.
public final class TreeWriter {
    let store: any OrderedStore
    let state: TreeState
    let limits: TreeWriterLimits
    var scratch = ByteBuffer()

    /// Reads what the store knows of indexes and of rows to sweep.
    /// || - Throws: `StoreError` where the store cannot be read, or holds what is not ours.
    public convenience init(_ store: any OrderedStore) throws(StoreError) {
        try self.init(store, limits: TreeWriterLimits())
    }

    init(_ store: any OrderedStore, limits: TreeWriterLimits) throws(StoreError) {
        self.store = store
        self.limits = limits
        state = try TreeState(store)
    }

    /// Whether there are rows to sweep or indexes to build.
    var hasUpkeep: Bool { !state.deadRows.isEmpty || !state.deadEntries.isEmpty || state.indexes.indexes.contains { !$0.isReady } }

    /// Reads the tree as it is now, with what the transaction has changed.
    public var reader: TreeReader { TreeReader(store, state: state) }

    // MARK: Writing

    /// Puts `node` in the place of what is at `path`; an empty one deletes.
    public func set(_ node: Node, at path: Path) throws(StoreError) { try set(node, at: path.key) }

    /// Puts `node` in the place of what is at `key`; an empty one deletes.
    public func set(_ node: Node, at key: PathKey) throws(StoreError) {
        let place = PlaceKey(key)
        let found = try find(place)
        if node.isEmpty {
            if found.kind != .nothing { try remove(place, found) }
        } else {
            try replace(place, found, with: node)
        }
    }

    /// Changes nothing but the priority of the node at `path`, and nothing at all where there is none.
    public func setPriority(_ priority: Priority?, at path: Path) throws(StoreError) {
        let place = PlaceKey(path.key)
        let found = try find(place)
        guard found.kind != .nothing else { return }
        try setPriority(priority, at: place, old: found.priority)
    }

    private func replace(_ place: PlaceKey, _ found: Found, with node: Node) throws(StoreError) {
        let changes = try entryChanges(at: place, found, node)
        var key = PathKey(bytes: place.bytes)
        switch found.kind {
        case .nothing: try clearLeaf(above: place)
        case .leaf: if node.leaf == nil { try delete(place.bytes) }
        case .children: try deleteBelow(place, newRows: node.leafCount)
        }
        try setPriority(node.priority, at: place, old: found.priority)
        switch node.content {
        case .leaf(let leaf): try put(leaf, at: key.bytes)
        case .children(let children): for child in children { try put(child, to: &key) }
        case .empty: break
        }
        try putEntries(below: place, node)
        try apply(changes, at: place, survivingDepth: place.depth)
    }

    private func remove(_ place: PlaceKey, _ found: Found) throws(StoreError) {
        let changes = try entryChanges(at: place, found, .empty)
        if found.kind == .leaf { try delete(place.bytes) } else { try deleteBelow(place, newRows: 0) }
        try setPriority(nil, at: place, old: found.priority)
        let survivingDepth = try clearEmpty(above: place)
        try apply(changes, at: place, survivingDepth: survivingDepth)
    }

    // MARK: Rows

    private func put(_ child: Node.Child, to key: inout PathKey) throws(StoreError) {
        let parentCount = key.bytes.count
        key.append(child.key)
        let count = key.bytes.count
        if let priority = child.node.priority { try put(priority, at: key.bytes, parentCount: parentCount) }
        switch child.node.content {
        case .leaf(let leaf): try put(leaf, at: key.bytes)
        case .children(let children): for child in children { try put(child, to: &key) }
        case .empty: break
        }
        key.bytes.removeLast(count - parentCount)
    }

    private func put(_ leaf: Leaf, at key: [UInt8]) throws(StoreError) {
        scratch.clear(keepingAtMost: 1 << 20)
        leaf.write(to: &scratch)
        try put(key, scratch)
    }

    private func put(_ row: [UInt8], _ text: borrowing ByteBuffer) throws(StoreError) {
        if !state.deadRows.isEmpty { try revive(row, in: .tree) }
        try store.put(row, text.bytes, in: .tree)
    }

    private func delete(_ key: [UInt8]) throws(StoreError) { try store.delete(key, in: .tree) }

    /// Deletes the children of a node and their entries.
    private func deleteBelow(_ place: PlaceKey, newRows: Int) throws(StoreError) {
        let end = place.bytes + [0xFF]
        try deleteAll(KeyRange(lower: PathKey(bytes: place.bytes).firstChild, upper: end), in: .tree, newRows: newRows)
        try deleteEntries(below: place, newRows: newRows)
    }

    // MARK: Priorities

    private func setPriority(_ priority: Priority?, at place: PlaceKey, old: Priority?) throws(StoreError) {
        guard priority != old else { return }
        let parentCount = place.depth == 0 ? nil : place.end(place.depth - 1)
        if let old { try deletePriority(old, at: place.bytes, parentCount: parentCount, keepingRow: priority != nil) }
        if let priority { try put(priority, at: place.bytes, parentCount: parentCount) }
    }

    /// - Parameter parentCount: the length of the parent's key; nil for the root, which nobody sorts.
    private func put(_ priority: Priority, at key: [UInt8], parentCount: Int?) throws(StoreError) {
        if !state.hasPriorities {
            state.hasPriorities = true
            try store.put(StateKey.hasPriorities.bytes, StateKey.bytes(1).span, in: .meta)
            try didChangeState()
        }
        scratch.clear(keepingAtMost: 1 << 20)
        priority.write(to: &scratch)
        try put(PathKey(bytes: key).priorityRow, scratch)
        if let parentCount { try putEntry(TreeIndex.priorities, key, parentCount: parentCount, IndexValue(priority)) }
    }

    private func deletePriority(_ priority: Priority, at key: [UInt8], parentCount: Int?, keepingRow: Bool) throws(StoreError) {
        if !keepingRow { try delete(PathKey(bytes: key).priorityRow) }
        if let parentCount { try deleteEntry(TreeIndex.priorities, key, parentCount: parentCount, IndexValue(priority)) }
    }

    // MARK: Ancestors

    /// Deletes the leaf above a place where nothing is, if there is one; its priority stays.
    ///
    /// Nothing can be between that leaf and the place but the leaf's priority.
    private func clearLeaf(above place: PlaceKey) throws(StoreError) {
        var ancestor: Int?
        try reader.scan(.tree, from: [], to: place.bytes.isEmpty ? [0] : place.bytes, reversed: true) { row, _ in
            for depth in 0..<place.depth where row.count == place.end(depth) || row.count == place.end(depth) + 1 {
                let end = place.end(depth)
                guard ByteOrder.compare(row.extracting(first: end), place.bytes.span.extracting(first: end)) == 0 else { continue }
                if row.count == end { ancestor = depth } else if row[end] == PathKey.priorityMark { return .next }
            }
            return .stop
        }
        if let ancestor { try delete(place.prefix(ancestor)) }
    }

    /// Deletes the priorities of ancestors that have nothing left below them.
    ///
    /// - Returns: how many segments the deepest node on the way has that is still there; -1 when the whole tree is empty.
    private func clearEmpty(above place: PlaceKey) throws(StoreError) -> Int {
        var depth = place.depth - 1
        while depth >= 0 {
            let key = PathKey(bytes: place.prefix(depth))
            if try reader.hasChildren(at: key) { return depth }
            if let priority = try reader.priority(at: key) {
                let parentCount = depth == 0 ? nil : place.end(depth - 1)
                try deletePriority(priority, at: key.bytes, parentCount: parentCount, keepingRow: false)
            }
            depth -= 1
        }
        return -1
    }
}

/// From where on work is put off.
struct TreeWriterLimits {
    /// A subtree of more rows than this, and than four times those that take their place, is declared dead.
    var deletedRowsMax = 1000
    /// So many dead rows on each side of one that is written are removed with it, so that ranges do not crumble.
    var clearedRows = 8
    /// With more dead ranges than this, who writes into one sweeps.
    var deadRangesMax = 1024
    /// How many rows such a writer sweeps.
    var sweptRows = 500
}
