public import SQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The reason why an operation of a store failed.
public struct StoreError: Error, Sendable, Hashable {
    /// The kinds that callers distinguish.
    public enum Kind: UInt8, Sendable, Hashable {
        /// The disk is full. The store works again when there is room.
        case full
        /// The disk or the folder is not writable.
        case readOnly
        /// The file is damaged, or is not a store of this kind.
        case corrupt
        /// Another writer has the store open.
        case busy
        /// There are no descriptors or no memory. The store works again when there are.
        case exhausted
        /// The disk fails.
        case io
        /// The name of the store is not valid.
        case invalidName
        /// There is no such store.
        case notFound
        /// The operation was ended before it was complete.
        case interrupted
        /// The store is closed while another process uses it.
        case suspended
        /// The store is closed permanently.
        case stopped
        /// Everything else.
        case other
    }

    /// The reason, for callers.
    public var kind: Kind
    /// For the host's log: the operation and the system's error.
    public var message: String

    /// An error whose message goes to the host's log, never to a client.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// An error of SQLite.
    public init(_ error: SQLiteError) {
        let kind: Kind =
            switch error.kind {
            case .full: .full
            case .readOnly: .readOnly
            case .corrupt: .corrupt
            case .busy: .busy
            case .io, .cannotOpen: .io
            case .memory, .noDescriptor: .exhausted
            case .constraint, .tooBig, .interrupted, .other: .other
            }
        self.init(kind, error.description)
    }

    /// A `StoreError` as it is, an error of SQLite converted.
    init(either error: any Error) {
        if let error = error as? SQLiteError { self.init(error) } else { self = error as? StoreError ?? StoreError(.other, "\(error)") }
    }

    /// A failed system call; `operation` names it and its file.
    public init(systemError: Int32, _ operation: String) {
        let kind: Kind =
            switch systemError {
            case ENOSPC, EDQUOT, EFBIG: .full
            case EROFS, EACCES, EPERM: .readOnly
            case EMFILE, ENFILE, ENOMEM: .exhausted
            default: .io
            }
        self.init(kind, "\(operation): \(String(cString: strerror(systemError)))")
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String { message }
}
