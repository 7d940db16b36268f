import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open database file. It and its statements belong to one thread at a time.
public final class Connection {
    /// The rights of a connection.
    public enum Access: Sendable {
        /// Reads, writes and checkpoints. The file is made when it is not there.
        case readWrite
        /// Reads. Neither writes nor checkpoints, not even when it is the last one to close.
        case readOnly
    }

    /// The file; `:memory:` is a database of this connection's own.
    public let path: String
    /// Fixed when it is opened.
    public let access: Access
    let handle: OpaquePointer
    /// Where the hook writes, which outlives the last commit but not the connection.
    private let logFrames: UnsafeMutablePointer<Int>
    private var isClosed = false
    private var cache: [String: [Statement]] = [:]

    /// Opens the file.
    /// || - Throws: `SQLiteError`, mostly of the kind `cannotOpen`; that it is no database is often found out by the first statement only.
    public init(_ path: String, access: Access = .readWrite) throws(SQLiteError) {
        _ = Connection.isConfigured
        let mode = access == .readWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        var handle: OpaquePointer?
        // The compiler keeps connections on their threads, so SQLite's own mutexes would only cost time.
        errno = 0
        let code = sqlite3_open_v2(path, &handle, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(code, connection: handle, operation: "open \(path)")
            sqlite3_close_v2(handle)
            throw error
        }
        self.path = path
        self.access = access
        self.handle = handle
        logFrames = .allocate(capacity: 1)
        logFrames.initialize(to: 0)
        // Also switches SQLite's own checkpoints off: both are one hook.
        sqlite3_wal_hook(
            handle,
            { frames, _, _, count in
                frames?.assumingMemoryBound(to: Int.self).pointee = Int(count)
                return SQLITE_OK
            }, logFrames)
        if access == .readOnly {
            _ = csqlite_no_checkpoint_on_close(handle)
            try execute("PRAGMA query_only = ON")
        }
    }

    deinit {
        close()
        logFrames.deallocate()
    }

    /// Closes the file, when the last statement is gone at the latest. The connection cannot be used afterwards.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        cache.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Counting all memory takes a mutex of the whole process for each allocation.
    private static let isConfigured: Bool = csqlite_without_memory_statistics() == SQLITE_OK

    /// The version of SQLite that is linked, such as `3.40.1`.
    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    // MARK: Statements

    /// Runs each statement of `sql`; rows are not looked at.
    public func execute(_ sql: String) throws(SQLiteError) {
        errno = 0
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, connection: handle, operation: sql) }
    }

    /// Compiles `sql`, which is one statement.
    public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try Statement(handle, sql)
    }

    /// Hands a compiled statement to `body`, which binds and steps; afterwards it is reset and kept for the next time.
    ///
    /// May be called again with the same text while `body` runs: it has another statement then.
    public func with<R>(_ sql: String, _ body: (Statement) throws(SQLiteError) -> R) throws(SQLiteError) -> R {
        let statement = if let kept = cache[sql]?.popLast() { kept } else { try prepare(sql) }
        defer {
            statement.reset()
            statement.clear()
            cache[sql, default: []].append(statement)
        }
        return try body(statement)
    }

    /// Runs `sql` with `values` for its parameters; how many rows it changed.
    @discardableResult
    public func run(_ sql: String, _ values: Value...) throws(SQLiteError) -> Int {
        try with(sql) { statement throws(SQLiteError) in
            statement.bind(values)
            while try statement.step() {}
        }
        return changes
    }

    /// The first column of the first row of `sql`; nil when there is no row.
    public func value(_ sql: String, _ values: Value...) throws(SQLiteError) -> Value? {
        try with(sql) { statement throws(SQLiteError) in
            statement.bind(values)
            return try statement.step() ? statement.value(at: 0) : nil
        }
    }

    /// All rows of `sql`, copied.
    public func rows(_ sql: String, _ values: Value...) throws(SQLiteError) -> [[Value]] {
        try with(sql) { statement throws(SQLiteError) in
            statement.bind(values)
            var rows: [[Value]] = []
            while try statement.step() {
                rows.append((0..<statement.columnCount).map { statement.value(at: $0) })
            }
            return rows
        }
    }

    /// How many rows the last statement inserted, updated or deleted.
    public var changes: Int { Int(sqlite3_changes64(handle)) }

    // MARK: Transactions

    /// Whether a transaction is open. Some failures (a full disk) end it by themselves.
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs `body` in a transaction that is committed when it returns and rolled back when it throws.
    public func transaction<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            undo(error)
            throw error
        }
    }

    /// Ends the transaction that has met `error`, its `COMMIT` too, so that nothing of it is there, also after a crash.
    public func undo(_ error: SQLiteError) {
        // Some failures have ended it by themselves.
        if isInTransaction { try? execute("ROLLBACK") }
        // A log that could not be synced contains the whole transaction, and the next process to open the file would take it as committed.
        // So replace it by a commit that changes nothing; if that cannot be synced either, it is at least the kernel's state of the log.
        guard error.extendedCode == csqlite_ioerr_fsync(), case .integer(let version) = try? value("PRAGMA user_version") else { return }
        try? execute("PRAGMA user_version = \(version)")
    }

    // MARK: The write-ahead log

    /// The pages that the log held after this connection's last commit.
    public var logPages: Int { logFrames.pointee }

    /// The result of a checkpoint.
    public struct Checkpoint: Sendable, Hashable {
        /// Pages in the log.
        public var logPages: Int
        /// Those of them whose newest state is in the database file, too.
        public var movedPages: Int
    }

    /// Moves pages from the log to the database file as far as nobody is in the way, and waits for nobody.
    ///
    /// Snapshots of readers are in the way: what was committed after the oldest of them stays in the log.
    /// Only one connection of a file may write or checkpoint: docs/decisions/sqlite.md.
    public func checkpoint() throws(SQLiteError) -> Checkpoint {
        guard access == .readWrite else {
            throw SQLiteError(extendedCode: SQLITE_READONLY, message: "readers do not checkpoint", operation: "checkpoint")
        }
        var log: Int32 = 0
        var moved: Int32 = 0
        errno = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &log, &moved)
        guard code == SQLITE_OK else { throw SQLiteError(code, connection: handle, operation: "checkpoint") }
        return Checkpoint(logPages: max(Int(log), 0), movedPages: max(Int(moved), 0))
    }

    /// Moves all of the log to the database file and gives back what it takes on the disk. Waits for nobody.
    ///
    /// - Returns: false where a snapshot of a reader is in the way; then some of it may have been moved.
    public func emptyLog() throws(SQLiteError) -> Bool {
        guard access == .readWrite else {
            throw SQLiteError(extendedCode: SQLITE_READONLY, message: "readers do not checkpoint", operation: "empty the log")
        }
        let patience = try value("PRAGMA busy_timeout")
        try execute("PRAGMA busy_timeout = 0")
        defer { if case .integer(let milliseconds) = patience { try? execute("PRAGMA busy_timeout = \(milliseconds)") } }
        errno = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xFF == SQLITE_BUSY { return false }
        guard code == SQLITE_OK else { throw SQLiteError(code, connection: handle, operation: "empty the log") }
        logFrames.pointee = 0
        return true
    }
}
