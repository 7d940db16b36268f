/// The failure of a function, as its caller is to see it.
///
///     throw HttpsError(.notFound, "There is no such room.", details: ["room": "blue"])
///
/// Any other error of a function is logged, and the caller gets `INTERNAL`.
public struct HttpsError: Error, Sendable {
    /// The kind of error: the codes of the callable protocol (spec functions 2.1).
    ///
    /// Two need care: Apple's client drops message and details of `internal`, and every client takes `ok` for a success
    /// without a result.
    public enum Code: String, Sendable, CaseIterable {
        /// Status 200: no error to any client.
        case ok
        /// Status 499: the call was cancelled, as a rule by the caller.
        case cancelled
        /// Status 500: another system failed without saying how.
        case unknown
        /// Status 400: the data is wrong, whatever the state of the system.
        case invalidArgument = "invalid-argument"
        /// Status 504: it took too long, though it may have happened.
        case deadlineExceeded = "deadline-exceeded"
        /// Status 404: the requested thing does not exist.
        case notFound = "not-found"
        /// Status 409: the thing to be created exists already.
        case alreadyExists = "already-exists"
        /// Status 403: the caller is known and not allowed.
        case permissionDenied = "permission-denied"
        /// Status 429: a quota or a limit is used up.
        case resourceExhausted = "resource-exhausted"
        /// Status 400: the system is not in the state that the call needs. Trying again does not help before that changes.
        case failedPrecondition = "failed-precondition"
        /// Status 409: another operation interfered; the whole may be tried again.
        case aborted
        /// Status 400: beyond the end of the valid range.
        case outOfRange = "out-of-range"
        /// Status 501: the operation does not exist, or not here.
        case unimplemented
        /// Status 500: something is broken on this side.
        case `internal`
        /// Status 503: not at the moment; the same call may be tried again.
        case unavailable
        /// Status 500: data is lost or damaged for good.
        case dataLoss = "data-loss"
        /// Status 401: the caller is not known.
        case unauthenticated
    }

    /// The kind of error.
    public var code: Code
    /// A sentence that the client receives.
    public var message: String
    /// Further information for the client; absent when nil.
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
