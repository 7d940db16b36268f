public import Rules
public import Tree

/// What one committed write did, for whoever listens.
public struct TreeChange: Sendable {
    /// Where: the set node's path, or the base of an update.
    public var path: Path
    /// What.
    public var kind: Kind
    /// The transaction that it is part of.
    public var commit: UInt64

    /// The two ways in which a tree changes.
    public enum Kind: Sendable {
        /// The node is now this.
        case put(Node)
        /// The nodes at these paths below are now these.
        case patch([(path: Path, node: Node)])
    }
}

/// What a listener hears.
public enum ListenerNews: Sendable {
    /// A write at, above or below the path was committed.
    case changed(TreeChange)
    /// Other rules are in force.
    case rulesChanged(RuleSet)
}
