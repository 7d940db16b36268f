import HTTP
import HearthJSON
import RealtimeDatabase

/// Why the administration does not do what was asked.
struct AdminError: Error {
    let code: FunctionErrorCode
    /// One sentence for a person.
    let message: String
    let status: HTTPStatus
    /// What a program may want to know beside the message.
    let details: JSONObject?

    /// - Parameter status: where it is not the one that goes with the code.
    init(_ code: FunctionErrorCode, _ message: String, status: HTTPStatus? = nil, details: JSONObject? = nil) {
        self.code = code
        self.message = message
        self.details = details
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
        var object: JSONObject = ["status": .string("\(error.code.status)"), "message": .string(error.message)]
        if let details = error.details { object["details"] = .object(details) }
        send(exchange, error.status, ["error": .object(object)])
    }
}
