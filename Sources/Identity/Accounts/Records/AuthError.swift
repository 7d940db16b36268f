public import SQLite

/// A refusal in the words of the protocol: `CODE`, or `CODE : detail`.
public struct AuthError: Error, Sendable, Equatable {
    /// The code that client SDKs distinguish.
    public var code: String
    /// A sentence for developers.
    public var detail: String?
    /// The HTTP status.
    public var status: Int
    /// The canonical name of the status, for errors of the request's form; business errors have none.
    public var statusName: String?
    /// `errors[0].reason`.
    public var reason: String

    /// A business error, with status 400.
    public init(_ code: String, _ detail: String? = nil, status: Int = 400, statusName: String? = nil, reason: String = "invalid") {
        self.code = code
        self.detail = detail
        self.status = status
        self.statusName = statusName
        self.reason = reason
    }

    /// The text of the error.
    public var message: String { detail.map { "\(code) : \($0)" } ?? code }

    /// The store of users does not answer. The text is not JSON, so that clients do not sign their user out.
    public static let unavailable = AuthError("UNAVAILABLE", status: 503, statusName: "UNAVAILABLE", reason: "backendError")
}

/// The reason why an operation on users failed.
public enum AccountFailure: Error {
    /// The protocol's refusal. The operation changes nothing.
    case refused(AuthError)
    /// The protocol's refusal of a wrong secret: the counters that the operation has changed are kept.
    case counted(AuthError)
    /// A function must decide first. The operation changes nothing, and is attempted again with the decision.
    case undecided(BlockingQuestion)
    /// The operation creates or deletes a user, and it is not known yet which functions run on that. It changes nothing, and is repeated later.
    case functionsUnknown
    /// The store has failed.
    case store(SQLiteError)
    /// An operation that reads has to change something first.
    case needsWriter

    /// A refusal.
    public init(_ code: String, _ detail: String? = nil) { self = .refused(AuthError(code, detail)) }
}
