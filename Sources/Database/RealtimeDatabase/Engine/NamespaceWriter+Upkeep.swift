import EventLoop
import Logging
import Store
import Synchronization

/// Whether a namespace's writer has no work left except for a checkpoint. For threads that must not wait for the writer's thread.
final class QuietMark: Sendable {
    private let mark = Atomic(false)

    var isSet: Bool {
        get { mark.load(ordering: .acquiring) }
        set { mark.store(newValue, ordering: .releasing) }
    }
}

extension NamespaceWriter {
    /// Performs postponed work in small steps until none is left. Continues after a step that fails, so that a namespace with failures is not
    /// quiet.
    func keepHouseSoon() {
        quiet.isSet = false
        housekeeping.start(afterMilliseconds: 1)
    }

    /// Performs a small step of postponed work: rows of deleted subtrees, new indexes, the rules file. Each step is short, so that a write that
    /// arrives meanwhile does not wait for long.
    func keepHouse() {
        guard !isInTransaction else { return housekeeping.start(afterMilliseconds: 1) }
        guard let open = content, open.tree.hasUpkeep || hasUnstoredRules else { return quiet.isSet = true }
        storeRulesFile()
        inTurn({ _ in }) { open throws(StoreError) in
            let version = open.tree.state.version
            var hasMore = try open.tree.sweep(budget: 2000)
            if !hasMore { hasMore = try open.tree.buildIndexes(budget: 1000) }
            // The last step has also changed something, although no work is left.
            if hasMore || open.tree.state.version != version { hasChanges = true }
        }
    }
}
