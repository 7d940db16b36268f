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

/// How a log that snapshots keep from beginning anew is emptied: long answers are ended, then nothing is in the way.
struct LogEmptying {
    /// Has the reader end its long answers and begin none, and then call the writer's `emptyLogSoon()`.
    var makeWay: (_ logBytes: Int) -> Void = { _ in }
    /// Tells the reader that it may begin long answers again.
    var isOver: () -> Void = {}
    fileprivate var isUnderWay = false
    fileprivate var attemptsLeft = 0
    /// After it was in vain, because of a backup for example: how long the log is before it is tried again.
    fileprivate(set) var nextBytes = 0
    fileprivate var bytes = 0

    fileprivate static let attemptsMax = 100
}

extension NamespaceWriter {
    fileprivate func beginToEmptyLog(_ bytes: Int) {
        guard !logEmptying.isUnderWay else { return }
        logEmptying.isUnderWay = true
        logEmptying.attemptsLeft = LogEmptying.attemptsMax
        logEmptying.bytes = bytes
        logEmptying.makeWay(bytes)
    }

    /// Long answers have ended. Between two transactions, the log can be emptied.
    func emptyLogSoon() { logTimer.start(afterMilliseconds: 0) }

    func emptyLog() {
        guard logEmptying.isUnderWay else { return }
        do throws(StoreError) {
            guard let store = open?.store, logEmptying.attemptsLeft > 0 else { return didEmptyLog(false) }
            logEmptying.attemptsLeft -= 1
            // The snapshot of the reads that are answered now ends in a moment.
            guard !isInTransaction, try store.emptyLog() else { return logTimer.start(afterMilliseconds: 2) }
            didEmptyLog(true)
        } catch {
            upkeepTrouble.failed("the log of changes cannot be emptied", error)
            didEmptyLog(false)
        }
    }

    private func didEmptyLog(_ isEmpty: Bool) {
        logEmptying.isUnderWay = false
        logEmptying.nextBytes = isEmpty ? 0 : logEmptying.bytes + logEmptying.bytes / 4
        logEmptying.isOver()
    }

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
            if report.isHeldBack, report.logBytes >= max(settings.limits.logBytesMax, logEmptying.nextBytes) { beginToEmptyLog(report.logBytes) }
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
