import HearthBytes
import HTTP
import HearthJSON

/// Answers of the messaging service, with their common header fields.
enum MessagingAnswer {
    /// Answers with JSON.
    ///
    /// - Parameter retryAfterSeconds: when the client should ask again, if that is useful.
    static func json(_ exchange: HTTPExchange, _ value: JSONValue, status: HTTPStatus = .ok, retryAfterSeconds: Int? = nil) {
        let body = value.serialized()
        exchange.respond(status, body: body.span) { fields in
            writeFields(to: fields, "application/json; charset=UTF-8")
            if let retryAfterSeconds { fields.field("Retry-After", retryAfterSeconds) }
        }
    }

    /// Answers with an error of the v1 API.
    static func refuse(_ exchange: HTTPExchange, _ error: MessagingError) {
        let body = ErrorEnvelope.body(error).serialized()
        exchange.respond(ErrorEnvelope.status(error).http, body: body.span) { fields in
            writeFields(to: fields, "application/json; charset=UTF-8")
            if let seconds = error.retryAfterSeconds { fields.field("Retry-After", seconds) }
            switch error.kind {
            case .unauthenticated: fields.field("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\"")
            case .invalidCredential: fields.field("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"")
            default: break
            }
        }
    }

    /// Answers with a result or an error.
    static func finish(_ exchange: HTTPExchange, _ result: Result<JSONValue, MessagingError>) {
        switch result {
        case .success(let value): json(exchange, value)
        case .failure(let error): refuse(exchange, error)
        }
    }

    /// Answers for an unknown path. Not with JSON, because SDKs take `NOT_FOUND` for an ended registration (spec messaging 0.8).
    static func unknownPath(_ exchange: HTTPExchange) { page(exchange, .notFound, "Not Found") }

    /// Answers with an HTML page like those of the hosted service's front end.
    static func page(_ exchange: HTTPExchange, _ status: HTTPStatus, _ title: String) {
        let body = Array("<!DOCTYPE html>\n<html lang=en>\n<title>\(title)</title>\n<p>\(status.rawValue) \(title)\n</html>\n".utf8)
        exchange.respond(status, body: body.span) { writeFields(to: $0, "text/html; charset=UTF-8") }
    }

    static func methodNotAllowed(_ exchange: HTTPExchange, allowed: StaticString) {
        let body: JSONValue = ["error": ["code": 405, "message": "Method not allowed.", "status": "UNIMPLEMENTED"]]
        let bytes = body.serialized()
        exchange.respond(.methodNotAllowed, body: bytes.span) { fields in
            writeFields(to: fields, "application/json; charset=UTF-8")
            fields.field("Allow", allowed)
        }
    }

    static func writeFields(to fields: ResponseHead, _ type: StaticString) {
        fields.field("Content-Type", type)
        fields.field("Cache-Control", "no-store")
        // Browsers register and connect from pages of other origins. Their rights depend on tokens, never on cookies.
        fields.field("Access-Control-Allow-Origin", "*")
    }
}
