import HearthBytes
import Tree

/// Computes the hashes of a node (spec database 3.8) from its rows.
struct HashBuilder: RowVisitor, ~Copyable {
    /// A node whose children are being read.
    private final class Level {
        let key: [UInt8]
        let priority: Priority?
        var hasher: NodeHasher?

        init(key: [UInt8], priority: Priority?) {
            self.key = key
            self.priority = priority
            hasher = NodeHasher(priority: priority)
        }
    }

    private var levels: [Level] = []
    private var key = ByteBuffer()
    /// The hashes; nil if there were no rows.
    private(set) var hashes: NodeHashes?

    var isSatisfied: Bool { false }

    mutating func open(_ row: Span<UInt8>, _ segment: Range<Int>, priority: Span<UInt8>) {
        key.clear()
        if !segment.isEmpty { PathKey.appendSegmentText(row, segment, into: &key) }
        levels.append(Level(key: key.array(), priority: Self.priority(priority)))
    }

    mutating func leaf(_ row: Span<UInt8>, _ segment: Range<Int>, _ value: Span<UInt8>, priority: Span<UInt8>) {
        guard let leaf = Leaf(json: value) else { return }
        let priority = Self.priority(priority)
        key.clear()
        if !segment.isEmpty { PathKey.appendSegmentText(row, segment, into: &key) }
        let hashes = NodeHashes(NodeHash(of: leaf, priority: priority))
        if let level = levels.last { level.hasher?.add(key.bytes, priority: priority, hash: hashes) } else { self.hashes = hashes }
    }

    mutating func close() {
        guard let level = levels.popLast(), let hashes = level.hasher.take()?.finish() else { return }
        let key = level.key
        if let parent = levels.last { parent.hasher?.add(key.span, priority: level.priority, hash: hashes) } else { self.hashes = hashes }
    }

    private static func priority(_ json: Span<UInt8>) -> Priority? { json.isEmpty ? nil : Priority(json: json) }
}
