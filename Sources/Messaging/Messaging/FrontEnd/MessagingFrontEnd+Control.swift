import HearthBytes
import HTTP
import HearthJSON

/// Control of the service by tests, in development mode and for the administrator only (spec messaging 6.7):
/// `POST /_messaging/v1/control/NAME`.
extension MessagingFrontEnd {
    func control(_ exchange: HTTPExchange, _ name: String, _ body: Span<UInt8>) throws(MessagingError) {
        guard service.settings.isDevelopment else { return MessagingAnswer.unknownPath(exchange) }
        guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
        guard try callers.caller(exchange) == .owner else { throw .notPermitted(project: service.settings.projects[0].id) }
        let members = try Self.object(body)
        switch name {
        case "clock":
            if let isStopped = members["stopped"]?.bool { embedded.clock.stop(isStopped) }
            if let seconds = members["advance_seconds"]?.int, abs(seconds) <= 100 * 366 * 86_400 {
                embedded.clock.advance(milliseconds: Int64(seconds) * 1000)
            }
            // Answers after everything that has expired by then is removed.
            embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
            _: { writer, _ throws(StoreFailure) in
                writer.keepUp()
                return .success(["now": .string(Timestamp.text(milliseconds: writer.clock.now))])
            }
        case "fault":
            let seconds = members["retry_after"]?.int ?? 60
            switch members["fault"]?.string ?? "" {
            case "": embedded.setFault(nil)
            case "unavailable": embedded.setFault(.unavailable(retryAfterSeconds: seconds))
            case "internal": embedded.setFault(.internalError)
            case "third_party_auth": embedded.setFault(.thirdPartyAuthentication)
            default: throw .field("fault", "must be unavailable, internal, third_party_auth or empty")
            }
            MessagingAnswer.json(exchange, .object(JSONObject()))
        case "reset":
            embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
            _: { writer, store throws(StoreFailure) in
                try writer.reset(store)
                return .success(.object(JSONObject()))
            }
        default: MessagingAnswer.unknownPath(exchange)
        }
    }
}
