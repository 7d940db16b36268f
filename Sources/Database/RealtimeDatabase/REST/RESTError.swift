import HTTP

/// A request that is answered with an error: a status, and one sentence for whoever sent it.
struct RESTError: Error, Equatable {
    var status: HTTPStatus
    var message: String

    init(_ status: HTTPStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// A request that cannot be understood.
    static func badRequest(_ message: String) -> RESTError { RESTError(.badRequest, message) }

    static let invalidPath = badRequest("Invalid path: Invalid token in path")
    static let noData = badRequest("Error: No data supplied.")
    static let permissionDenied = RESTError(.unauthorized, "Permission denied")
    static let unauthorized = RESTError(.unauthorized, "Unauthorized request.")
    static let expired = RESTError(.unauthorized, "Auth token is expired")
    static let unreadableToken = RESTError(.unauthorized, "Could not parse auth token.")
    static let writeTooLarge = RESTError(DatabaseError.writeTooLarge)

    /// What the database says, with the status that the hosted service gives it (spec database 2.6).
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
