import HearthBytes
import Rules
import Tree

/// An index that is kept: what was declared, and how far it is built.
struct TreeIndex: Sendable {
    /// Never given to another index, so that what an old one left behind is not taken for a new one's.
    let id: UInt32
    let declaration: IndexDeclaration
    /// The path from a child to its value, as rows have it; empty for `.value`.
    let path: [UInt8]
    /// The row from which the first build goes on; nil when the index is complete.
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

    /// Everything that a row of ``StateKey/index(_:)`` holds: whether it is complete, the cursor, the declaration.
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

/// The keys of entries in the keyspace `index`: the index, the node whose children it sorts, a mark, the value, the child.
///
/// The value of an entry is the length of the child's segment, so that the child can be cut off the end. The entries of a
/// subtree are a range of each index, as its rows are a range of the tree.
enum IndexEntry {
    /// Comes before whatever continues a node's key.
    private static let mark: UInt8 = 0x00
    /// Comes after every value and every child.
    static let end: UInt8 = 0xFF

    /// What the entries of all children of `parent` begin with.
    static func prefix(_ id: UInt32, _ parent: some Collection<UInt8>) -> [UInt8] {
        var bytes = TreeIndex.bytes(id)
        bytes.reserveCapacity(parent.count + 64)
        bytes.append(contentsOf: parent)
        bytes.append(mark)
        return bytes
    }

    /// The entries of the node `key` and of everything below it.
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

    /// Where the child's segment begins in the key of an entry.
    static func segmentStart(_ key: Span<UInt8>, _ value: Span<UInt8>) -> Int {
        guard value.count == 2 else { return key.count }
        return max(key.count - (Int(value[0]) | Int(value[1]) << 8), 0)
    }
}
