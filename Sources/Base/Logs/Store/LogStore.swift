import EventLoop
import Glibc
import HearthBytes
import Synchronization

/// Keeps the newest lines of the log on the disk and passes new lines to followers. Usable from any thread.
///
/// Lines are queued in memory; a separate thread writes them in batches. Lines that cannot be written are dropped and
/// counted. Ids increase, across restarts too: an id is the line's time in microseconds, or the previous id plus one.
package final class LogStore: @unchecked Sendable {
    // Unchecked: semaphores are thread-safe, the files belong to the writing thread, and everything else is protected by mutexes.

    package struct Figures: Sendable {
        /// The number of lines that were not kept.
        package var dropped = 0
        /// The size of the kept files.
        package var bytes = 0
        package var followers = 0

        package init(dropped: Int = 0, bytes: Int = 0, followers: Int = 0) {
            self.dropped = dropped
            self.bytes = bytes
            self.followers = followers
        }
    }

    private struct State: ~Copyable {
        var waiting = ByteBuffer()
        var lastID: Int64
        var dropped = 0
        var bytes = 0
        var isWriting = false
    }

    let directory: String
    private let limits: LogFiles.Limits
    private let state: Mutex<State>
    private let followers = Mutex<[LogMailbox]>([])
    private let wake: UnsafeMutablePointer<sem_t>

    /// The most bytes that wait to be written.
    private static let waitingBytesMax = 4 << 20
    /// The most followers at a time.
    package static let followersMax = 64

    /// - Parameter directory: created if it is missing.
    package init(directory: String, limits: LogFiles.Limits) {
        self.directory = directory
        self.limits = limits
        mkdir(directory, 0o700)
        state = Mutex(State(lastID: LogFiles.lastID(in: directory)))
        wake = .allocate(capacity: 1)
        sem_init(wake, 0, 0)
    }

    /// Starts the writing thread.
    ///
    /// - Parameter report: called with a line that describes a problem of the store.
    /// - Throws: `LoopError` if no thread can be started.
    func start(report: @escaping @Sendable (LogLine) -> Void) throws(LoopError) {
        try DetachedThread.start { [self] in writeForever(report) }
    }

    /// Queues a line in the format of ``LogLine/appendMembers(time:to:)``.
    func append(_ members: Span<UInt8>, time: WallClock) {
        let isFirst = state.withLock { state in
            guard state.waiting.count < Self.waitingBytesMax else {
                state.dropped += 1
                return false
            }
            let id = max(state.lastID + 1, time.unixMicroseconds)
            state.lastID = id
            let wasEmpty = state.waiting.isEmpty
            state.waiting.append("{\"id\":")
            state.waiting.append(decimal: Int(id))
            state.waiting.append(",")
            state.waiting.append(members)
            return wasEmpty
        }
        if isFirst { sem_post(wake) }
    }

    /// Waits up to two seconds until all lines are written.
    func flush() {
        for _ in 0..<2000 where state.withLock({ !$0.waiting.isEmpty || $0.isWriting }) { usleep(1000) }
    }

    package var figures: Figures {
        let followers = followers.withLock { $0.count }
        return state.withLock { Figures(dropped: $0.dropped, bytes: $0.bytes, followers: followers) }
    }

    /// The current files. A file may be deleted before the caller reads it.
    package func segments() -> [LogSegment] { LogSegment.all(in: directory) }

    /// The id of the last accepted line.
    package var lastID: Int64 { state.withLock { $0.lastID } }

    // MARK: Following

    /// Delivers all further lines that match the mailbox's filter to it.
    ///
    /// - Returns: false if there are too many followers already.
    package func follow(_ mailbox: LogMailbox) -> Bool {
        followers.withLock { followers in
            guard followers.count < Self.followersMax else { return false }
            followers.append(mailbox)
            return true
        }
    }

    package func unfollow(_ mailbox: LogMailbox) { followers.withLock { $0.removeAll { $0 === mailbox } } }

    // MARK: Writing

    private func writeForever(_ report: (LogLine) -> Void) -> Never {
        var files = LogFiles(directory: directory, limits: limits)
        let size = files.sizeBytes
        state.withLock { $0.bytes = size }
        var isFailing = false
        var lost = 0
        while true {
            if sem_wait(wake) != 0 { continue }
            let lines = takeLines()
            guard !lines.isEmpty else {
                state.withLock { $0.isWriting = false }
                continue
            }
            let kept = files.append(lines.bytes)
            let dropped = kept == lines.count ? 0 : Self.countLines(lines.bytes.extracting(kept..<lines.count))
            lost += dropped
            let size = files.sizeBytes
            state.withLock { state in
                state.bytes = size
                state.dropped += dropped
            }
            // Followers get lines that could not be written, too.
            let everybody = followers.withLock { $0 }
            for follower in everybody { follower.offer(lines.bytes) }
            if let trouble = trouble(dropped, lost, files.failure, &isFailing) { report(trouble) }
            if dropped == 0 { lost = 0 }
            state.withLock { $0.isWriting = false }
        }
    }

    private func takeLines() -> ByteBuffer {
        state.withLock { state in
            var lines = ByteBuffer()
            swap(&lines, &state.waiting)
            state.isWriting = true
            return lines
        }
    }

    private static func countLines(_ bytes: Span<UInt8>) -> Int {
        var count = 0
        LogScan.forEachRange(bytes) { _ in count += 1 }
        return count
    }

    /// Reports lost lines once when the losses begin and once when they end.
    private func trouble(_ dropped: Int, _ lost: Int, _ reason: String?, _ isFailing: inout Bool) -> LogLine? {
        if dropped > 0, !isFailing {
            isFailing = true
            return LogLine(
                severity: .error, label: "hearth",
                message: "log lines cannot be kept (\(reason ?? "unknown reason")); make room on the disk, or lower logging.store.bytes")
        }
        if dropped == 0, isFailing {
            isFailing = false
            return LogLine(severity: .warning, label: "hearth", message: "log lines are kept again; \(lost) were not")
        }
        return nil
    }
}
