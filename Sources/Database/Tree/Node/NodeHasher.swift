import HearthBytes
import Crypto

/// Puts the hash of a node with children together from those of its children, given in key order.
///
/// Children count in the order of their priorities, those without one first: these are hashed as they come, and only those that
/// have a priority are kept until the end.
public struct NodeHasher: ~Copyable {
    private struct Ranked {
        let priority: IndexValue
        let place: Int
        let text: Range<Int>
    }

    /// Nil until something is hashed, and while it is being added to: one owner, so that adding does not copy it.
    private var sha: Insecure.SHA1?
    /// What has not been hashed yet.
    private var pending = ByteBuffer()
    private var rankedText = ByteBuffer()
    private var ranked: [Ranked] = []
    /// Whether no child has been added: the hash of such a node is the empty text.
    public private(set) var isEmpty = true

    private static let pendingMax = 4096

    /// A node that has this priority and no children yet.
    public init(priority: Priority?) { NodeHash.append(priority, to: &pending) }

    /// Adds the next child in key order.
    public mutating func add(_ key: String, priority: Priority?, hash: NodeHash) {
        var key = key
        key.withUTF8 { add($0.span, priority: priority, hash: hash) }
    }

    /// Adds the next child in key order, its key in UTF-8.
    public mutating func add(_ key: Span<UInt8>, priority: Priority?, hash: NodeHash) {
        isEmpty = false
        guard let priority else {
            Self.append(key, hash, to: &pending)
            if pending.count >= Self.pendingMax { flush() }
            return
        }
        let start = rankedText.count
        Self.append(key, hash, to: &rankedText)
        ranked.append(Ranked(priority: IndexValue(priority), place: ranked.count, text: start..<rankedText.count))
    }

    /// The hash of the node; nil when it has no children.
    public consuming func finish() -> NodeHash? {
        guard !isEmpty else { return nil }
        var sha = sha.take() ?? Insecure.SHA1()
        pending.withUnsafeBytes { sha.update(bufferPointer: $0) }
        if !ranked.isEmpty {
            ranked.sort { ($0.priority, $0.place) < ($1.priority, $1.place) }
            rankedText.withUnsafeBytes { text in
                for child in ranked { sha.update(bufferPointer: UnsafeRawBufferPointer(rebasing: text[child.text])) }
            }
        }
        return NodeHash(sha.finalize())
    }

    private static func append(_ key: Span<UInt8>, _ hash: NodeHash, to text: inout ByteBuffer) {
        text.append(UInt8(ascii: ":"))
        text.append(key)
        text.append(UInt8(ascii: ":"))
        hash.append(to: &text)
    }

    private mutating func flush() {
        var sha = sha.take() ?? Insecure.SHA1()
        pending.withUnsafeBytes { sha.update(bufferPointer: $0) }
        pending.clear()
        self.sha = sha
    }
}

extension Node {
    /// The hash that clients compare (V1, spec database 3.8); the empty text for an empty node.
    public func hash() -> String { nodeHash()?.string ?? "" }

    /// A text made of the content, the same for the same content: its hash, or `null_etag` for an empty node.
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
