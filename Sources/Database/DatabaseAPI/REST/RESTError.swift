import HTTP
import RealtimeDatabase

/// An error answer: a status, and a sentence for the client.
struct RESTError: Error, Equatable {
    var status: HTTPStatus
    var message: String

    init(_ status: HTTPStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// An invalid request.
    static func badRequest(_ message: String) -> RESTError { RESTError(.badRequest, message) }

    static let invalidPath = badRequest("Invalid path: Invalid token in path")
    static let noData = badRequest("Error: No data supplied.")
    static let permissionDenied = RESTError(.unauthorized, "Permission denied")
    static let unauthorized = RESTError(.unauthorized, "Unauthorized request.")
    static let expired = RESTError(.unauthorized, "Auth token is expired")
    static let unreadableToken = RESTError(.unauthorized, "Could not parse auth token.")
    static let appIsMissing = RESTError(.unauthorized, "Missing appcheck token")
    static let appIsInvalid = RESTError(.unauthorized, "Invalid appcheck token")
    static let appHasExpired = RESTError(.unauthorized, "Appcheck token is expired")
    static let appIsUnknown = RESTError(.serviceUnavailable, "The App Check token cannot be verified now. Try again.")
    static let writeTooLarge = RESTError(DatabaseError.writeTooLarge)

    /// An error of the database, with the status of the hosted service (spec database 2.6).
    init(_ error: DatabaseError) {
        message = error.message
        status =
            switch error.kind {
            case .permissionDenied: .unauthorized
            case .invalidData, .indexNotDefined, .tooLarge, .tooManyTriggers, .timedOut: .badRequest
            case .unknownNamespace: .notFound
            case .storageUnavailable, .unavailable: .serviceUnavailable
            case .internal: .internalServerError
            }
    }
}
