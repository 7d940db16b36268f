import Tree

/// Finds the functions that a write runs, among those that watch one namespace.
///
/// The patterns are a tree of their own. A write walks it together with the tree's data, so that the time grows with what is
/// written and not with the number of functions (spec functions 8.3).
public final class TriggerMatcher: Sendable {
    /// Why matching ended early.
    enum Failure: Error {
        case refused(TriggerRefusal)
        case store(StoreError)
    }

    let trie: TriggerTrie

    /// - Parameter declarations: what is watched.
    public init(_ declarations: [TriggerDeclaration]) { trie = TriggerTrie(declarations) }

    /// Hands the events of a write to `emit`, one at a time, each once for its function and path.
    ///
    /// - Parameters:
    ///   - changes: what is written, with server values resolved; no path is at or below another.
    ///   - old: the tree before the write.
    /// - Returns: what it took.
    @discardableResult
    func events(
        changes: [(path: Path, node: Node)], old: TreeReader, limits: TriggerLimits,
        emit: (TriggeredEvent) throws(StoreError) -> Void
    ) throws(Failure) -> MatchCost {
        var walk = TriggerWalk(trie: trie, old: old, limits: limits)
        return try walk.run(changes, emit)
    }
}

/// What it took to find the events of a write.
struct MatchCost: Sendable, Hashable {
    /// Nodes of the patterns' tree that were looked at, each time counted.
    var visitedNodes = 0
    /// Events that were found.
    var events = 0
}
