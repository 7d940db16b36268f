import Rules
import Store
import Tree

/// The stored tree, in the form for rules.
struct StoredTree: RuleData {
    private let reader: TreeReader

    init(_ reader: TreeReader) { self.reader = reader }

    func leaf(at key: PathKey) throws(StoreError) -> Leaf? { try reader.leaf(at: key) }
    func exists(at key: PathKey) throws(StoreError) -> Bool { try reader.exists(at: key) }
    func hasChildren(at key: PathKey) throws(StoreError) -> Bool { try reader.hasChildren(at: key) }
    func priority(at key: PathKey) throws(StoreError) -> Priority? { try reader.priority(at: key) }

    /// The keys of up to `limit` children after the key `after`, in order.
    func childKeys(at key: PathKey, after: String?, limit: Int) throws(StoreError) -> [String] {
        try reader.childKeys(at: key, after: after, limit: limit)
    }
}
