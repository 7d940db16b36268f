/// A path in bytes whose order is the order of the tree: a node, its priority, its children in key order with all that is below
/// them, then the next node. The rows of a namespace are sorted by it, so that a subtree is one range of them.
///
/// A segment is a 32-bit whole number (`01`, four big-endian bytes with the sign bit turned over, the tie) or any other key
/// (`02`, its UTF-8 with the lead bytes EE and EF lifted to F5 and F6, `01`). The tie is one byte, or `FF` and two for a key with
/// very many leading zeros. No segment is the beginning of another.
public struct PathKey: Sendable, Hashable {
    /// The segments one after the other, each with its own end.
    public var bytes: [UInt8]

    /// The key of the root: no bytes.
    public static let root = PathKey(bytes: [])

    /// Takes bytes that are a key already.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// The key of a place; the same as appending its keys one by one.
    public init(_ path: Path) {
        bytes = []
        var size = 0
        for segment in path.segments { size += segment.utf8.count + 6 }
        bytes.reserveCapacity(size + 1)
        for segment in path.segments { append(segment) }
    }

    /// The key of the child `key`.
    public func appending(_ key: String) -> PathKey {
        var longer = PathKey(bytes: [])
        longer.bytes.reserveCapacity(bytes.count + key.utf8.count + 7)
        longer.bytes.append(contentsOf: bytes)
        longer.append(key)
        return longer
    }

    /// Goes on to the child `key`.
    @inline(__always)
    public mutating func append(_ key: String) {
        var key = key
        key.withUTF8 { Self.append($0, to: &bytes) }
    }

    /// Goes on to the child whose key has this UTF-8.
    public mutating func append(_ key: Span<UInt8>) {
        key.withUnsafeBufferPointer { Self.append($0, to: &bytes) }
    }

    /// The first bytes after the node and everything below it.
    public var subtreeEnd: [UInt8] { Self.joined(bytes, 0xFF) }

    /// The row of the node's priority, which comes before every child.
    public var priorityRow: [UInt8] { Self.joined(bytes, PathKey.priorityMark) }

    /// What follows a node's key in the row of its priority.
    public static let priorityMark: UInt8 = 0x00

    /// Whether `row` is this node's or below it.
    public func contains(row: Span<UInt8>) -> Bool {
        guard row.count >= bytes.count else { return false }
        for index in bytes.indices where row[index] != bytes[index] { return false }
        return true
    }

    private static func joined(_ bytes: [UInt8], _ last: UInt8) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count + 1) { target, count in
            _ = target.update(fromContentsOf: bytes)
            target[bytes.count] = last
            count = bytes.count + 1
        }
    }
}

extension PathKey: Comparable {
    public static func < (left: PathKey, right: PathKey) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}
