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
    /// For the changes of several transactions in the result of a query: the state before the first of them. A listener whose state is between
    /// them has to read again.
    public var since: UInt64?

    /// Whether a listener with the state of a commit can continue with the change.
    package func continues(_ state: UInt64) -> Bool { since.map { state <= $0 || state >= commit } ?? true }

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
    /// A write at, above or below the path was committed. For a query: its result has changed, by new nodes below the path, in the order for
    /// clients.
    case changed(TreeChange)
    /// The result of the query may have changed with this commit and later ones. News follow, and then ``settled``.
    case due(UInt64)
    /// Nothing is due. Also the answer to ``Namespace/Listening/follow()``.
    case settled
    /// The result of the query may have changed up to this commit. Listeners with an earlier state have to read it again.
    case outdated(UInt64)
    /// Other rules are in force.
    case rulesChanged(RuleSet)
}
