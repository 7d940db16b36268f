import Accounts
import HearthBytes
import HearthJSON
public import HTTP

/// Answers, with their common header fields.
extension AuthenticationFrontEnd {
    func answer(_ exchange: HTTPExchange, _ answer: AuthAnswer) {
        switch answer {
        case .json(let value):
            let body = value.serialized()
            // A page of users can be large, and a client may leave it unread.
            guard exchange.admits(answerOf: body.count) else { return refuse(exchange, .unavailable) }
            exchange.respond(.ok, body: body.span) { fields in
                fields.field("Content-Type", "application/json; charset=UTF-8")
                fields.field("Cache-Control", "no-store")
                Self.writeOrigin(exchange, to: fields)
            }
        case .keys(let body):
            exchange.respond(.ok, body: body.span) { fields in
                fields.field("Content-Type", "application/json; charset=UTF-8")
                fields.field("Cache-Control", "public, max-age=21600, must-revalidate")
                Self.writeOrigin(exchange, to: fields)
            }
        case .redirect(let address):
            exchange.respond(HTTPStatus(rawValue: 303)) { $0.field("Location", address) }
        }
    }

    func refuse(_ exchange: HTTPExchange, _ error: AuthError) {
        if error == .unavailable {
            // JSON would make clients sign their user out.
            return exchange.respond(.serviceUnavailable, body: Array("try again\n".utf8).span) { fields in
                fields.field("Content-Type", "text/plain; charset=utf-8")
                fields.field("Retry-After", 1)
                Self.writeOrigin(exchange, to: fields)
            }
        }
        let body = Self.body(error).serialized()
        exchange.respond(HTTPStatus(rawValue: error.status), body: body.span) { fields in
            fields.field("Content-Type", "application/json; charset=UTF-8")
            if error.status == 401 { fields.field("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\"") }
            Self.writeOrigin(exchange, to: fields)
        }
    }

    private static func body(_ error: AuthError) -> JSONValue {
        var detail: JSONObject = [
            "message": .string(error.message), "reason": .string(error.reason), "domain": "global",
        ]
        if error.status == 401 {
            detail["location"] = "Authorization"
            detail["locationType"] = "header"
        }
        var content: JSONObject = [
            "code": .int(Int64(error.status)), "message": .string(error.message), "errors": .array([.object(detail)]),
        ]
        content["status"] = error.statusName.map { .string($0) }
        return ["error": .object(content)]
    }

    /// The body of an error of the HTTP server itself, for a claimed request.
    public func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange) -> HTTPErrorBody {
        let error = AuthError("\(message)", status: status.rawValue, statusName: "INVALID_ARGUMENT")
        return HTTPErrorBody(
            contentType: "application/json; charset=UTF-8", fields: [("Access-Control-Allow-Origin", "*")], body: Self.body(error).serialized())
    }

    // MARK: Web pages

    /// Pages of every origin may read answers: rights depend on tokens, never on cookies.
    private static func writeOrigin(_ exchange: HTTPExchange, to fields: ResponseHead) {
        if let origin = exchange.header("origin") { fields.field("Access-Control-Allow-Origin", origin) }
        fields.field("Vary", "Origin")
    }

    func allowPreflight(_ exchange: HTTPExchange) {
        exchange.respond(.noContent) { fields in
            Self.writeOrigin(exchange, to: fields)
            fields.field("Access-Control-Allow-Methods", "GET,HEAD,PUT,PATCH,POST,DELETE")
            if let wanted = exchange.header("access-control-request-headers") { fields.field("Access-Control-Allow-Headers", wanted) }
            if let network = exchange.header("access-control-request-private-network"), network.equals("true") {
                fields.field("Access-Control-Allow-Private-Network", "true")
            }
            fields.field("Access-Control-Max-Age", 3600)
        }
    }
}
