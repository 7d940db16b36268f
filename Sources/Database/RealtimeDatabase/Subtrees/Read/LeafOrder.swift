import HearthBytes
import Tree

/// A node with children that contains the present leaf.
struct LeafLevel {
    /// The key in UTF-8; empty for the node at which the walk began.
    var key: [UInt8]
    /// The number of bytes of the node's key in the position.
    var length: Int
    /// The JSON of the priority that has not been passed on; empty if there is none.
    var priority: [UInt8]
}

/// Receives the leaves of a subtree in the order in which clients compare them.
protocol LeafVisitor: ~Copyable {
    /// A value.
    ///
    /// - Parameters:
    ///   - position: the path from the top node.
    ///   - key: the last key of it; nil for the top node.
    ///   - levels: the nodes above, from the top node on.
    mutating func leaf(
        at position: Span<UInt8>, _ key: Span<UInt8>?, in levels: [LeafLevel], _ value: Span<UInt8>, priority: Span<UInt8>)
    /// The priority of the last one of `levels`, which counts as a child of it.
    mutating func priority(at position: Span<UInt8>, in levels: [LeafLevel], _ json: Span<UInt8>)
    /// The last one of so many levels ends.
    mutating func close(_ count: Int)
    /// Whether it needs no more rows for now.
    var isSatisfied: Bool { get }
}

/// Passes the rows of a subtree on in the order of leaves: as they are stored, but the priority of a node with children has its place among them
/// by its key, `.priority`.
struct LeafOrder<Visitor: LeafVisitor & ~Copyable>: RowVisitor, ~Copyable {
    var visitor: Visitor
    private var levels: [LeafLevel] = []
    private var position: [UInt8] = []
    private var text = ByteBuffer()
    /// Whether some key is an integer that not all clients sort as one.
    private(set) var hasDisputedKey = false

    init(_ visitor: consuming Visitor) { self.visitor = visitor }

    var isSatisfied: Bool { visitor.isSatisfied }

    mutating func open(_ row: Span<UInt8>, _ segment: Range<Int>, priority: Span<UInt8>) {
        passPriority(before: row.extracting(segment))
        read(row, segment)
        append(row.extracting(segment))
        levels.append(LeafLevel(key: text.array(), length: position.count, priority: priority.array()))
    }

    mutating func leaf(_ row: Span<UInt8>, _ segment: Range<Int>, _ value: Span<UInt8>, priority: Span<UInt8>) {
        passPriority(before: row.extracting(segment))
        read(row, segment)
        let key = text.array()
        let above = levels
        // Taken out of this value while the visitor, which is a part of it, is changed.
        var place: [UInt8] = []
        swap(&place, &position)
        let length = place.count
        row.extracting(segment).withUnsafeBufferPointer { place.append(contentsOf: $0) }
        visitor.leaf(at: place.span, segment.isEmpty ? nil : key.span, in: above, value, priority: priority)
        place.removeLast(place.count - length)
        swap(&place, &position)
    }

    mutating func close() {
        guard let level = levels.last else { return }
        if !level.priority.isEmpty { passPriority() }
        visitor.close(levels.count)
        levels.removeLast()
        position.removeLast(position.count - (levels.last?.length ?? 0))
    }

    private mutating func read(_ row: Span<UInt8>, _ segment: Range<Int>) {
        text.clear()
        guard !segment.isEmpty else { return }
        PathKey.appendSegmentText(row, segment, into: &text)
        if DisputedKeys.contain(row, segment, characters: text.count) { hasDisputedKey = true }
    }

    private mutating func append(_ segment: Span<UInt8>) { segment.withUnsafeBufferPointer { position.append(contentsOf: $0) } }

    /// Passes the priority of the innermost node on, if its place is before a child.
    private mutating func passPriority(before segment: Span<UInt8>) {
        guard let level = levels.last, !level.priority.isEmpty else { return }
        let own = RangeHashes.prioritySegment
        if ByteOrder.compare(own.span, segment) < 0 { passPriority() }
    }

    private mutating func passPriority() {
        let last = levels.count - 1
        let json = levels[last].priority
        levels[last].priority = []
        let above = levels
        let place = position + RangeHashes.prioritySegment
        visitor.priority(at: place.span, in: above, json.span)
    }
}
