import HearthBytes
import HTTP
import HearthJSON

/// Requests of devices with their own token: `/_messaging/v1/devices/TOKEN/...` (spec messaging 6.8).
extension MessagingFrontEnd {
    private static let acknowledgementsMax = 1000

    func answerDevice(_ exchange: HTTPExchange, _ token: String, _ part: String, _ body: Span<UInt8>) throws(MessagingError) {
        let query = QueryParameters(exchange.query)
        let state = query["state"].map { DeviceState(rawValue: $0) } ?? .foreground
        guard let state else { throw .field("state", "must be foreground, background or idle") }
        switch (part, exchange.method) {
        case ("events", .get):
            let last = Self.header(exchange, "last-event-id") ?? query["last_message_id"]
            EventStreamDevice(exchange, streams).open(token: token, state: state, last: last)
        case ("messages", .get):
            let wait = query.number("wait", bounds: 0...60, default: 0)
            let messages = query.number("max", bounds: 1...1000, default: 100)
            PollingDevice(exchange, streams, waitSeconds: wait, messagesMax: messages).open(token: token, state: state)
        case ("acks", .post): try acknowledge(exchange, token, try Self.object(body))
        case ("state", .post):
            guard let state = (try Self.object(body)["state"]?.string).flatMap({ DeviceState(rawValue: $0) }) else {
                throw .field("state", "must be foreground, background or idle")
            }
            embedded.setState(state, token: token)
            // The empty acknowledgement is answered after the change and its effects.
            embedded.acknowledge([], token: token, on: loop) { MessagingAnswer.finish(exchange, $0.map { .failure($0) } ?? .success([:])) }
        case ("unregister", .post): unregister(exchange, token)
        case ("topics", .post):
            let members = try Self.object(body)
            guard let topic = TopicName(members["topic"]?.string ?? "") else { throw .badTopic }
            try changeTopic(exchange, token, topic, isOn: members["subscribe"]?.bool ?? true)
        case ("events", _), ("messages", _): MessagingAnswer.methodNotAllowed(exchange, allowed: "GET")
        case ("acks", _), ("state", _), ("unregister", _), ("topics", _): MessagingAnswer.methodNotAllowed(exchange, allowed: "POST")
        default: MessagingAnswer.unknownPath(exchange)
        }
    }

    private func acknowledge(_ exchange: HTTPExchange, _ token: String, _ body: JSONObject) throws(MessagingError) {
        guard let list = body["message_ids"]?.array, list.count <= Self.acknowledgementsMax else {
            throw .field("message_ids", "must be a list of at most \(Self.acknowledgementsMax) ids")
        }
        embedded.acknowledge(list.compactMap(\.string), token: token, on: loop) { error in
            MessagingAnswer.finish(exchange, error.map { .failure($0) } ?? .success(.object(JSONObject())))
        }
    }

    private func unregister(_ exchange: HTTPExchange, _ token: String) {
        embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
        _: { writer, store throws(StoreFailure) in
            guard let device = try store.device(token: token) else { return .failure(.unregistered) }
            try writer.remove(device, store)
            return .success(.object(JSONObject()))
        }
    }

    private func changeTopic(_ exchange: HTTPExchange, _ token: String, _ topic: TopicName, isOn: Bool) throws(MessagingError) {
        embedded.ask(on: loop, limitedBy: proxies.customer(of: exchange)) { (result: Result<JSONValue, MessagingError>) in
            MessagingAnswer.finish(exchange, result)
        } _: { writer, store throws(StoreFailure) in
            guard let device = try store.device(token: token) else { return .failure(.unregistered) }
            return try writer.setSubscription(isOn, topic, device, store).map { _ in .object(JSONObject()) }
        }
    }
}
