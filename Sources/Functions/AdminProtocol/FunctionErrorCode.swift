import HearthBytes

/// The seventeen codes of the callable protocol (spec functions 2.1).
package enum FunctionErrorCode: Int, CaseIterable, Sendable {
    case ok, cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists, permissionDenied
    case resourceExhausted, failedPrecondition, aborted, outOfRange, unimplemented, `internal`, unavailable, dataLoss
    case unauthenticated

    /// As functions write it: `not-found`.
    package var name: String { String(describing: nameText) }

    /// As clients read it: `NOT_FOUND`.
    package var status: StaticString {
        switch self {
        case .ok: "OK"
        case .cancelled: "CANCELLED"
        case .unknown: "UNKNOWN"
        case .invalidArgument: "INVALID_ARGUMENT"
        case .deadlineExceeded: "DEADLINE_EXCEEDED"
        case .notFound: "NOT_FOUND"
        case .alreadyExists: "ALREADY_EXISTS"
        case .permissionDenied: "PERMISSION_DENIED"
        case .resourceExhausted: "RESOURCE_EXHAUSTED"
        case .failedPrecondition: "FAILED_PRECONDITION"
        case .aborted: "ABORTED"
        case .outOfRange: "OUT_OF_RANGE"
        case .unimplemented: "UNIMPLEMENTED"
        case .internal: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        case .dataLoss: "DATA_LOSS"
        case .unauthenticated: "UNAUTHENTICATED"
        }
    }

    /// The HTTP status that goes with it.
    package var httpStatus: Int {
        switch self {
        case .ok: 200
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .resourceExhausted: 429
        case .cancelled: 499
        case .unknown, .internal, .dataLoss: 500
        case .unimplemented: 501
        case .unavailable: 503
        case .deadlineExceeded: 504
        }
    }

    /// The code that a function named; nil for a name that the protocol does not know.
    package init?(name: String) {
        guard let code = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = code
    }

    private var nameText: StaticString {
        switch self {
        case .ok: "ok"
        case .cancelled: "cancelled"
        case .unknown: "unknown"
        case .invalidArgument: "invalid-argument"
        case .deadlineExceeded: "deadline-exceeded"
        case .notFound: "not-found"
        case .alreadyExists: "already-exists"
        case .permissionDenied: "permission-denied"
        case .resourceExhausted: "resource-exhausted"
        case .failedPrecondition: "failed-precondition"
        case .aborted: "aborted"
        case .outOfRange: "out-of-range"
        case .unimplemented: "unimplemented"
        case .internal: "internal"
        case .unavailable: "unavailable"
        case .dataLoss: "data-loss"
        case .unauthenticated: "unauthenticated"
        }
    }
}
