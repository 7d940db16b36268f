import SQLite

/// Moves the log of changes into the database file, a little at a time.
///
/// While it does, the writer waits: for the pages to be copied, and for the disk to have them. How long that takes depends on
/// the disk and on how many different pages there are, which SQLite does not tell. So each checkpoint is timed, and the next
/// one comes sooner or later. docs/decisions/sqlite.md has the figures.
struct LogUpkeep {
    private let connection: Connection
    private let settings: SQLiteSettings
    private let clock = ContinuousClock()
    /// So many pages have to wait before a checkpoint is due.
    private(set) var limitPages = LogUpkeep.limitPagesFirst
    /// Pages of the log whose newest state is in the database file, too.
    private var movedPages = 0
    /// After a snapshot was in the way: so many pages have to wait before it is tried again.
    private var retryPages = 0
    /// Whether the log could not be moved, or not be begun anew, because of a snapshot.
    private var isBlocked = false

    private static let limitPagesFirst = 128
    private static let limitPagesMin = 32
    /// A checkpoint that took less lets the next one come later, one that took more, sooner.
    private static let goodMilliseconds = 2...4

    init(_ connection: Connection, settings: SQLiteSettings) {
        self.connection = connection
        self.settings = settings
    }

    private var pendingPages: Int { max(connection.logPages - movedPages, 0) }

    /// Notes that a commit was made to a log that had `before` pages.
    mutating func committed(before: Int) {
        if connection.logPages <= before {
            // It began anew, which happens only when all of it had been moved.
            movedPages = 0
            retryPages = 0
            isBlocked = false
        } else if movedPages == before, before > 0 {
            // It could have begun anew, but a snapshot still reads from it.
            isBlocked = true
        }
    }

    /// A checkpoint, if it is time for one.
    mutating func run(_ occasion: CheckpointOccasion) throws(StoreError) {
        let due = occasion == .idle ? 1 : max(limitPages, retryPages)
        guard pendingPages >= due else { return }
        let start = clock.now
        do {
            let result = try connection.checkpoint()
            movedPages = result.movedPages
            isBlocked = result.movedPages < result.logPages
        } catch {
            throw StoreError(error)
        }
        // To find out that a snapshot is in the way takes time that grows with the log.
        retryPages = isBlocked ? 2 * pendingPages : 0
        if occasion == .committed, !isBlocked { adapt(to: clock.now - start) }
    }

    /// Empties the log now, as far as no snapshot is in the way.
    ///
    /// - Returns: whether it is empty.
    mutating func emptyLog() throws(StoreError) -> Bool {
        do {
            guard try connection.emptyLog() else { return false }
        } catch {
            throw StoreError(error)
        }
        movedPages = 0
        retryPages = 0
        isBlocked = false
        return true
    }

    private mutating func adapt(to duration: Duration) {
        if duration > .milliseconds(LogUpkeep.goodMilliseconds.upperBound) {
            limitPages = max(limitPages * 2 / 3, LogUpkeep.limitPagesMin)
        } else if duration < .milliseconds(LogUpkeep.goodMilliseconds.lowerBound) {
            limitPages = min(limitPages * 5 / 4, settings.logPagesMax)
        }
    }

    var report: CheckpointReport {
        var report = CheckpointReport()
        report.logBytes = connection.logPages * settings.pageSizeBytes
        report.pendingBytes = pendingPages * settings.pageSizeBytes
        report.isHeldBack = isBlocked && report.logBytes >= settings.logBytesHeldBack
        return report
    }
}
