import EventLoop
import Logging

/// How a log is emptied that snapshots keep from starting over: long reads are ended, so that no snapshot is in the way.
public struct LogEmptying {
    /// The size of a log above which it is emptied if a snapshot holds it back.
    public var bytesMax = Int.max
    /// Ends the long reads, allows no new ones, and then calls the writer's ``StoreWriter/emptyLogSoon()``.
    public var makeWay: (_ logBytes: Int) -> Void = { _ in }
    /// Allows long reads again.
    public var isOver: () -> Void = {}
    fileprivate var isUnderWay = false
    fileprivate var attemptsLeft = 0
    /// The size of the log at which the next attempt begins, after one that failed, for example because of a backup.
    fileprivate var nextBytes = 0
    fileprivate var bytes = 0

    fileprivate static let attemptsMax = 100

    /// An upkeep that never empties the log until the properties are set.
    public init() {}
}

extension StoreWriter {
    /// Called when the long reads have ended, so that the log can be emptied between two transactions.
    public final func emptyLogSoon() { logTimer.start(afterMilliseconds: 0) }

    private func beginToEmptyLog(_ bytes: Int) {
        guard !logEmptying.isUnderWay else { return }
        logEmptying.isUnderWay = true
        logEmptying.attemptsLeft = LogEmptying.attemptsMax
        logEmptying.bytes = bytes
        logEmptying.makeWay(bytes)
    }

    func emptyLog() {
        guard logEmptying.isUnderWay else { return }
        do throws(StoreError) {
            guard let content, logEmptying.attemptsLeft > 0 else { return didEmptyLog(false) }
            logEmptying.attemptsLeft -= 1
            // The snapshot of the reads that are being answered ends in a moment.
            guard !isInTransaction, try content.transactions.emptyLog() else { return logTimer.start(afterMilliseconds: 2) }
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

    func checkpoint(_ occasion: CheckpointOccasion, _ store: any TransactionalStore) {
        do throws(StoreError) {
            let report = try store.checkpoint(occasion)
            if !report.isPaused {
                logIsStuck = nil
                upkeepTrouble.succeeded("checkpoints work again")
            }
            if report.isHeldBack, report.logBytes >= max(logEmptying.bytesMax, logEmptying.nextBytes) { beginToEmptyLog(report.logBytes) }
            guard report.isHeldBack != isHeldBack else { return }
            isHeldBack = report.isHeldBack
            guard isHeldBack else { return }
            log.warning(
                "a long read keeps the write-ahead log from being truncated",
                metadata: words.metadata.merging(["bytes": "\(report.logBytes)"]) { $1 })
        } catch {
            if error.kind == .full || logIsStuck != nil { logIsStuck = error }
            upkeepTrouble.failed("a checkpoint failed", error)
        }
    }
}
