import Tree

/// A change that a function runs for, as the matcher finds it.
struct TriggeredEvent: Sendable {
    /// The function, and what it asked for.
    var declaration: TriggerDeclaration
    /// Where the value changed.
    var path: Path
    /// What happened to the value: never `written`.
    var change: TriggerKind
    /// What the function is given.
    var payload: [UInt8]
}
