public import Rules
public import Tree

/// The change of one committed write, for listeners.
public struct TreeChange: Sendable {
    /// The path of the set node, or the base of an update.
    public var path: Path
    /// The kind of change.
    public var kind: Kind
    /// The number of its transaction.
    public var commit: UInt64

    /// The kinds of changes.
    public enum Kind: Sendable {
        /// The new node.
        case put(Node)
        /// The new nodes at paths below. None of the paths is at or below another one.
        case patch([(path: Path, node: Node)])
    }
}

/// The changes of one transaction.
struct ChangeBatch: Sendable {
    /// The number of the transaction.
    var commit: UInt64 = 0
    /// The changes in the order of the writes.
    var changes: [TreeChange] = []
    /// The rules that the transaction has put in force.
    var rules: RuleSet?
}

/// A message to a listener.
public enum ListenerNews: Sendable {
    /// A write at, above or below the path was committed.
    case changed(TreeChange)
    /// Other rules are in force.
    case rulesChanged(RuleSet)
}
