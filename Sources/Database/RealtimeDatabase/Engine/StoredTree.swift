import Rules
import Tree

/// The tree as the store has it, for rules to look at.
///
/// Rules have no way to hear of a failing store: what cannot be read looks absent to them, and whoever asked the rules looks
/// at ``failure`` before it believes what they said.
final class StoredTree: RuleData {
    private let reader: TreeReader
    private(set) var failure: StoreError?

    init(_ reader: TreeReader) { self.reader = reader }

    func leaf(at key: PathKey) -> Leaf? { attempt(nil) { () throws(StoreError) in try reader.leaf(at: key) } }
    func exists(at key: PathKey) -> Bool { attempt(false) { () throws(StoreError) in try reader.exists(at: key) } }
    func hasChildren(at key: PathKey) -> Bool { attempt(false) { () throws(StoreError) in try reader.hasChildren(at: key) } }
    func priority(at key: PathKey) -> Priority? { attempt(nil) { () throws(StoreError) in try reader.priority(at: key) } }

    /// Up to `limit` names of children after `after`, in order.
    func childKeys(at key: PathKey, after: String?, limit: Int) -> [String] {
        attempt([]) { () throws(StoreError) in try reader.childKeys(at: key, after: after, limit: limit) }
    }

    private func attempt<R>(_ absent: R, _ body: () throws(StoreError) -> R) -> R {
        do throws(StoreError) { return try body() } catch {
            if failure == nil { failure = error }
            return absent
        }
    }
}
