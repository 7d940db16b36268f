import HearthBytes
import Rules
import Tree

/// A maintained index: its declaration, and the progress of building it.
struct TreeIndex: Sendable {
    /// Never reused, so that remains of an old index are not mistaken for entries of a new one.
    let id: UInt32
    let declaration: IndexDeclaration
    /// The path from a child to its value, in the encoding of rows; empty for `.value`.
    let path: [UInt8]
    /// The row at which building continues; nil if the index is complete.
    var cursor: [UInt8]?

    /// The index of priorities, which every node has.
    static let priorities: UInt32 = 0

    init(id: UInt32, declaration: IndexDeclaration) {
        self.id = id
        self.declaration = declaration
        path = declaration.path.key.bytes
        cursor = []
    }

    var isReady: Bool { cursor == nil }

    /// The value of the row ``StateKey/index(_:)``: whether the index is complete, the cursor, the declaration.
    var record: [UInt8] {
        let cursor = self.cursor ?? []
        let count = cursor.count
        let head = [isReady ? 1 : 0, UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count >> 16)]
        return head + cursor + declaration.record
    }

    init?(id: UInt32, record: Span<UInt8>) {
        guard record.count >= 4 else { return nil }
        let count = Int(record[1]) | Int(record[2]) << 8 | Int(record[3]) << 16
        guard 4 + count <= record.count, let declaration = IndexDeclaration(record: record.extracting(droppingFirst: 4 + count)) else { return nil }
        self.init(id: id, declaration: declaration)
        cursor = record[0] == 1 ? nil : record.extracting(4..<4 + count).array()
    }

    static func bytes(_ id: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> $0) } }

    static func id(_ bytes: Span<UInt8>) -> UInt32 {
        var id: UInt32 = 0
        for index in bytes.indices { id = id << 8 | UInt32(bytes[index]) }
        return id
    }
}

/// The keys of entries in the keyspace `index`: the index, the node whose children are sorted, a mark, the value, the child.
///
/// The value of an entry is the length of the child's segment, by which the child is extracted from the end of the key. The entries of a
/// subtree are a contiguous range in each index, as its rows are in the tree.
enum IndexEntry {
    /// Sorts before all continuations of a node's key.
    private static let mark: UInt8 = 0x00
    /// Sorts after all values and children.
    static let end: UInt8 = 0xFF

    /// The common prefix of the entries of all children of `parent`.
    static func prefix(_ id: UInt32, _ parent: some Collection<UInt8>) -> [UInt8] {
        var bytes = TreeIndex.bytes(id)
        bytes.reserveCapacity(parent.count + 64)
        bytes.append(contentsOf: parent)
        bytes.append(mark)
        return bytes
    }

    /// The entries of the node `key` and of all its descendants.
    static func subtree(_ id: UInt32, _ key: [UInt8]) -> KeyRange {
        let lower = TreeIndex.bytes(id) + key
        return KeyRange(lower: lower, upper: lower + [end])
    }

    /// All entries of an index.
    static func all(_ id: UInt32) -> KeyRange { KeyRange(lower: TreeIndex.bytes(id), upper: TreeIndex.bytes(id + 1)) }

    static func key(_ prefix: [UInt8], _ value: IndexValue, segment: some Collection<UInt8>) -> [UInt8] {
        var bytes = prefix
        value.encode(into: &bytes)
        bytes.append(contentsOf: segment)
        return bytes
    }

    static func value(segmentCount: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: segmentCount), UInt8(truncatingIfNeeded: segmentCount >> 8)]
    }

    /// The position of the child's segment in the key of an entry.
    static func segmentStart(_ key: Span<UInt8>, _ value: Span<UInt8>) -> Int {
        guard value.count == 2 else { return key.count }
        return max(key.count - (Int(value[0]) | Int(value[1]) << 8), 0)
    }
}
