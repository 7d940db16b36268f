import Store
import Tree

/// Finds the functions that a write triggers, among those for one namespace.
///
/// The patterns form a tree. For a write, this tree is walked together with the data, so that the time depends on the size of the write and
/// not on the number of functions (spec functions 8.3).
public final class TriggerMatcher: Sendable {
    /// The reason why matching has failed.
    enum Failure: Error {
        case refused(TriggerRefusal)
        case store(StoreError)
    }

    let trie: TriggerTrie

    /// - Parameter declarations: the functions and their patterns.
    public init(_ declarations: [TriggerDeclaration]) { trie = TriggerTrie(declarations) }

    /// Calls `emit` with each event of a write, once for each function and path.
    ///
    /// - Parameters:
    ///   - changes: the written nodes, with server values resolved. No path is at or below another one.
    ///   - old: the tree before the write.
    /// - Returns: the cost of matching.
    @discardableResult
    func events(
        changes: [(path: Path, node: Node)], old: TreeReader, limits: TriggerLimits,
        emit: (TriggeredEvent) throws(StoreError) -> Void
    ) throws(Failure) -> MatchCost {
        var walk = TriggerWalk(trie: trie, old: old, limits: limits)
        return try walk.run(changes, emit)
    }
}

/// The cost of finding the events of a write.
struct MatchCost: Sendable, Hashable {
    /// The number of visited nodes in the tree of patterns, counted for each visit.
    var visitedNodes = 0
    /// The number of events that were found.
    var events = 0
}
