import HearthJSON
import HTTP

/// Why the administration does not do what was asked.
package struct AdminError: Error {
    let code: FunctionErrorCode
    /// One sentence for a person.
    let message: String
    let status: HTTPStatus
    /// What a program may want to know beside the message.
    let details: JSONObject?

    /// - Parameter status: where it is not the one that goes with the code.
    package init(_ code: FunctionErrorCode, _ message: String, status: HTTPStatus? = nil, details: JSONObject? = nil) {
        self.code = code
        self.message = message
        self.details = details
        self.status = status ?? HTTPStatus(rawValue: code.httpStatus)
    }

    package static let unauthenticated = AdminError(
        .unauthenticated, "the administration asks for the admin token of the host's data directory, as Authorization: Bearer TOKEN")
    package static let noSuchResource = AdminError(.notFound, "there is nothing at this address; docs/admin-api.md lists what there is")
}

/// What all answers of the administration have in common.
package enum AdminAnswer {
    package static func send(_ exchange: HTTPExchange, _ status: HTTPStatus, _ value: JSONValue) {
        exchange.respond(status, body: value.serialized().span) { fields in
            fields.field("Content-Type", "application/json; charset=utf-8")
            fields.field("Cache-Control", "no-store")
            if status == .unauthorized { fields.field("WWW-Authenticate", "Bearer") }
        }
    }

    /// `{"error":{"status":"NOT_FOUND","message":"..."}}`, as callables refuse.
    package static func refuse(_ exchange: HTTPExchange, _ error: AdminError) {
        var object: JSONObject = ["status": .string("\(error.code.status)"), "message": .string(error.message)]
        if let details = error.details { object["details"] = .object(details) }
        send(exchange, error.status, ["error": .object(object)])
    }
}
