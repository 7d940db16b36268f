import Tree

/// A change that triggers a function, as found by the matcher.
struct TriggeredEvent: Sendable {
    /// The function's declaration.
    var declaration: TriggerDeclaration
    /// The path of the changed value.
    var path: Path
    /// The kind of change, never `written`.
    var change: TriggerKind
    /// The input of the function.
    var payload: [UInt8]
}
