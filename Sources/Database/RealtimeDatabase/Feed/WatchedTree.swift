import Rules
import Tree

/// A tree that notes which places rules look at, and which changes may change what they find.
final class WatchedTree<Base: RuleData>: RuleData {
    private let tree: Base
    private var places: [PathKey: WatchedPlace.Changes] = [:]

    /// The most places that are worth watching.
    private static var countMax: Int { 64 }

    init(_ tree: Base) { self.tree = tree }

    /// The places; nil if there are too many of them.
    var watched: [WatchedPlace]? {
        guard places.count <= Self.countMax else { return nil }
        return places.map { WatchedPlace(path: PathKey.path(of: $0.key.bytes.span), below: $0.value) }
    }

    func leaf(at key: PathKey) throws(Base.Failure) -> Leaf? {
        let leaf = try tree.leaf(at: key)
        // A write below a leaf replaces it. A node that is no leaf does not become one in this way.
        note(key, leaf == nil ? [] : .writes)
        return leaf
    }

    func exists(at key: PathKey) throws(Base.Failure) -> Bool {
        let exists = try tree.exists(at: key)
        note(key, exists ? .deletions : .writes)
        return exists
    }

    func hasChildren(at key: PathKey) throws(Base.Failure) -> Bool {
        let hasChildren = try tree.hasChildren(at: key)
        note(key, hasChildren ? .deletions : .writes)
        return hasChildren
    }

    func priority(at key: PathKey) throws(Base.Failure) -> Priority? {
        let priority = try tree.priority(at: key)
        // A node that loses its last child loses its priority.
        note(key, priority == nil ? [] : .deletions)
        return priority
    }

    private func note(_ key: PathKey, _ changes: WatchedPlace.Changes) {
        guard places.count <= Self.countMax else { return }
        places[key, default: []].formUnion(changes)
    }
}
