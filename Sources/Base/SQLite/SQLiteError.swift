import CSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What SQLite answered when something failed.
public struct SQLiteError: Error, Sendable, Hashable {
    /// The kinds of errors that callers distinguish.
    public enum Kind: UInt8, Sendable, Hashable {
        /// No room: the disk, a quota, or a limit of the file's size.
        case full
        /// The file, its folder or the connection cannot be written to.
        case readOnly
        /// The file is not a database, or a damaged one.
        case corrupt
        /// Another connection holds a lock.
        case busy
        /// The file cannot be opened.
        case cannotOpen
        /// Reading, writing or syncing failed.
        case io
        /// A constraint of the schema was broken.
        case constraint
        /// A text or blob is longer than a database can hold.
        case tooBig
        /// No memory.
        case memory
        /// No descriptor for another file, of this process or of the machine.
        case noDescriptor
        /// `Connection.interrupt` was called.
        case interrupted
        /// Everything else: mistakes in SQL, and in the use of this room.
        case other
    }

    /// SQLite's extended result code, `SQLITE_IOERR_FSYNC` for example.
    public let extendedCode: Int32
    /// `errno` of the system call that failed; 0 where none did.
    public let systemError: Int32
    /// SQLite's words.
    public let message: String
    /// The operation: an SQL text, or an operation on a file.
    public let operation: String

    /// An error that SQLite did not report itself, or that is brought from elsewhere.
    public init(extendedCode: Int32, systemError: Int32 = 0, message: String, operation: String) {
        self.extendedCode = extendedCode
        self.systemError = systemError
        self.message = message
        self.operation = operation
    }

    /// The error that `connection` has just met, in a call before which `errno` was 0.
    ///
    /// SQLite's own note of `errno` may be of an older failure: failing commits do not make one.
    @inline(never)
    init(_ code: Int32, connection: OpaquePointer?, operation: String) {
        let system = errno
        let isSystem = code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN
        guard let connection else {
            self.init(extendedCode: code, message: String(cString: sqlite3_errstr(code)), operation: operation)
            return
        }
        let extended = sqlite3_extended_errcode(connection)
        // A misuse, for one, is answered without being noted in the connection.
        let isNoted = extended & 0xFF == code & 0xFF
        let message = isNoted ? sqlite3_errmsg(connection) : sqlite3_errstr(code)
        self.init(
            extendedCode: isNoted ? extended : code, systemError: isSystem ? system : 0,
            message: message.map { String(cString: $0) } ?? "", operation: operation)
    }

    /// SQLite's primary result code, `SQLITE_IOERR` for example.
    public var code: Int32 { extendedCode & 0xFF }

    /// Judged by SQLite's code and, for files, by the system's.
    public var kind: Kind {
        switch code {
        case SQLITE_FULL: .full
        case SQLITE_READONLY: .readOnly
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_IOERR: systemKind ?? (extendedCode == csqlite_ioerr_nomem() ? .memory : .io)
        // A log that cannot be made is looked for once more, for reading only, which leaves this reason in the place of the first.
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

    /// SQLite calls only `ENOSPC` a full disk, and only when it writes to the database or its log.
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
