import EventLoop
import Logging
import Synchronization

/// Whether a namespace's writer has nothing left to do but a checkpoint, for those who must not wait for its thread.
final class QuietMark: Sendable {
    private let mark = Atomic(false)

    var isSet: Bool {
        get { mark.load(ordering: .acquiring) }
        set { mark.store(newValue, ordering: .releasing) }
    }
}

extension NamespaceWriter {
    /// Has what may wait done in small steps, until there is nothing left of it. A step that fails is not the last one: a namespace
    /// that is in trouble does not become quiet.
    func keepHouseSoon() {
        quiet.isSet = false
        housekeeping.start(afterMilliseconds: 1)
    }

    /// A small step of what may wait: rows of deleted subtrees, new indexes, the checkpoint. Each step is short, so that a
    /// write that arrives meanwhile does not wait for long.
    func keepHouse() {
        guard !isInTransaction else { return housekeeping.start(afterMilliseconds: 1) }
        guard let open, open.tree.hasUpkeep || hasUnstoredRules else {
            quiet.isSet = true
            return quietTimer.start(afterMilliseconds: 200)
        }
        storeRulesFile()
        inTransaction({ _ in }) { open throws(StoreError) in
            let version = open.tree.state.version
            var hasMore = try open.tree.sweep(budget: 2000)
            if !hasMore { hasMore = try open.tree.buildIndexes(budget: 1000) }
            // The last step, which leaves nothing to do, has changed something, too.
            if hasMore || open.tree.state.version != version { batch.hasChanges = true }
        }
    }

    /// Nobody has written for a while.
    func keepQuiet() {
        guard !isInTransaction, let store = open?.store else { return }
        checkpoint(.idle, store)
    }

    func checkpoint(_ occasion: CheckpointOccasion, _ store: any OrderedStore) {
        do throws(StoreError) {
            let report = try store.checkpoint(occasion)
            upkeepTrouble.succeeded("checkpoints work again")
            guard report.isHeldBack != isHeldBack else { return }
            isHeldBack = report.isHeldBack
            guard isHeldBack else { return }
            settings.log.warning(
                "a long read keeps the write-ahead log from being truncated",
                metadata: ["namespace": "\(settings.name)", "bytes": "\(report.logBytes)"])
        } catch {
            upkeepTrouble.failed("a checkpoint failed", error)
        }
    }
}
