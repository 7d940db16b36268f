public import Tree

/// A state of the tree that rules look at. Only what an expression touches is asked for.
///
/// Rules know no failing store: whoever implements this remembers the failure and answers as if nothing were there.
public protocol RuleData {
    /// The value at `key` when it is a leaf.
    func leaf(at key: PathKey) -> Leaf?
    /// Whether anything is at `key`.
    func exists(at key: PathKey) -> Bool
    /// Whether anything is below `key`.
    func hasChildren(at key: PathKey) -> Bool
    /// The priority of the node at `key`.
    func priority(at key: PathKey) -> Priority?
}
