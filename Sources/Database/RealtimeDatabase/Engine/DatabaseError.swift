public import Rules
import Tree

/// Why the database did not do what was asked. The texts are those of the hosted service where it has one (spec database 2.6).
public struct DatabaseError: Error, Sendable, CustomStringConvertible {
    /// What kind of refusal this is.
    public enum Kind: Sendable, Hashable {
        /// The rules deny it.
        case permissionDenied
        /// The data, the path or the query cannot be.
        case invalidData
        /// A query needs an index that the rules do not declare.
        case indexNotDefined
        /// What is read or written is larger than the limit for one request.
        case tooLarge
        /// The write would run more functions than one write may, or with larger events.
        case tooManyTriggers
        /// Reading took longer than the request allows.
        case timedOut
        /// There is no such namespace, or its name cannot be one.
        case unknownNamespace
        /// The disk is full or read-only: nothing was written.
        case storageUnavailable
        /// The host is overloaded or on its way out: nothing was done.
        case unavailable
        /// The storage failed in a way that should not happen.
        case `internal`
    }

    /// What kind of refusal this is.
    public var kind: Kind
    /// One sentence for whoever asked.
    public var message: String
    /// Which rules were asked and what they said, where the request wanted to know.
    public var explanation: RuleTrace?

    /// A refusal.
    public init(_ kind: Kind, _ message: String, explanation: RuleTrace? = nil) {
        self.kind = kind
        self.message = message
        self.explanation = explanation
    }

    public var description: String { message }

    /// The rules deny it.
    public static func permissionDenied(_ explanation: RuleTrace? = nil) -> DatabaseError {
        DatabaseError(.permissionDenied, "Permission denied", explanation: explanation)
    }

    /// A read of more than one request may return.
    public static let readTooLarge = DatabaseError(
        .tooLarge, "Data requested exceeds the maximum size that can be accessed with a single request.")

    /// A write of more than one request may change.
    public static let writeTooLarge = DatabaseError(
        .tooLarge, "Data to write exceeds the maximum size that can be modified with a single request.")

    /// A query on a path whose rules declare no index for its order.
    static func indexNotDefined(_ order: Query.Order, at path: Path) -> DatabaseError {
        let name = switch order {
        case .child(let path): path.segments.joined(separator: "/")
        case .value: ".value"
        case .key: ".key"
        case .priority: ".priority"
        }
        return DatabaseError(.indexNotDefined, "Index not defined, add \".indexOn\": \"\(name)\", for path \"\(path)\", to the rules")
    }

    /// What a failure of the store means to whoever asked.
    init(_ error: StoreError) {
        switch error.kind {
        case .full: self.init(.storageUnavailable, "The disk is full: nothing was written. Try again when there is room.")
        case .readOnly: self.init(.storageUnavailable, "The disk cannot be written to: nothing was written.")
        case .busy: self.init(.unavailable, "Another process has this database open: nothing was done.")
        case .exhausted: self = .exhausted
        case .invalidName, .notFound: self.init(.unknownNamespace, error.message)
        case .interrupted: self = .cancelled
        case .corrupt, .io, .other: self.init(.internal, "The storage failed: nothing was done. The host's log says more.")
        }
    }

    /// Too many long answers are being read.
    static func tooManyLongReads(_ limit: Int, by client: Bool) -> DatabaseError {
        let whose = client ? "of one client" : "of this database"
        return DatabaseError(.unavailable, "\(limit) long answers \(whose) are being read, which is the limit; try again")
    }

    /// Reads have grown the log of changes so much that it has to be emptied first.
    static let logIsFull = DatabaseError(
        .unavailable, "Slow reads have made the log of changes too long; long answers are possible again when it is empty; try again")

    /// A long answer was not read in time.
    static func tooSlow(_ seconds: Double) -> DatabaseError {
        DatabaseError(.timedOut, "The read took longer than the \(Int(seconds)) s that it may take.")
    }

    /// There is no descriptor, thread or memory for it.
    static let exhausted = DatabaseError(
        .unavailable, "The host has no file descriptors, threads or memory left for this: nothing was done, try again.")

    /// The host stops.
    public static let stopping = DatabaseError(.unavailable, "the host is stopping; nothing was done, try again")
}
