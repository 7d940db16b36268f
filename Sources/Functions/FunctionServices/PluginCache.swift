/// The values that a plugin has put into the cache, bounded in bytes: those that were not used for the longest time go first.
///
/// A doubly linked list in the order of use, and a table of its nodes. Times are those of a monotonic clock in milliseconds.
struct PluginCache {
    private final class Node {
        let key: String
        var value: [UInt8]
        /// When the value ends; the greatest number for never.
        var end: UInt64
        // The table owns the nodes: references from node to node would be released one within the other.
        unowned(unsafe) var newer: Node?
        unowned(unsafe) var older: Node?

        init(_ key: String, _ value: [UInt8], _ end: UInt64) { (self.key, self.value, self.end) = (key, value, end) }

        var bytes: Int { key.utf8.count + value.count + PluginCache.overheadBytes }
    }

    /// Approximate memory of an entry beside its key and its value.
    static let overheadBytes = 160

    private let bytesMax: Int
    private var nodes: [String: Node] = [:]
    private var oldest: Node?
    private var newest: Node?
    private(set) var figures = CacheFigures()

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    var isEmpty: Bool { nodes.isEmpty }

    /// The value of a key, which counts as used now.
    mutating func get(_ key: String, now: UInt64) -> [UInt8]? {
        let node = live(key, now)
        if let node {
            figures.hits += 1
            use(node)
        } else {
            figures.misses += 1
        }
        return node?.value
    }

    /// Whether there is a value. Does not count as a use.
    mutating func contains(_ key: String, now: UInt64) -> Bool { live(key, now) != nil }

    /// When a value ends.
    mutating func end(of key: String, now: UInt64) -> UInt64? { live(key, now)?.end }

    /// Sets a value. Removes old ones where there is no room; the value itself must fit.
    mutating func set(_ key: String, _ value: [UInt8], end: UInt64) {
        if let old = nodes[key] { remove(old) }
        let node = Node(key, value, end)
        nodes[key] = node
        append(node)
        figures.entries += 1
        figures.bytes += node.bytes
        while figures.bytes > bytesMax, let oldest, oldest !== node {
            figures.evictions += 1
            remove(oldest)
        }
    }

    /// Whether a value would fit into an empty cache.
    func fits(_ key: String, _ value: [UInt8]) -> Bool { key.utf8.count + value.count + Self.overheadBytes <= bytesMax }

    /// Removes a value.
    ///
    /// - Returns: whether there was one.
    mutating func delete(_ key: String, now: UInt64) -> Bool {
        guard let node = live(key, now) else { return false }
        remove(node)
        return true
    }

    /// Removes values that have ended, of those that were not used for the longest time.
    ///
    /// - Parameter count: the number of values to look at. Those that stay are looked at last the next time, as if they had just been used.
    mutating func sweep(_ count: Int, now: UInt64) {
        for _ in 0..<min(count, nodes.count) {
            guard let node = oldest else { return }
            if node.end <= now { expire(node) } else { use(node) }
        }
    }

    private mutating func live(_ key: String, _ now: UInt64) -> Node? {
        guard let node = nodes[key] else { return nil }
        if node.end > now { return node }
        expire(node)
        return nil
    }

    private mutating func expire(_ node: Node) {
        figures.expirations += 1
        remove(node)
    }

    private mutating func remove(_ node: Node) {
        nodes[node.key] = nil
        figures.entries -= 1
        figures.bytes -= node.bytes
        unlink(node)
    }

    private mutating func use(_ node: Node) {
        guard node !== newest else { return }
        unlink(node)
        append(node)
    }

    private mutating func append(_ node: Node) {
        node.older = newest
        if let newest { newest.newer = node } else { oldest = node }
        newest = node
    }

    private mutating func unlink(_ node: Node) {
        let (older, newer) = (node.older, node.newer)
        if let older { older.newer = newer } else { oldest = newer }
        if let newer { newer.older = older } else { newest = older }
        (node.older, node.newer) = (nil, nil)
    }
}

/// The figures of the cache of a plugin.
package struct CacheFigures: Sendable, Equatable {
    package var entries = 0
    package var bytes = 0
    package var hits = 0
    package var misses = 0
    /// Values that were removed for newer ones.
    package var evictions = 0
    /// Values that were removed because their time was over.
    package var expirations = 0
}
