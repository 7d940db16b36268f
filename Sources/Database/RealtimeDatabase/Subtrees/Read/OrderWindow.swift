import Tree

/// The first or last entries in an order, collected from entries in any order.
struct OrderWindow {
    private struct Entry {
        let order: [UInt8]
        let segmentStart: Int
    }

    private let range: KeyRange
    private let limit: Int
    private let anchorsLast: Bool
    private var entries: [Entry] = []
    /// The size of the entries.
    private(set) var bytes = 0

    init(_ range: KeyRange, limit: Int?, anchorsLast: Bool) {
        self.range = range
        self.limit = limit ?? .max
        self.anchorsLast = anchorsLast
    }

    mutating func offer(_ value: IndexValue, segment: Span<UInt8>) {
        var order: [UInt8] = []
        value.encode(into: &order)
        let segmentStart = order.count
        segment.withUnsafeBufferPointer { order.append(contentsOf: $0) }
        guard !ByteOrder.precedes(order, range.lower), ByteOrder.precedes(order, range.upper) else { return }
        bytes += order.count
        entries.append(Entry(order: order, segmentStart: segmentStart))
        if entries.count >= limit.addingClamped(max(limit, 64)) { trim() }
    }

    /// The segments of the children, as many as the limit allows.
    consuming func segments() -> [[UInt8]] {
        trim()
        return entries.map { Array($0.order[$0.segmentStart...]) }
    }

    private mutating func trim() {
        guard entries.count > limit else { return }
        let anchorsLast = anchorsLast
        entries.sort { left, right in
            anchorsLast ? ByteOrder.precedes(right.order, left.order) : ByteOrder.precedes(left.order, right.order)
        }
        entries.removeLast(entries.count - limit)
        bytes = entries.reduce(0) { $0 + $1.order.count }
    }
}
