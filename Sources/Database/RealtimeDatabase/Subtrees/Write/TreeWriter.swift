import HearthBytes
public import Store
public import Tree

/// Changes the tree in the rows of a store, within its transactions.
///
/// Maintains the rules of spec database 1.1 and all indexes. Accesses few rows in addition to the written ones: one backward seek finds a leaf
/// among the ancestors, and one forward seek shows whether an ancestor is empty. A large subtree is not deleted but declared dead, in constant
/// time; `sweep` removes its rows later.
///
/// Caches some of the stored state, so a new one must be created after a rollback.
public final class TreeWriter {
    let store: any OrderedStore
    let state: TreeState
    let limits: TreeWriterLimits
    var scratch = ByteBuffer()

    /// Reads the stored indexes and the rows to sweep.
    ///
    /// - Throws: `StoreError` if the store cannot be read, or if its data is invalid.
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

    /// Reads the tree with the changes of the current transaction.
    public var reader: TreeReader { TreeReader(store, state: state) }

    // MARK: Writing

    /// Replaces the node at `path`. An empty `node` deletes it.
    public func set(_ node: Node, at path: Path) throws(StoreError) { try set(node, at: path.key) }

    /// Replaces the node at `key`. An empty `node` deletes it.
    public func set(_ node: Node, at key: PathKey) throws(StoreError) {
        let place = PlaceKey(key)
        let found = try find(place)
        if node.isEmpty {
            if found.kind != .nothing { try remove(place, found) }
        } else {
            try replace(place, found, with: node)
        }
    }

    /// Changes only the priority of the node at `path`. Does nothing if the node does not exist.
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

    /// - Parameter parentCount: the length of the parent's key; nil for the root, which is not sorted.
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

    /// Deletes the leaf among the ancestors of a nonexistent place, if there is one, but keeps its priority.
    ///
    /// Only the leaf's priority can be between that leaf and the place.
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

    /// Deletes the priorities of ancestors that have become empty.
    ///
    /// - Returns: the number of segments of the deepest existing node on the path; -1 if the whole tree is empty.
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

/// The limits at which work is postponed.
struct TreeWriterLimits {
    /// A subtree with more rows than this, and more than four times the new rows, is declared dead.
    var deletedRowsMax = 1000
    /// The number of dead rows that are removed on each side of a written row, so that ranges are not split into many small ones.
    var clearedRows = 8
    /// The number of dead ranges above which a write into one of them sweeps rows.
    var deadRangesMax = 1024
    /// The number of rows that such a write sweeps.
    var sweptRows = 500
}
