#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Tree

/// Receives the nodes that a ``RowWalk`` finds.
///
/// A priority is its JSON; empty if there is none. The segment is the range of the node's own key in `row`; empty for the node at which the
/// walk began.
protocol RowVisitor: ~Copyable {
    /// A node with children begins. `row` may continue after the node's key, with the first child.
    mutating func open(_ row: Span<UInt8>, _ segment: Range<Int>, priority: Span<UInt8>)
    mutating func leaf(_ row: Span<UInt8>, _ segment: Range<Int>, _ value: Span<UInt8>, priority: Span<UInt8>)
    /// The last opened node ends.
    mutating func close()
    /// Whether it needs no more rows for now.
    var isSatisfied: Bool { get }
}

/// Converts the rows of a subtree, in order, to nodes that begin and end.
///
/// This is a value that can be kept after any row, and used for the next one later.
struct RowWalk {
    private let top: Int
    private let wantsPriorities: Bool
    /// The key of the innermost open node.
    private var path: [UInt8]
    /// The ends of the open nodes' keys in `path`.
    private var open: [Int] = []
    /// A leaf whose priority may be in the next row.
    private var leafKey: [UInt8] = []
    private var leafValue: [UInt8] = []
    private var isLeafWaiting = false

    /// - Parameters:
    ///   - key: the node to walk.
    ///   - wantsPriorities: whether rows of priorities are used. If so, a leaf is reported one row later.
    init(at key: [UInt8], wantsPriorities: Bool) {
        top = key.count
        path = key
        self.wantsPriorities = wantsPriorities
    }

    /// Begins the top node before its first row is known.
    mutating func begin(_ visitor: inout some RowVisitor & ~Copyable) {
        guard open.isEmpty else { return }
        visitor.open(path.span, top..<top, priority: path.span.extracting(first: 0))
        open.append(top)
    }

    /// Processes the next row.
    @inline(__always)
    mutating func row(_ row: Span<UInt8>, _ value: Span<UInt8>, _ visitor: inout some RowVisitor & ~Copyable) {
        if isLeafWaiting {
            isLeafWaiting = false
            if isPriority(row, of: leafKey) {
                visitor.leaf(leafKey.span, (open.last ?? top)..<leafKey.count, leafValue.span, priority: value)
                return
            }
            visitor.leaf(leafKey.span, (open.last ?? top)..<leafKey.count, leafValue.span, priority: value.extracting(first: 0))
        }
        closeAll(notHolding: row, &visitor)
        var start = top
        var end: Int? = top
        if let innermost = open.last {
            start = innermost
            end = PathKey.segmentEnd(row, from: start)
        }
        // The nodes above the last segment begin with this row.
        while let next = end {
            if next == row.count { return found(row, start..<next, value, &visitor) }
            let isMark = next + 1 == row.count && row[next] == PathKey.priorityMark
            if isMark, !wantsPriorities { return }
            visitor.open(row, start..<next, priority: isMark ? value : value.extracting(first: 0))
            row.extracting(start..<next).withUnsafeBufferPointer { path.append(contentsOf: $0) }
            open.append(next)
            if isMark { return }
            start = next
            end = PathKey.segmentEnd(row, from: start)
        }
    }

    /// Processes the end of the rows.
    mutating func finish(_ visitor: inout some RowVisitor & ~Copyable) {
        if isLeafWaiting {
            isLeafWaiting = false
            visitor.leaf(leafKey.span, (open.last ?? top)..<leafKey.count, leafValue.span, priority: path.span.extracting(first: 0))
        }
        while open.popLast() != nil { visitor.close() }
    }

    @inline(__always)
    private mutating func found(
        _ row: Span<UInt8>, _ segment: Range<Int>, _ value: Span<UInt8>, _ visitor: inout some RowVisitor & ~Copyable
    ) {
        guard wantsPriorities else { return visitor.leaf(row, segment, value, priority: value.extracting(first: 0)) }
        isLeafWaiting = true
        leafKey.removeAll(keepingCapacity: true)
        leafValue.removeAll(keepingCapacity: true)
        row.withUnsafeBufferPointer { leafKey.append(contentsOf: $0) }
        value.withUnsafeBufferPointer { leafValue.append(contentsOf: $0) }
    }

    /// Closes the nodes that do not contain `row`.
    @inline(__always)
    private mutating func closeAll(notHolding row: Span<UInt8>, _ visitor: inout some RowVisitor & ~Copyable) {
        guard !open.isEmpty, !starts(row, with: path) else { return }
        let shared = sharedCount(row)
        while let innermost = open.last, innermost > shared {
            visitor.close()
            open.removeLast()
        }
        path.removeLast(path.count - (open.last ?? top))
    }

    private func sharedCount(_ row: Span<UInt8>) -> Int {
        let count = min(row.count, path.count)
        var index = 0
        while index < count, row[index] == path[index] { index += 1 }
        return index
    }

    @inline(__always)
    private func starts(_ row: Span<UInt8>, with prefix: [UInt8]) -> Bool {
        guard row.count >= prefix.count else { return false }
        guard !prefix.isEmpty else { return true }
        return row.withUnsafeBytes { row in
            prefix.withUnsafeBytes { prefix in
                guard let row = row.baseAddress, let base = prefix.baseAddress else { return false }
                return memcmp(row, base, prefix.count) == 0
            }
        }
    }

    private func isPriority(_ row: Span<UInt8>, of leaf: [UInt8]) -> Bool {
        row.count == leaf.count + 1 && row[leaf.count] == PathKey.priorityMark && starts(row, with: leaf)
    }
}
