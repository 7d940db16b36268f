import Bytes

/// Puts the hash of a node with children together from those of its children, given in key order.
///
/// Children count in the order of their priorities when any of them has one. Until the first priority shows up, nothing is kept
/// but the text that is hashed.
public struct NodeHasher: ~Copyable {
    private struct Part {
        let order: (IndexValue, Int)
        let text: Range<Int>
    }

    private let priority: Priority?
    private var text = ByteBuffer()
    private var parts: [Part] = []
    private var count = 0
    private var plainEnd = 0

    public init(priority: Priority?) { self.priority = priority }

    /// Whether no child has been added: the hash of such a node is the empty text.
    public var isEmpty: Bool { count == 0 }

    /// Adds the next child in key order.
    public mutating func add(_ key: String, priority: Priority?, hash: NodeHash) {
        var key = key
        key.withUTF8 { add($0.span, priority: priority, hash: hash) }
    }

    /// Adds the next child in key order, its key in UTF-8.
    public mutating func add(_ key: Span<UInt8>, priority: Priority?, hash: NodeHash) {
        let start = text.count
        text.append(UInt8(ascii: ":"))
        text.append(key)
        text.append(UInt8(ascii: ":"))
        hash.append(to: &text)
        count += 1
        guard priority != nil || !parts.isEmpty else {
            plainEnd = text.count
            return
        }
        // Those before the first with a priority have none, so they stay in front, in the order in which they came.
        parts.append(Part(order: (IndexValue(priority), count), text: start..<text.count))
    }

    /// The hash of the node; nil when it has no children.
    public consuming func finish() -> NodeHash? {
        guard count > 0 else { return nil }
        var whole = ByteBuffer()
        NodeHash.append(priority, to: &whole)
        whole.append(text.bytes.extracting(0..<plainEnd))
        parts.sort { $0.order < $1.order }
        for part in parts { whole.append(text.bytes.extracting(part.text)) }
        return NodeHash(whole.bytes)
    }
}

extension Node {
    /// The hash that clients compare (V1, spec database 3.8); the empty text for an empty node.
    public func hash() -> String { nodeHash()?.string ?? "" }

    /// A text that is the same for equal nodes: their hash, or `null_etag` for an empty one.
    public var etag: String { nodeHash()?.string ?? Self.emptyETag }

    /// The entity tag of nothing.
    public static let emptyETag = "null_etag"

    /// The hash; nil for an empty node.
    public func nodeHash() -> NodeHash? {
        switch content {
        case .empty: return nil
        case .leaf(let leaf): return NodeHash(of: leaf, priority: priority)
        case .children(let children):
            var hasher = NodeHasher(priority: priority)
            for child in children {
                guard let hash = child.node.nodeHash() else { continue }
                hasher.add(child.key, priority: child.node.priority, hash: hash)
            }
            return hasher.finish()
        }
    }
}
