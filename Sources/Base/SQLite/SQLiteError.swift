import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An error of SQLite.
public struct SQLiteError: Error, Sendable, Hashable {
    /// The kinds of errors that callers distinguish.
    public enum Kind: UInt8, Sendable, Hashable {
        /// There is no room: on the disk, within a quota, or within the limit of file sizes.
        case full
        /// The file, its folder or the connection is not writable.
        case readOnly
        /// The file is not a database, or a damaged one.
        case corrupt
        /// Another connection holds a lock.
        case busy
        /// The file cannot be opened.
        case cannotOpen
        /// Reading, writing or syncing failed.
        case io
        /// A constraint of the schema is violated.
        case constraint
        /// A text or blob is too large for a database.
        case tooBig
        /// There is not enough memory.
        case memory
        /// The process or the machine has no descriptor left.
        case noDescriptor
        /// `Connection.interrupt` was called.
        case interrupted
        /// Any other error: mistakes in SQL, and in the use of this module.
        case other
    }

    /// SQLite's extended result code, for example `SQLITE_IOERR_FSYNC`.
    public let extendedCode: Int32
    /// The `errno` of the system call that failed; 0 if none did.
    public let systemError: Int32
    /// SQLite's message.
    public let message: String
    /// The failed operation: an SQL text, or an operation on a file.
    public let operation: String

    /// Creates an error that SQLite did not report itself, or that comes from elsewhere.
    public init(extendedCode: Int32, systemError: Int32 = 0, message: String, operation: String) {
        self.extendedCode = extendedCode
        self.systemError = systemError
        self.message = message
        self.operation = operation
    }

    /// The last error of `connection`. Before the failed call, `errno` must have been 0.
    ///
    /// SQLite's own record of `errno` may be older, because failing commits do not set it.
    @inline(never)
    package init(_ code: Int32, connection: OpaquePointer?, operation: String) {
        let system = errno
        let isSystem = code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN
        guard let connection else {
            self.init(extendedCode: code, message: String(cString: sqlite3_errstr(code)), operation: operation)
            return
        }
        let extended = sqlite3_extended_errcode(connection)
        // Some errors, such as misuse, are returned without being recorded in the connection.
        let isNoted = extended & 0xFF == code & 0xFF
        let message = isNoted ? sqlite3_errmsg(connection) : sqlite3_errstr(code)
        self.init(
            extendedCode: isNoted ? extended : code, systemError: isSystem ? system : 0,
            message: message.map { String(cString: $0) } ?? "", operation: operation)
    }

    /// SQLite's primary result code, for example `SQLITE_IOERR`.
    public var code: Int32 { extendedCode & 0xFF }

    /// The kind, according to SQLite's code, and for files also to that of the system.
    public var kind: Kind {
        switch code {
        case SQLITE_FULL: .full
        case SQLITE_READONLY: .readOnly
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_IOERR: systemKind ?? (extendedCode == csqlite_ioerr_nomem() ? .memory : .io)
        // If a log cannot be created, SQLite tries to open it read-only, and reports the reason of that failure instead of the first one.
        case SQLITE_CANTOPEN where systemError == ENOENT && operation.hasPrefix("PRAGMA"): .noDescriptor
        case SQLITE_CANTOPEN: systemKind ?? .cannotOpen
        case SQLITE_PERM: .readOnly
        case SQLITE_CONSTRAINT: .constraint
        case SQLITE_TOOBIG: .tooBig
        case SQLITE_NOMEM: .memory
        case SQLITE_INTERRUPT: .interrupted
        default: .other
        }
    }

    /// The kind according to the system error. SQLite reports only `ENOSPC` as a full disk, and only when it writes to the database or its log.
    private var systemKind: Kind? {
        switch systemError {
        case ENOSPC, EDQUOT, EFBIG: .full
        case EROFS, EACCES, EPERM: .readOnly
        case EMFILE, ENFILE: .noDescriptor
        case ENOMEM: .memory
        default: nil
        }
    }
}

extension SQLiteError: CustomStringConvertible {
    public var description: String {
        let system = systemError == 0 ? "" : ", \(String(cString: strerror(systemError)))"
        return "\(operation): \(message) (\(extendedCode)\(system))"
    }
}
