public import HearthBytes
import Store
public import Tree

extension TreeReader {
    /// The result of a query at `path`, in memory; empty for a leaf.
    ///
    /// Reads only the result: by key through seeks, by a value or a child through a complete index, by priority through its entries, which
    /// always exist. Without a complete index, all children are read.
    ///
    /// - Parameter bytesMax: the size limit of keys and values. A larger result throws `tooLarge`.
    public func query(_ query: Query, at path: Path, bytesMax: Int = .max) throws(ReadError) -> Node {
        let key = path.key
        return try node(at: key, ranges: try select(query, at: key, bytesMax: bytesMax).ranges, bytesMax: bytesMax)
    }

    /// Appends the JSON of the result of a query at `key`: `null` if there are no children, `{}` if none of them matches.
    public func write(
        _ query: Query, at key: PathKey, form: JSONForm = .value, isPretty: Bool = false, bytesMax: Int = .max, into buffer: inout ByteBuffer
    ) throws(ReadError) {
        let stream = try JSONStream(self, query: query, at: key, form: form, isPretty: isPretty, bytesMax: bytesMax)
        try write(stream, bytesMax: bytesMax, into: &buffer)
    }

    func select(_ query: Query, at key: PathKey, bytesMax: Int) throws(ReadError) -> Selection {
        var room = bytesMax
        let selection: Selection
        do throws(StoreError) {
            selection = try select(query, of: key, room: &room)
        } catch {
            throw .store(error)
        }
        guard room >= 0 else { throw .tooLarge }
        return selection
    }

    /// - Parameter room: the size limit of collected keys. Negative afterwards if it was exceeded.
    private func select(_ query: Query, of key: PathKey, room: inout Int) throws(StoreError) -> Selection {
        guard try hasChildren(at: key) else { return .none }
        if let limit = query.limit, limit <= 0 { return Selection(children: []) }
        if query.takesAll { return Selection(KeyRange(lower: key.firstChild, upper: key.subtreeEnd)) }
        switch query.order {
        case .key: return try selectByKey(query, OrderRange(query).keys(of: key), of: key)
        case .priority: return try selectByPriority(query, of: key, room: &room)
        case .value: return try selectByValue(query, of: key, path: [], room: &room)
        case .child(let path): return try selectByValue(query, of: key, path: path.key.bytes, room: &room)
        }
    }

    // MARK: By key

    /// Selects the first or last children of a range by visiting as many as the limit allows.
    private func selectByKey(_ query: Query, _ range: KeyRange, of key: PathKey) throws(StoreError) -> Selection {
        guard let limit = query.limit, !range.isEmpty else { return Selection(range) }
        var count = 0
        var last: [UInt8] = []
        try children(of: key.bytes, from: range.lower, to: range.upper, reversed: query.anchorsLast) { row, segment in
            count += 1
            if count == limit { last = row.extracting(first: segment.upperBound).array() }
            return count < limit
        }
        guard count == limit else { return Selection(range) }
        return Selection(
            query.anchorsLast ? KeyRange(lower: last, upper: range.upper) : KeyRange(lower: range.lower, upper: last + [0xFF]))
    }

    // MARK: By priority

    /// Children without a priority come first, sorted by key. The others are in the index of priorities.
    private func selectByPriority(_ query: Query, of key: PathKey, room: inout Int) throws(StoreError) -> Selection {
        let prefix = IndexEntry.prefix(TreeIndex.priorities, key.bytes)
        let nulls = OrderRange(query).nulls(of: key)
        guard state.hasPriorities, try hasEntries(prefix) else { return try selectByKey(query, nulls, of: key) }
        var taken: [[UInt8]] = []
        if query.anchorsLast {
            try takeEntries(query, prefix, of: key, &taken, room: &room)
            try takeNulls(query, nulls, of: key, &taken, room: &room)
        } else {
            try takeNulls(query, nulls, of: key, &taken, room: &room)
            try takeEntries(query, prefix, of: key, &taken, room: &room)
        }
        return Selection(children: taken)
    }

    private func hasEntries(_ prefix: [UInt8]) throws(StoreError) -> Bool {
        var isFound = false
        try scan(.index, from: prefix, to: prefix + [IndexEntry.end]) { _, _ in
            isFound = true
            return .stop
        }
        return isFound
    }

    /// Selects children without a priority.
    private func takeNulls(
        _ query: Query, _ range: KeyRange, of key: PathKey, _ taken: inout [[UInt8]], room: inout Int
    ) throws(StoreError) {
        let limit = query.limit ?? .max
        guard taken.count < limit, !range.isEmpty else { return }
        var failure: StoreError?
        try children(of: key.bytes, from: range.lower, to: range.upper, reversed: query.anchorsLast) { row, segment in
            let child = PathKey(bytes: row.extracting(first: segment.upperBound).array())
            do throws(StoreError) {
                if try get(child.priorityRow, { _ in }) != nil { return true }
            } catch {
                failure = error
                return false
            }
            taken.append(child.bytes)
            room -= child.bytes.count
            return taken.count < limit && room >= 0
        }
        if let failure { throw failure }
    }

    // MARK: By value

    private func selectByValue(_ query: Query, of key: PathKey, path: [UInt8], room: inout Int) throws(StoreError) -> Selection {
        var taken: [[UInt8]] = []
        if let index = state.indexes.ready(at: PlaceKey(key), path: path) {
            try takeEntries(query, IndexEntry.prefix(index.id, key.bytes), of: key, &taken, room: &room)
        } else {
            try takeByLooking(query, path, of: key, &taken, room: &room)
        }
        return Selection(children: taken)
    }

    /// Selects the children of a range of entries.
    private func takeEntries(
        _ query: Query, _ prefix: [UInt8], of key: PathKey, _ taken: inout [[UInt8]], room: inout Int
    ) throws(StoreError) {
        let limit = query.limit ?? .max
        let range = OrderRange(query).entries(prefix)
        guard taken.count < limit, !range.isEmpty else { return }
        try scan(.index, from: range.lower, to: range.upper, reversed: query.anchorsLast) { entry, value in
            var child = key.bytes
            entry.extracting(droppingFirst: IndexEntry.segmentStart(entry, value)).withUnsafeBufferPointer { child.append(contentsOf: $0) }
            room -= child.count
            taken.append(child)
            return taken.count < limit && room >= 0 ? .next : .stop
        }
    }

    /// Reads all children, keeping at most twice as many as the limit.
    private func takeByLooking(
        _ query: Query, _ path: [UInt8], of key: PathKey, _ taken: inout [[UInt8]], room: inout Int
    ) throws(StoreError) {
        var window = OrderWindow(OrderRange(query).entries([]), limit: query.limit, anchorsLast: query.anchorsLast)
        var failure: StoreError?
        try children(of: key.bytes, from: key.firstChild, to: key.subtreeEnd) { row, segment in
            let child = row.extracting(first: segment.upperBound).array()
            do throws(StoreError) {
                window.offer(try indexValue(at: PathKey(bytes: child + path)), segment: row.extracting(segment))
            } catch {
                failure = error
            }
            return failure == nil && window.bytes <= room
        }
        if let failure { throw failure }
        room -= window.bytes
        taken = window.segments().map { key.bytes + $0 }
    }
}
