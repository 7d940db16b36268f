import HearthBytes
public import Store
public import Tree

/// Reads the tree from the rows of a store, in the store's current state.
///
/// Positions are found by seeks, and a subtree is a contiguous range of rows, so no other rows are read. Cheap to create and copy. Belongs to
/// the thread of its store.
public struct TreeReader {
    let store: any ReadableStore
    let state: TreeState
    /// Ends scans of many rows; nil if none are expected.
    var scanGuard: ScanGuard?

    init(_ store: any ReadableStore, state: TreeState) {
        self.store = store
        self.state = state
    }

    /// Reads the state of the rows in a snapshot.
    ///
    /// - Parameter previous: a reader of an earlier snapshot of the same namespace, whose state is reused if it has not changed.
    public init(snapshot store: any ReadableStore, previous: TreeReader? = nil) throws(StoreError) {
        self.store = store
        if let previous, try TreeState.version(in: store) == previous.state.version {
            state = previous.state
        } else {
            state = try TreeState(store)
        }
    }

    // MARK: One node

    /// The value of the leaf at `key`; nil if nothing exists there, or if it has children.
    public func leaf(at key: PathKey) throws(StoreError) -> Leaf? { try get(key.bytes) { Leaf(json: $0) } ?? nil }

    /// Appends the JSON of the leaf at `key`. Returns false if there is none, or if it has more than `bytesMax` bytes.
    func appendLeaf(at key: PathKey, atMost bytesMax: Int = .max, to buffer: inout ByteBuffer) throws(StoreError) -> Bool {
        try get(key.bytes) { json in
            guard json.count <= bytesMax else { return false }
            buffer.append(json)
            return true
        } ?? false
    }

    /// The priority of the node at `key`.
    public func priority(at key: PathKey) throws(StoreError) -> Priority? {
        guard state.hasPriorities else { return nil }
        return try get(key.priorityRow) { Priority(json: $0) } ?? nil
    }

    /// Whether there is a leaf or children at `key`.
    public func exists(at key: PathKey) throws(StoreError) -> Bool {
        try hasRows(from: key.bytes, to: key.subtreeEnd)
    }

    /// Whether there are children at `key`.
    public func hasChildren(at key: PathKey) throws(StoreError) -> Bool {
        try hasRows(from: key.firstChild, to: key.subtreeEnd)
    }

    /// The value by which the node at `key` is sorted.
    func indexValue(at key: PathKey) throws(StoreError) -> IndexValue {
        var value = IndexValue.null
        try scan(.tree, from: key.bytes, to: key.subtreeEnd) { row, text in
            if row.count == key.bytes.count {
                if let leaf = Leaf(json: text) { value = IndexValue(leaf) }
            } else {
                value = .object
            }
            return .stop
        }
        return value
    }

    // MARK: Live rows

    /// The value of a row of the tree.
    func get<R>(_ key: [UInt8], _ body: (Span<UInt8>) -> R) throws(StoreError) -> R? {
        state.deadRows.covers(key) ? nil : try store.get(key, in: .tree, body)
    }

    func hasRows(from lower: [UInt8], to upper: [UInt8]) throws(StoreError) -> Bool {
        var isFound = false
        try scan(.tree, from: lower, to: upper) { _, _ in
            isFound = true
            return .stop
        }
        return isFound
    }

    /// Like `ReadableStore.scan`, without dead rows. A dead range costs one seek.
    func scan(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool = false,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) throws(StoreError) {
        guard let scanGuard else { return try scanLive(space, from: lower, to: upper, reversed: reversed, body) }
        try scanLive(space, from: lower, to: upper, reversed: reversed) { key, value in scanGuard.goesOn() ? body(key, value) : .stop }
        if scanGuard.end != nil { throw StoreError(.interrupted, "the scan was ended before it was complete") }
    }

    private func scanLive(
        _ space: Keyspace, from lower: [UInt8], to upper: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> ScanStep
    ) throws(StoreError) {
        let dead = state.dead(in: space)
        if dead.isEmpty { return try store.scan(space, from: lower, to: upper, reversed: reversed, body) }
        try store.scan(space, from: lower, to: upper, reversed: reversed) { key, value in
            guard let index = dead.index(covering: key) else { return body(key, value) }
            let range = dead.ranges[index]
            return .seek(reversed ? range.lower : range.upper)
        }
    }
}

extension PathKey {
    /// The position of the first row of the children, after the rows of the node itself.
    var firstChild: [UInt8] {
        var row = priorityRow
        row[row.count - 1] += 1
        return row
    }
}
