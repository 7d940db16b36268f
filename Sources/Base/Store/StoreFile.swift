import EventLoop
public import SQLite

/// A store with one transaction at a time, as its ``StoreWriter`` sees it.
///
/// When an operation fails, the whole transaction is rolled back, and the next `begin` starts a new one. Belongs to one thread.
public protocol TransactionalStore: AnyObject {
    /// Whether a transaction is open.
    var isInTransaction: Bool { get }

    /// Opens a transaction. Only one can be open at a time.
    func begin() throws(StoreError)

    /// Ends the transaction. When it returns, the changes are on the disk, and new snapshots see them.
    func commit() throws(StoreError)

    /// Rolls the transaction back. Does nothing without one, and never fails.
    func rollback()

    /// Moves changes from the log to the file if it is time for that. Call it after each commit with `.committed`, and with `.idle` when
    /// nothing was written for a while. Not inside of a transaction.
    func checkpoint(_ occasion: CheckpointOccasion) throws(StoreError) -> CheckpointReport

    /// Empties the log of changes, however long that takes. Returns false if a snapshot prevents it. Not inside of a transaction.
    func emptyLog() throws(StoreError) -> Bool

    /// The size on the disk, or in memory.
    var sizeBytes: Int { get }
}

/// The open file of a store, with the only connection to it that writes and checkpoints.
public final class StoreFile: TransactionalStore {
    /// The path of a store that ends with its connection.
    public static let inMemory = ":memory:"

    /// For the statements of the store's user.
    public let connection: Connection
    /// The lock that excludes other writers. Released after the connection is closed, not before.
    private var claim: AnyObject?
    private var statements: Statements?
    private var pacer: CheckpointPacer
    /// When the existence of the file is checked next, in nanoseconds of the monotonic clock.
    private var nextLook: UInt64 = 0
    private var isRemoved = false

    private struct Statements {
        let begin: Statement
        let commit: Statement
    }

    /// Opens the file, and makes it or brings it up to date.
    ///
    /// - Parameters:
    ///   - path: its folder must exist. ``inMemory`` for a store that ends with this object.
    ///   - claim: the lock that excludes other writers. Held until the file is closed.
    public init(_ path: String, _ schema: StoreSchema, _ settings: StoreSettings, claim: AnyObject?) throws(StoreError) {
        self.claim = claim
        let connection = try schema.openWriter(path, settings)
        self.connection = connection
        pacer = CheckpointPacer(connection, settings)
        do throws(SQLiteError) {
            statements = Statements(begin: try connection.prepare("BEGIN IMMEDIATE"), commit: try connection.prepare("COMMIT"))
        } catch {
            throw StoreError(error)
        }
    }

    deinit { close() }

    /// Closes the file. Statements of the store's user must have ended; the file cannot be used afterwards.
    public func close() {
        statements = nil
        connection.close()
        claim = nil
    }

    public var isInTransaction: Bool { connection.isInTransaction }

    public func begin() throws(StoreError) {
        guard let statements else { throw StoreError(.other, "\(connection.path) is closed") }
        try requireFile()
        do throws(SQLiteError) { try statements.begin.run() } catch { throw StoreError(error) }
    }

    /// Throws if the file was removed or replaced while it is open: what is written to it is lost when it is closed. Looks once a second at most.
    private func requireFile() throws(StoreError) {
        let now = EventLoop.monotonicNanoseconds()
        if now >= nextLook {
            nextLook = now + 1_000_000_000
            isRemoved = connection.isFileRemoved
        }
        if isRemoved { throw StoreError(.io, "\(connection.path) was removed or replaced while it was open; put it back, or restart the host") }
    }

    public func commit() throws(StoreError) {
        try requireTransaction()
        let before = connection.logPages
        do throws(SQLiteError) { try statements?.commit.run() } catch { throw undo(error) }
        pacer.committed(before: before)
    }

    public func rollback() {
        // If it fails, SQLite has already rolled the transaction back.
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
    }

    /// Throws unless a transaction is open.
    public func requireTransaction() throws(StoreError) {
        guard connection.isInTransaction else { throw StoreError(.other, "\(connection.path): there is no transaction") }
    }

    /// Rolls back the transaction in which `error` happened, so that no part of it can be committed.
    public func undo(_ error: SQLiteError) -> StoreError {
        connection.undo(error)
        return StoreError(error)
    }

    public func checkpoint(_ occasion: CheckpointOccasion) throws(StoreError) -> CheckpointReport {
        guard !connection.isInTransaction else { throw StoreError(.other, "\(connection.path): a checkpoint inside of a transaction") }
        try pacer.run(occasion)
        return pacer.report
    }

    public func emptyLog() throws(StoreError) -> Bool {
        guard !connection.isInTransaction else { throw StoreError(.other, "\(connection.path): the log is emptied inside of a transaction") }
        return try pacer.emptyLog()
    }

    /// The file and its log.
    public var sizeBytes: Int { StoreFiles.size(connection.path) + StoreFiles.size(connection.path + "-wal") }
}

/// A connection that only reads, from snapshots. It neither writes nor checkpoints, and commits do not wait for it. Belongs to one thread.
public final class StoreReader {
    /// For the statements of the store's user.
    public let connection: Connection
    private let beginning: Statement
    private let ending: Statement
    private let touching: Statement
    private let cacheBytes: Int

    /// The size of the cache of a connection that reads a long answer.
    public static let frugalCacheBytes = 256 << 10

    /// Opens a file that a writer has opened before.
    public init(_ path: String, _ schema: StoreSchema, _ settings: StoreSettings) throws(StoreError) {
        cacheBytes = settings.readerCacheBytes
        let connection = try schema.openReader(path, settings)
        self.connection = connection
        do throws(SQLiteError) {
            beginning = try connection.prepare("BEGIN")
            ending = try connection.prepare("COMMIT")
            touching = try connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1")
        } catch {
            throw StoreError(error)
        }
    }

    /// Whether the connection caches few pages, because it reads a long answer from start to end, as many others may do at the same time.
    public var isFrugal = false {
        didSet {
            guard isFrugal != oldValue else { return }
            // If this fails, the cache stays larger.
            try? connection.execute("PRAGMA cache_size = -\((isFrugal ? Self.frugalCacheBytes : cacheBytes) / 1024)")
        }
    }

    /// Makes reads fail where they would have to wait for another connection, for use on a loop.
    public func neverWait() { try? connection.execute("PRAGMA busy_timeout = 0") }

    /// Takes a snapshot: until it ends, reads see the state that was committed when this returned. Not nested.
    public func beginSnapshot() throws(StoreError) {
        do throws(SQLiteError) {
            try beginning.run()
            // A transaction becomes a snapshot with its first read.
            try touching.run()
        } catch {
            endSnapshot()
            throw StoreError(error)
        }
    }

    /// Ends the snapshot. Without one, each read sees the newest committed state.
    public func endSnapshot() {
        guard connection.isInTransaction else { return }
        // Ending a read-only transaction fails during a read, and takes effect when the read ends.
        try? ending.run()
    }
}
