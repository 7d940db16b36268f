import AdminProtocol
import HearthJSON
import HTTP

/// The HTTP side of the admin API's answers.
package enum AdminAnswer {
    static func send(_ exchange: HTTPExchange, _ status: HTTPStatus, _ value: JSONValue) {
        exchange.respond(status, body: value.serialized().span) { fields in
            fields.field("Content-Type", "application/json; charset=utf-8")
            fields.field("Cache-Control", "no-store")
            if status == .unauthorized { fields.field("WWW-Authenticate", "Bearer") }
        }
    }

    package static func refuse(_ exchange: HTTPExchange, _ error: AdminError) {
        send(exchange, HTTPStatus(rawValue: error.status), error.json)
    }
}
