import EventLoop
import Logging

extension NamespaceWriter {
    /// A small step of what may wait: rows of deleted subtrees, new indexes, the checkpoint. Each step is short, so that a
    /// write that arrives meanwhile does not wait for long.
    func keepHouse() {
        guard !isInTransaction else { return housekeeping.start(afterMilliseconds: 1) }
        guard let open, open.tree.hasUpkeep || hasUnstoredRules else { return quietTimer.start(afterMilliseconds: 200) }
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
                "a long read keeps the log of changes from being emptied", metadata: ["namespace": "\(settings.name)", "bytes": "\(report.logBytes)"])
        } catch {
            upkeepTrouble.failed("a checkpoint failed", error)
        }
    }
}
