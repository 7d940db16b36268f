public import Tree

/// A change that a function runs for, as the matcher finds it.
public struct TriggeredEvent: Sendable {
    /// The function, and what it asked for.
    public var declaration: TriggerDeclaration
    /// Where the value changed.
    public var path: Path
    /// What happened to the value: never `written`.
    public var change: TriggerKind
    /// The values before and after; nil where they are larger than an event may be.
    public var values: Values?

    /// The two values of a change.
    public struct Values: Sendable {
        /// What was there; empty when it was created.
        public var before: Node
        /// What is there now; empty when it was deleted.
        public var after: Node
    }
}
