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
        /// Reads, writes and checkpoints. The file is created if it does not exist.
        case readWrite
        /// Only reads. Never checkpoints, not even when it is closed last.
        case readOnly
    }

    /// The path of the file. `:memory:` is a private database of this connection.
    public let path: String
    /// The rights, which cannot be changed after opening.
    public let access: Access
    /// SQLite's connection.
    package let handle: OpaquePointer
    /// The memory to which the hook writes. It must outlive the last commit.
    private let logFrames: UnsafeMutablePointer<Int>
    private var isClosed = false
    private var cache: [String: [Statement]] = [:]

    /// Opens the file.
    ///
    /// - Throws: `SQLiteError`, mostly of the kind `cannotOpen`. That the file is not a database is often found by the first statement only.
    public init(_ path: String, access: Access = .readWrite) throws(SQLiteError) {
        _ = Connection.isConfigured
        let mode = access == .readWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        var handle: OpaquePointer?
        // The compiler ensures that connections stay on their threads, so SQLite's mutexes would only cost time.
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
        // This also disables SQLite's automatic checkpoints, because both use the same hook.
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

    /// Closes the file, at the latest when its last statement is released. The connection cannot be used afterwards.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        cache.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Disables memory statistics, because they lock a mutex of the whole process for each allocation.
    private static let isConfigured: Bool = csqlite_without_memory_statistics() == SQLITE_OK

    // MARK: Statements

    /// Runs all statements in `sql`, ignoring their rows.
    public func execute(_ sql: String) throws(SQLiteError) {
        errno = 0
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, connection: handle, operation: sql) }
    }

    /// Compiles `sql`, which must be a single statement.
    public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try Statement(handle, sql)
    }

    /// Calls `body`, which binds and steps, with a compiled statement. Afterwards the statement is reset, and kept for later use.
    ///
    /// Calls with the same text may be nested: they use different statements.
    public func with<R>(_ sql: String, _ body: (Statement) throws(SQLiteError) -> R) throws(SQLiteError) -> R {
        let statement = if let kept = cache[sql]?.popLast() { kept } else { try prepare(sql) }
        defer {
            statement.reset()
            statement.clear()
            cache[sql, default: []].append(statement)
        }
        return try body(statement)
    }

    /// Runs `sql` with `values` for its parameters. Returns the number of changed rows.
    @discardableResult
    public func run(_ sql: String, _ values: Value...) throws(SQLiteError) -> Int { try run(sql, values: values) }

    /// Runs `sql` with `values` for its parameters. Returns the number of changed rows.
    @discardableResult
    public func run(_ sql: String, values: [Value]) throws(SQLiteError) -> Int {
        try with(sql) { statement throws(SQLiteError) in
            statement.bind(values)
            while try statement.step() {}
        }
        return changes
    }

    /// The rows of `sql`, each converted while it is read; those that `convert` makes nil of are left out.
    public func rows<R>(_ sql: String, values: [Value], _ convert: (Statement) -> R?) throws(SQLiteError) -> [R] {
        try with(sql) { statement throws(SQLiteError) -> [R] in
            statement.bind(values)
            var found: [R] = []
            while try statement.step() { if let row = convert(statement) { found.append(row) } }
            return found
        }
    }

    /// The first column of the first row of `sql`; nil if there is no row.
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

    /// The number of rows that the last statement inserted, updated or deleted.
    public var changes: Int { Int(sqlite3_changes64(handle)) }

    /// The number of rows that were inserted, updated or deleted since the connection was opened, including rolled-back transactions.
    public var totalChanges: Int { Int(sqlite3_total_changes64(handle)) }

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

    /// Rolls back the transaction in which `error` happened, even in its `COMMIT`, so that none of it is visible, not even after a crash.
    public func undo(_ error: SQLiteError) {
        // After some failures, SQLite has already rolled it back.
        if isInTransaction { try? execute("ROLLBACK") }
        // A log that could not be synced contains the whole transaction, which the next process to open the file would consider committed.
        // Therefore it is overwritten by a commit that changes nothing. If that cannot be synced either, at least the kernel's state is correct.
        guard error.extendedCode == csqlite_ioerr_fsync(), case .integer(let version) = try? value("PRAGMA user_version") else { return }
        try? execute("PRAGMA user_version = \(version)")
    }

    // MARK: The write-ahead log

    /// The number of pages in the log after this connection's last commit.
    public var logPages: Int { logFrames.pointee }

    /// Whether the database's file is no longer at its path.
    public var isFileRemoved: Bool {
        var hasMoved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
    }

    /// The result of a checkpoint.
    public struct Checkpoint: Sendable, Hashable {
        /// The number of pages in the log.
        public var logPages: Int
        /// The number of pages in the log whose newest state is already in the database file.
        public var movedPages: Int
    }

    /// Moves pages from the log to the database file, as far as readers allow, without waiting.
    ///
    /// Changes after the oldest snapshot of a reader stay in the log.
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

    /// Moves the whole log to the database file and truncates it, without waiting.
    ///
    /// - Returns: false if a snapshot of a reader prevents it. Then a part may have been moved.
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
