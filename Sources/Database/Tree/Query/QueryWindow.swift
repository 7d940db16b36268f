/// The children that a query with a range or limit selects, kept up to date while their node changes.
///
/// Keeps some children beyond the limit, so that a child that leaves can be replaced without reading. A change costs what it touches, however many
/// children the node has.
public struct QueryWindow: Sendable {
    /// A new node below the query's node.
    public typealias Member = (path: Path, node: Node)

    private struct Row {
        var key: String
        var value: IndexValue
        var node: Node
        /// The memory of the row, by estimate.
        var bytes: Int
    }

    private let query: Query
    private let limit: Int
    /// The number of children beyond the limit after filling. Twice as many are kept.
    private let spares: Int
    /// The known children within the range, in the order of the query.
    private var rows: [Row] = []
    /// The sort values of the known children, by key.
    private var values: [Path: IndexValue] = [:]
    /// Whether there are no other children within the range. If there are, they are beyond the end that is farther from the limit's anchor.
    private var isComplete = true
    /// Changes that have not been returned, because the result is not known.
    private var unsent = Touched()
    /// The memory of the known children, in bytes, by estimate.
    public private(set) var heldBytes = 0

    /// A changed child of at most so many bytes is reported as a whole, a larger one by the change in it.
    private static let wholeBytesMax = 1024

    /// A window without children.
    public init(_ query: Query) {
        self.query = query
        limit = max(0, min(query.limit ?? .max, .max / 4))
        spares = min(max(query.limit ?? 0, 8), 64)
    }

    /// The query with which the window is filled. It selects some children beyond the limit.
    public var filling: Query {
        var filling = query
        if query.limit != nil { filling.limit = limit + spares }
        return filling
    }

    /// The selected children.
    public var result: Node { Node(unsorted: rows[visible].map { Node.Child(key: $0.key, node: $0.node) }) }

    /// The positions of the selected children.
    private var visible: Range<Int> {
        query.anchorsLast ? max(0, rows.count - limit)..<rows.count : 0..<min(limit, rows.count)
    }

    // MARK: Replacing

    /// Replaces the children by those that ``filling`` selects.
    ///
    /// - Returns: the changes of the result, as for ``apply(_:)``.
    public mutating func fill(_ node: Node) -> [Member] {
        let rows = rows(of: unlimited.ordered(node))
        return replace(by: rows, isComplete: query.limit == nil || rows.count < limit + spares)
    }

    private mutating func set(_ node: Node) -> [Member] {
        var children = unlimited.ordered(node)
        let excess = max(0, children.count - limit - 2 * spares)
        if query.anchorsLast { children.removeFirst(excess) } else { children.removeLast(excess) }
        return replace(by: rows(of: children), isComplete: excess == 0)
    }

    private var unlimited: Query {
        var unlimited = query
        unlimited.limit = nil
        return unlimited
    }

    private func rows(of children: [Node.Child]) -> [Row] { children.map { row($0.key, $0.node) } }

    private func row(_ key: String, _ node: Node) -> Row {
        Row(key: key, value: query.indexValue(of: Node.Child(key: key, node: node)), node: node, bytes: 160 + 2 * key.utf8.count + node.heldBytes)
    }

    private mutating func replace(by next: [Row], isComplete: Bool) -> [Member] {
        // The nodes that the receivers of changes have; nil if they may be others.
        var old: [Path: Node?] = [:]
        for row in rows[visible] { old[Path([row.key])] = .some(row.node) }
        for (key, wasVisible) in unsent.order { old[Path([key])] = wasVisible ? .some(nil) : nil }
        var order = rows[visible].map(\.key) + unsent.order.map(\.key)
        unsent = Touched()
        rows = next
        self.isComplete = isComplete
        heldBytes = rows.reduce(0) { $0 + $1.bytes }
        values = Dictionary(rows.map { (Path([$0.key]), $0.value) }, uniquingKeysWith: { $1 })
        var entering: [Member] = []
        for row in rows[visible] {
            let path = Path([row.key])
            if let known = old.removeValue(forKey: path), known == row.node { continue }
            entering.append((path, row.node))
        }
        order.removeAll { old.removeValue(forKey: Path([$0])) == nil }
        return members(leaving: order.map { Path([$0]) }, entering)
    }

    private func members(leaving: [Path], _ others: [Member]) -> [Member] {
        // The end of the whole result is one change.
        if !leaving.isEmpty, visible.isEmpty { return [(.root, .empty)] }
        return leaving.map { ($0, .empty) } + others
    }

    // MARK: Changing

    /// Applies new nodes at paths from the query's node on, of which none is at or below another one.
    ///
    /// - Returns: the changes of the result, in the order for clients: children that leave come first, so that a client never has more children
    ///   than the limit. Nil if children may have entered whose values are not known: the window must be filled again.
    public mutating func apply(_ writes: [Member]) -> [Member]? {
        if let first = writes.first, first.path.isRoot { return set(first.node) }
        for write in writes {
            guard apply(write.node, at: write.path) else { return nil }
        }
        guard isComplete || rows.count >= limit else { return nil }
        trim()
        let changes = changes(unsent)
        unsent = Touched()
        return changes
    }

    /// The children whose place in the result changes may have altered.
    private struct Touched {
        private(set) var order: [(key: String, wasVisible: Bool)] = []
        private var known: Set<Path> = []
        /// The changed place in each written child: the root for several places.
        private(set) var places: [Path: Path] = [:]

        mutating func note(_ key: String, wasVisible: Bool) {
            if known.insert(Path([key])).inserted { order.append((key, wasVisible)) }
        }

        mutating func write(_ child: Path, _ rest: Path) { places[child] = places[child] == nil ? rest : .root }
    }

    /// - Returns: false if the child may be among the known ones from now on, and its value is not known.
    private mutating func apply(_ node: Node, at path: Path) -> Bool {
        let key = path.segments[0]
        let child = Path([key])
        let rest = Path(Array(path.segments.dropFirst()))
        let position = values[child].flatMap { index(of: key, $0) }
        if position == nil, !rest.isRoot, query.order != .key {
            note(key, nil)
            return !mayEnter(key, node, at: rest)
        }
        note(key, position)
        unsent.write(child, rest)
        guard let position else {
            // Below a child that was not known, by key: all of the range are known, so it is new or outside.
            insert(row(key, Node.empty.setting(node, at: rest)))
            return true
        }
        let old = rows[position]
        let next = rest.isRoot ? node : old.node.setting(node, at: rest)
        guard !next.isEmpty else {
            remove(at: position)
            return true
        }
        let value = query.indexValue(of: Node.Child(key: key, node: next))
        let bytes = rest.isRoot ? row(key, next).bytes : old.bytes - old.node.at(rest).heldBytes + node.heldBytes
        if value == old.value {
            rows[position].node = next
            rows[position].bytes = bytes
            heldBytes += bytes - old.bytes
        } else {
            remove(at: position)
            insert(Row(key: key, value: value, node: next, bytes: bytes))
        }
        return true
    }

    /// Notes the places of a child, and of the two at the limit, before a change: the change may move one of these across it.
    private mutating func note(_ key: String, _ position: Int?) {
        let visible = visible
        unsent.note(key, wasVisible: position.map { visible.contains($0) } ?? false)
        guard query.limit != nil else { return }
        let edge = query.anchorsLast ? visible.lowerBound : visible.upperBound
        for neighbour in [edge - 1, edge] where rows.indices.contains(neighbour) {
            unsent.note(rows[neighbour].key, wasVisible: visible.contains(neighbour))
        }
    }

    /// Whether a child that is not known may be among the known ones after a write below it.
    private func mayEnter(_ key: String, _ node: Node, at rest: Path) -> Bool {
        let value: IndexValue
        switch query.order {
        case .key: return false
        case .value:
            if node.isEmpty { return false }
            value = .object
        case .priority:
            // A child that exists keeps its priority, and so its place.
            if node.isEmpty { return false }
            value = .null
        case .child(let path):
            if let below = path.relative(to: rest) {
                value = IndexValue(node.at(below))
            } else if path.contains(rest) {
                value = node.isEmpty ? .null : .object
            } else {
                if node.isEmpty { return false }
                value = .null
            }
        }
        return query.contains(key: key, value: value) && isKnown(key, value)
    }

    /// Whether a child at this place would be among the known ones.
    private func isKnown(_ key: String, _ value: IndexValue) -> Bool {
        if isComplete { return true }
        guard let first = rows.first, let last = rows.last else { return false }
        return query.anchorsLast ? compare(key, value, first) > 0 : compare(key, value, last) < 0
    }

    private mutating func insert(_ row: Row) {
        guard !row.node.isEmpty, query.contains(key: row.key, value: row.value), isKnown(row.key, row.value) else { return }
        values[Path([row.key])] = row.value
        heldBytes += row.bytes
        rows.insert(row, at: place(of: row.key, row.value))
    }

    private mutating func remove(at position: Int) {
        let row = rows.remove(at: position)
        values[Path([row.key])] = nil
        heldBytes -= row.bytes
    }

    /// Forgets children that are far beyond the limit.
    private mutating func trim() {
        while rows.count > limit + 2 * spares {
            isComplete = false
            remove(at: query.anchorsLast ? 0 : rows.count - 1)
        }
    }

    private func changes(_ touched: Touched) -> [Member] {
        let visible = visible
        var leaving: [Path] = []
        var entering: [Member] = []
        for (key, wasVisible) in touched.order {
            let child = Path([key])
            guard let position = values[child].flatMap({ index(of: key, $0) }), visible.contains(position) else {
                if wasVisible { leaving.append(child) }
                continue
            }
            if !wasVisible {
                entering.append((child, rows[position].node))
            } else if let place = touched.places[child] {
                let rest = rows[position].bytes <= Self.wholeBytesMax ? .root : place
                entering.append((child.appending(rest), rows[position].node.at(rest)))
            }
        }
        return members(leaving: leaving, entering)
    }

    // MARK: Order

    /// The position of a known child.
    private func index(of key: String, _ value: IndexValue) -> Int? {
        let place = place(of: key, value)
        return place < rows.count && compare(key, value, rows[place]) == 0 ? place : nil
    }

    /// The position of the first known child that does not sort before this one.
    private func place(of key: String, _ value: IndexValue) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if compare(key, value, rows[middle]) > 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func compare(_ key: String, _ value: IndexValue, _ row: Row) -> Int {
        if case .key = query.order { return KeyOrder.compare(key, row.key) }
        let order = value.compared(to: row.value)
        return order == 0 ? KeyOrder.compare(key, row.key) : order
    }
}
