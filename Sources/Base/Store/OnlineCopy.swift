import CSQLite
public import SQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A copy of a database as it is at one moment, made a few pages at a time while others write.
///
/// Belongs to one thread at a time, like its two connections.
public final class OnlineCopy {
    private let source: Connection
    private let target: Connection
    private var handle: OpaquePointer?
    private var isDone = false

    /// Begins a copy into a new file. Later commits to `path` are not included.
    public init(of path: String, to copy: String) throws(SQLiteError) {
        source = try Connection(path, access: .readOnly)
        try source.execute("PRAGMA busy_timeout = 2000; PRAGMA cache_size = -1024; BEGIN")
        // A transaction becomes a snapshot with its first read.
        _ = try source.value("SELECT count(*) FROM sqlite_schema")
        target = try Connection(copy)
        // An incomplete copy is useless, and is made again after a crash. It need not be durable.
        try target.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096")
        handle = sqlite3_backup_init(target.handle, "main", source.handle, "main")
        if handle == nil { throw SQLiteError(sqlite3_errcode(target.handle), connection: target.handle, operation: "copy \(path)") }
    }

    deinit { end() }

    /// Copies up to `pages` more pages.
    ///
    /// - Returns: whether the copy is complete.
    public func step(pages: Int) throws(SQLiteError) -> Bool {
        guard !isDone, let handle else { return true }
        errno = 0
        let code = sqlite3_backup_step(handle, Int32(pages))
        switch code {
        case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED: return false
        case SQLITE_DONE:
            isDone = true
            end()
            return true
        default: throw SQLiteError(code, connection: target.handle, operation: "copy \(source.path)")
        }
    }

    private func end() {
        if let handle { sqlite3_backup_finish(handle) }
        handle = nil
        if source.isInTransaction { try? source.execute("COMMIT") }
        source.close()
        target.close()
    }
}
