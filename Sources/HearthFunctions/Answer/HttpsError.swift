/// The failure of a function, as its caller is to see it.
///
///     throw HttpsError(.notFound, "There is no such room.", details: ["room": "blue"])
///
/// Everything else that a function throws is logged and reaches the caller as `INTERNAL` without a word more.
public struct HttpsError: Error, Sendable {
    /// What went wrong: the codes of the callable protocol (spec functions 2.1).
    ///
    /// Two need care: Apple's client drops message and details of `internal`, and every client takes `ok` for a success
    /// without a result.
    public enum Code: String, Sendable, CaseIterable {
        case ok
        case cancelled
        case unknown
        case invalidArgument = "invalid-argument"
        case deadlineExceeded = "deadline-exceeded"
        case notFound = "not-found"
        case alreadyExists = "already-exists"
        case permissionDenied = "permission-denied"
        case resourceExhausted = "resource-exhausted"
        case failedPrecondition = "failed-precondition"
        case aborted
        case outOfRange = "out-of-range"
        case unimplemented
        case `internal`
        case unavailable
        case dataLoss = "data-loss"
        case unauthenticated
    }

    /// What went wrong.
    public var code: Code
    /// A sentence that the client receives.
    public var message: String
    /// Anything that helps the client; sent with the error, absent when nil.
    public var details: (any Encodable & Sendable)?

    /// An error with whatever helps the client, such as a structure of your own.
    public init(_ code: Code, _ message: String, details: (any Encodable & Sendable)? = nil) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// The same with details written down as JSON: `details: ["left": 0, "reset": "tomorrow"]`.
    public init(_ code: Code, _ message: String, details: JSONValue) {
        self.code = code
        self.message = message
        self.details = details
    }
}
