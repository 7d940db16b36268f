import SQLite

/// The reason why a checkpoint may be due.
public enum CheckpointOccasion: Sendable {
    /// A transaction was committed, and more may be waiting.
    case committed
    /// No writes are waiting.
    case idle
    /// The disk is full. Moving pages of the log may make room, because the log then starts over.
    case full
}

/// The state of the log after a checkpoint.
public struct CheckpointReport: Sendable, Hashable {
    /// The size of the log of changes.
    public var logBytes = 0
    /// The part of the log that is not in the file yet.
    public var pendingBytes = 0
    /// Whether a snapshot that does not end makes the log grow without bound. Reported in the host's log.
    public var isHeldBack = false
    /// Whether the last checkpoint failed, so that none is attempted for a moment.
    public var isPaused = false

    /// The report of a store without a log.
    public init() {}
}

/// Moves the log of changes into the database file, a little at a time.
///
/// The writer waits meanwhile, until the pages are copied and durable. The duration depends on the disk and on the number of different
/// pages, which SQLite does not report. Therefore each checkpoint is timed, and the time determines when the next one is due. The
/// figures are in docs/decisions/sqlite.md.
struct CheckpointPacer {
    private let connection: Connection
    private let settings: StoreSettings
    private let clock = ContinuousClock()
    /// The number of waiting pages from which on a checkpoint is due.
    private(set) var limitPages: Int
    /// The number of pages in the log whose newest state is already in the database file.
    private var movedPages = 0
    /// The number of waiting pages from which on a checkpoint that a snapshot prevented is attempted again.
    private var retryPages = 0
    /// Whether a snapshot prevented that the log was moved, or started over.
    private var isBlocked = false
    /// The time before which no checkpoint is attempted, after a failure such as a full disk.
    private var notBefore: ContinuousClock.Instant?

    /// The free room of the disk at the last failure.
    private var freeBytesAtFailure = 0
    /// The number of waiting pages at which the free room of the disk is checked next.
    private var lookPages = pagesBetweenLooks

    private static let pauseMax = Duration.seconds(1)
    private static let pagesBetweenLooks = 64

    init(_ connection: Connection, _ settings: StoreSettings) {
        self.connection = connection
        self.settings = settings
        limitPages = settings.pace.pagesFirst
    }

    private var pendingPages: Int { max(connection.logPages - movedPages, 0) }

    /// Notes that a commit was made to a log that had `before` pages.
    mutating func committed(before: Int) {
        if connection.logPages <= before {
            // The log has started over, which happens only when all of it had been moved.
            movedPages = 0
            retryPages = 0
            lookPages = Self.pagesBetweenLooks
            isBlocked = false
        } else if movedPages == before, before > 0 {
            // The log could have started over, but a snapshot still reads from it.
            isBlocked = true
        }
    }

    /// A checkpoint, if it is time for one.
    mutating func run(_ occasion: CheckpointOccasion) throws(StoreError) {
        switch occasion {
        case .committed: guard pendingPages >= retryPages, pendingPages >= limitPages || isRoomShort() else { return }
        case .idle: guard pendingPages > 0 else { return }
        // The log may have pages of an earlier process, which are not counted.
        case .full: break
        }
        let isAtLimit = pendingPages >= limitPages
        let start = clock.now
        if occasion != .idle, let notBefore, start < notBefore, freeBytes <= freeBytesAtFailure { return }
        do throws(SQLiteError) {
            let result = try connection.checkpoint()
            movedPages = result.movedPages
            isBlocked = result.movedPages < result.logPages
        } catch {
            // Failed attempts take a fifth of the time at most.
            let end = clock.now
            notBefore = end.advanced(by: min(start.duration(to: end) * 4, Self.pauseMax))
            freeBytesAtFailure = freeBytes
            throw StoreError(error)
        }
        notBefore = nil
        lookPages = pendingPages + Self.pagesBetweenLooks
        // Finding out that a snapshot is in the way takes time that grows with the log.
        retryPages = isBlocked ? 2 * pendingPages : 0
        // A checkpoint for lack of room moves few pages, and says nothing of the time that the limit takes.
        if occasion == .committed, isAtLimit, !isBlocked { adapt(to: clock.now - start) }
    }

    private var freeBytes: Int { StoreFiles.freeBytes(around: connection.path) }

    /// Whether little room is left on the disk. The database file may grow by as much as is waiting, so the log must not take that room: a disk that
    /// is full of the log alone could not be emptied any more.
    private mutating func isRoomShort() -> Bool {
        guard pendingPages >= lookPages else { return false }
        lookPages = pendingPages + Self.pagesBetweenLooks
        return freeBytes / 2 < pendingPages * settings.pageSizeBytes
    }

    /// Empties the log now, as far as snapshots allow.
    ///
    /// - Returns: whether the log is empty.
    mutating func emptyLog() throws(StoreError) -> Bool {
        do throws(SQLiteError) {
            guard try connection.emptyLog() else { return false }
        } catch {
            throw StoreError(error)
        }
        movedPages = 0
        retryPages = 0
        lookPages = Self.pagesBetweenLooks
        notBefore = nil
        isBlocked = false
        return true
    }

    private mutating func adapt(to duration: Duration) {
        if duration > .milliseconds(settings.pace.goodMilliseconds.upperBound) {
            limitPages = max(limitPages * 2 / 3, settings.pace.pagesMin)
        } else if duration < .milliseconds(settings.pace.goodMilliseconds.lowerBound) {
            limitPages = min(limitPages * 5 / 4, settings.logPagesMax)
        }
    }

    var report: CheckpointReport {
        var report = CheckpointReport()
        report.logBytes = connection.logPages * settings.pageSizeBytes
        report.isPaused = notBefore != nil
        report.pendingBytes = pendingPages * settings.pageSizeBytes
        report.isHeldBack = isBlocked && report.logBytes >= settings.logBytesHeldBack
        return report
    }
}
