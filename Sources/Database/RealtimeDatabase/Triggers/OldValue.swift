import Store
import Tree

/// A value before a write: in memory, or still in the store.
enum OldValue {
    case memory(Node)
    case stored(PathKey)

    static let absent = OldValue.memory(.empty)

    func child(_ key: String) -> OldValue {
        switch self {
        case .memory(let node): .memory(node.child(key))
        case .stored(let place): .stored(place.appending(key))
        }
    }
}

/// Reads the tree before a write, with the size limit of events.
struct OldTree {
    let reader: TreeReader
    let bytesMax: Int

    /// The whole value; nil if it is larger than an event may be.
    func load(_ value: OldValue) throws(StoreError) -> Node? {
        guard case .stored(let key) = value else {
            if case .memory(let node) = value { return node }
            return nil
        }
        do throws(ReadError) { return try reader.node(at: key, bytesMax: bytesMax) } catch {
            switch error {
            case .store(let error): throw error
            case .tooLarge: return nil
            }
        }
    }

    func exists(_ value: OldValue) throws(StoreError) -> Bool {
        switch value {
        case .memory(let node): !node.isEmpty
        case .stored(let key): try reader.exists(at: key)
        }
    }

    /// The keys of up to `limit` children after the key `after`, in order.
    func childKeys(_ value: OldValue, after: String?, limit: Int) throws(StoreError) -> [String] {
        switch value {
        case .stored(let key): return try reader.childKeys(at: key, after: after, limit: limit)
        case .memory(let node):
            let children = node.children
            let first = after.map { after in children.firstPosition { !KeyOrder.precedes(after, $0.key) } } ?? 0
            return children[first...].prefix(limit).map(\.key)
        }
    }

    /// Whether the value equals `node`, regardless of priorities. Also for values that are too large to be read at once.
    func isSame(_ value: OldValue, as node: Node) throws(StoreError) -> Bool {
        if let loaded = try load(value) { return loaded.hasSameValue(as: node) }
        guard case .stored(let key) = value else { return false }
        if let leaf = node.leaf { return try reader.leaf(at: key) == leaf }
        guard !node.isEmpty, try reader.hasChildren(at: key) else { return false }
        let pageSize = 256
        var rest = node.children[...]
        var after: String?
        while true {
            let keys = try childKeys(value, after: after, limit: pageSize)
            for key in keys {
                guard let child = rest.popFirst(), KeyOrder.areEqual(child.key, key), try isSame(value.child(key), as: child.node) else {
                    return false
                }
            }
            guard keys.count == pageSize else { return rest.isEmpty }
            after = keys.last
        }
    }
}

extension Node {
    /// Whether both have the same leaves, regardless of priorities.
    func hasSameValue(as other: Node) -> Bool {
        switch (content, other.content) {
        case (.empty, .empty): return true
        case (.leaf(let left), .leaf(let right)): return left == right
        case (.children(let left), .children(let right)):
            guard left.count == right.count else { return false }
            for index in left.indices {
                guard KeyOrder.areEqual(left[index].key, right[index].key), left[index].node.hasSameValue(as: right[index].node) else {
                    return false
                }
            }
            return true
        default: return false
        }
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first position whose element does not satisfy the condition. Those that satisfy it are at the front.
    func firstPosition(where isFront: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if isFront(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
