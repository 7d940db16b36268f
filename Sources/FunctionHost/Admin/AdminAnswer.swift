import HTTP
import JSON
import RealtimeDatabase

/// Why the administration does not do what was asked.
struct AdminError: Error {
    let code: FunctionErrorCode
    /// One sentence for a person.
    let message: String
    let status: HTTPStatus

    /// - Parameter status: where it is not the one that goes with the code.
    init(_ code: FunctionErrorCode, _ message: String, status: HTTPStatus? = nil) {
        self.code = code
        self.message = message
        self.status = status ?? HTTPStatus(rawValue: code.httpStatus)
    }

    init(_ error: DatabaseError) {
        let code: FunctionErrorCode =
            switch error.kind {
            case .unknownNamespace: .notFound
            case .invalidData, .tooLarge, .tooManyTriggers, .indexNotDefined: .invalidArgument
            case .permissionDenied: .permissionDenied
            case .timedOut: .deadlineExceeded
            case .storageUnavailable, .unavailable: .unavailable
            case .internal: .internal
            }
        self.init(code, error.message)
    }

    static let unauthenticated = AdminError(
        .unauthenticated, "the administration asks for the admin token of the host's data directory, as Authorization: Bearer TOKEN")
    static let noSuchResource = AdminError(.notFound, "there is nothing at this address; docs/admin-api.md lists what there is")
}

/// What all answers of the administration have in common.
enum AdminAnswer {
    static func send(_ exchange: HTTPExchange, _ status: HTTPStatus, _ value: JSONValue) {
        exchange.respond(status, body: value.serialized().span) { fields in
            fields.field("Content-Type", "application/json; charset=utf-8")
            fields.field("Cache-Control", "no-store")
            if status == .unauthorized { fields.field("WWW-Authenticate", "Bearer") }
        }
    }

    /// `{"error":{"status":"NOT_FOUND","message":"..."}}`, as callables refuse.
    static func refuse(_ exchange: HTTPExchange, _ error: AdminError) {
        send(exchange, error.status, ["error": ["status": .string("\(error.code.status)"), "message": .string(error.message)]])
    }
}
