public import Tree

/// An `.indexOn` of the rules.
public struct IndexDeclaration: Sendable, Hashable {
    /// What children are sorted by.
    public enum Target: Sendable, Hashable {
        /// Their own values.
        case value
        /// What is at a path below each of them.
        case child(Path)
    }

    /// The names that lead to the node whose children are indexed. One that begins with `$` stands for every key that has no
    /// rules of its own beside it.
    public var pattern: [String]
    /// What the children of that node are sorted by.
    public var target: Target

    /// An index at a place of the rules, for comparing with those of a document.
    public init(pattern: [String], target: Target) {
        self.pattern = pattern
        self.target = target
    }
}
