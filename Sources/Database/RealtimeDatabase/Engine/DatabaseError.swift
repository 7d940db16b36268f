public import Rules
import Store
import Tree

/// The reason why the database refused a request. The texts are those of the hosted service if it has one (spec database 2.6).
public struct DatabaseError: Error, Sendable, CustomStringConvertible {
    /// The kinds of refusals.
    public enum Kind: Sendable, Hashable {
        /// The rules do not allow it.
        case permissionDenied
        /// The data, the path or the query is invalid.
        case invalidData
        /// A query needs an index that the rules do not declare.
        case indexNotDefined
        /// The result or the written data exceeds the limit of one request.
        case tooLarge
        /// The write would raise too many events, or events that are too large.
        case tooManyTriggers
        /// Reading took longer than the request allows.
        case timedOut
        /// The namespace does not exist, or its name is invalid.
        case unknownNamespace
        /// The disk is full or read-only. Nothing was written.
        case storageUnavailable
        /// The host is overloaded or stopping. Nothing was done.
        case unavailable
        /// An unexpected failure of the storage.
        case `internal`
    }

    /// The kind of refusal.
    public var kind: Kind
    /// One sentence for the client.
    public var message: String
    /// The evaluated rules and their results, if the request asked for them.
    public var explanation: RuleTrace?
    /// Whether others take all there is at this moment, so that the same request succeeds later.
    package var isTemporary = false

    /// Creates an error.
    public init(_ kind: Kind, _ message: String, explanation: RuleTrace? = nil) {
        self.kind = kind
        self.message = message
        self.explanation = explanation
    }

    public var description: String { message }

    /// The rules do not allow it.
    public static func permissionDenied(_ explanation: RuleTrace? = nil) -> DatabaseError {
        DatabaseError(.permissionDenied, "Permission denied", explanation: explanation)
    }

    /// The result of a read exceeds the limit of one request.
    public static let readTooLarge = DatabaseError(
        .tooLarge, "Data requested exceeds the maximum size that can be accessed with a single request.")

    /// The data of a write exceeds the limit of one request.
    public static let writeTooLarge = DatabaseError(
        .tooLarge, "Data to write exceeds the maximum size that can be modified with a single request.")

    /// The rules declare no index for the query.
    static func indexNotDefined(_ order: Query.Order, at path: Path) -> DatabaseError {
        let name = switch order {
        case .child(let path): path.segments.joined(separator: "/")
        case .value: ".value"
        case .key: ".key"
        case .priority: ".priority"
        }
        return DatabaseError(.indexNotDefined, "Index not defined, add \".indexOn\": \"\(name)\", for path \"\(path)\", to the rules")
    }

    /// The error for the client after a failure of the store.
    init(_ error: StoreError) {
        switch error.kind {
        case .full: self.init(.storageUnavailable, "The disk is full: nothing was written. Try again when there is room.")
        case .readOnly: self.init(.storageUnavailable, "The disk cannot be written to: nothing was written.")
        case .busy: self.init(.unavailable, "Another process has this database open: nothing was done.")
        case .exhausted: self = .exhausted
        case .invalidName, .notFound: self.init(.unknownNamespace, error.message)
        case .interrupted: self = .cancelled
        case .suspended: self = .changingHands
        case .stopped: self = .stopping
        case .corrupt, .io, .other: self.init(.internal, "The storage failed: nothing was done. The host's log says more.")
        }
    }

    /// Too many long answers are being read.
    static func tooManyLongReads(_ limit: Int, by client: Bool) -> DatabaseError {
        let whose = client ? "of one client" : "of this database"
        return temporary("\(limit) long answers \(whose) are being read, which is the limit; try again")
    }

    /// Long reads have let the log of changes grow so much that it must be emptied first.
    static let logIsFull = temporary("Slow reads have made the log of changes too long; long answers are possible again when it is empty; try again")

    private static func temporary(_ message: String) -> DatabaseError {
        var error = DatabaseError(.unavailable, message)
        error.isTemporary = true
        return error
    }

    /// The client did not read a long answer in time.
    static func tooSlow(_ seconds: Double) -> DatabaseError {
        DatabaseError(.timedOut, "The read took longer than the \(Int(seconds)) s that it may take.")
    }

    /// There is no descriptor, thread or memory left.
    static let exhausted = DatabaseError(
        .unavailable, "The host has no file descriptors, threads or memory left for this: nothing was done, try again.")

    /// The host is stopping.
    public static let stopping = DatabaseError(.unavailable, "the host is stopping; nothing was done, try again")
}

extension DatabaseError {
    /// The client has left.
    package static let cancelled = DatabaseError(.unavailable, "The client does not wait any more: nothing was done.")
    /// The scan took too long.
    static let scanTooSlow = DatabaseError(.timedOut, "The request took longer than it may.")
    /// Too many long requests wait for their turn.
    static let tooManyWait = DatabaseError(
        .unavailable, "Too many queries, shallow reads or requests with an ETag wait for this database; try again")
}

extension ScanGuard {
    /// The error for a request whose scan was ended; nil if it was not.
    var failure: DatabaseError? {
        switch end {
        case nil: nil
        case .cancelled: .cancelled
        case .hurried: .changingHands
        case .tooSlow: .scanTooSlow
        }
    }
}
