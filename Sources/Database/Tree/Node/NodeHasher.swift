import HearthBytes

/// The hashes of a non-empty node (V1, spec database 3.8).
public struct NodeHashes: Sendable {
    /// The hash that covers children by priority, as most clients compute it. Answers contain this one.
    public var hash: NodeHash
    /// The hash that covers children by key where each of them has a priority, as clients for iOS compute it; nil if it is the same.
    public var byKey: NodeHash?

    public init(_ hash: NodeHash, byKey: NodeHash? = nil) {
        self.hash = hash
        self.byKey = byKey
    }
}

/// The entity tag of a node: its hash, or `null_etag` if it is empty.
public struct EntityTag: Hashable, Sendable {
    /// The tag in answers.
    public let text: String
    /// The tag in requests of clients for iOS, if they compute another one.
    private let byKey: String?

    /// - Parameters:
    ///   - text: the tag in answers.
    ///   - byKey: the tag of clients that compute another one.
    public init(_ text: String, byKey: String? = nil) {
        self.text = text
        self.byKey = byKey
    }

    /// The tag of a node with these hashes; nil for an empty node.
    public init(_ hashes: NodeHashes?) { self.init(hashes?.hash.string ?? Node.emptyETag, byKey: hashes?.byKey?.string) }

    /// Whether a client that sends `tag` has this node.
    public func matches(_ tag: String) -> Bool { tag == text || tag == byKey }
}

/// Computes the hashes of a node with children from their hashes, which are added in key order.
///
/// The hash covers children by priority, those without one first: these are hashed immediately, and only those with a priority are kept
/// until the end.
public struct NodeHasher: ~Copyable {
    private struct Ranked {
        let priority: IndexValue
        let place: Int
        let text: Range<Int>
        /// The text with the other hash of the child; the same range if it has none.
        let byKey: Range<Int>
    }

    /// The text so far.
    private var text = HashedText()
    /// The text so far of the other hash, from the first child on that has another hash.
    private var byKey: HashedText?
    private var rankedText = ByteBuffer()
    private var ranked: [Ranked] = []
    private var hasUnranked = false
    /// Whether no child has been added. The hash is then the empty text.
    public private(set) var isEmpty = true

    /// A hasher for a node with this priority.
    public init(priority: Priority?) { NodeHash.append(priority, to: &text.pending) }

    /// Adds the next child in key order.
    public mutating func add(_ key: String, priority: Priority?, hash: NodeHashes) {
        var key = key
        key.withUTF8 { add($0.span, priority: priority, hash: hash) }
    }

    /// Adds the next child in key order, its key in UTF-8.
    public mutating func add(_ key: Span<UInt8>, priority: Priority?, hash: NodeHashes) {
        isEmpty = false
        if hash.byKey != nil, byKey == nil { byKey = text.copy() }
        guard let priority else {
            hasUnranked = true
            text.add(key, hash.hash)
            byKey?.add(key, hash.byKey ?? hash.hash)
            return
        }
        let range = appendRanked(key, hash.hash)
        let other = if let byKey = hash.byKey { appendRanked(key, byKey) } else { range }
        ranked.append(Ranked(priority: IndexValue(priority), place: ranked.count, text: range, byKey: other))
    }

    /// The hashes of the node; nil without children.
    public consuming func finish() -> NodeHashes? {
        guard !isEmpty else { return nil }
        var sorted = ranked
        sorted.sort { ($0.priority, $0.place) < ($1.priority, $1.place) }
        let isReordered = !hasUnranked && zip(ranked, sorted).contains { $0.place != $1.place }
        if isReordered, byKey == nil { byKey = text.copy() }
        // A local, so that adding to a member does not need all of `self`.
        let rankedText = rankedText
        if byKey != nil {
            for child in hasUnranked ? sorted : ranked { byKey?.add(rankedText.bytes.extracting(child.byKey)) }
        }
        for child in sorted { text.add(rankedText.bytes.extracting(child.text)) }
        return NodeHashes(text.finish(), byKey: byKey?.finish())
    }

    private mutating func appendRanked(_ key: Span<UInt8>, _ hash: NodeHash) -> Range<Int> {
        let start = rankedText.count
        HashedText.append(key, hash, to: &rankedText)
        return start..<rankedText.count
    }
}

extension HashedText {
    /// Adds a child.
    fileprivate mutating func add(_ key: Span<UInt8>, _ hash: NodeHash) {
        Self.append(key, hash, to: &pending)
        flushIfLong()
    }

    fileprivate static func append(_ key: Span<UInt8>, _ hash: NodeHash, to text: inout ByteBuffer) {
        text.append(UInt8(ascii: ":"))
        text.append(key)
        text.append(UInt8(ascii: ":"))
        hash.append(to: &text)
    }
}

extension Node {
    /// The hash that clients compare (V1, spec database 3.8); the empty text for an empty node.
    public func hash() -> String { hashes()?.hash.string ?? "" }

    /// The entity tag.
    public var etag: EntityTag { EntityTag(hashes()) }

    /// The entity tag of an empty node.
    public static let emptyETag = "null_etag"

    /// The hashes; nil for an empty node.
    public func hashes() -> NodeHashes? {
        switch content {
        case .empty: return nil
        case .leaf(let leaf): return NodeHashes(NodeHash(of: leaf, priority: priority))
        case .children(let children):
            var hasher = NodeHasher(priority: priority)
            for child in children {
                guard let hashes = child.node.hashes() else { continue }
                hasher.add(child.key, priority: child.node.priority, hash: hashes)
            }
            return hasher.finish()
        }
    }
}
