import HearthBytes
import HTTP
import HearthJSON

/// Single subscriptions: `.../registrations/R/topicSubscriptions` (spec messaging 4.3).
extension MessagingFrontEnd {
    func answerSubscriptions(_ exchange: HTTPExchange, _ route: MessagingRoute, _ body: Span<UInt8>) throws(MessagingError) {
        let query = QueryParameters(exchange.query)
        switch route {
        case .subscriptions(let project, let registration):
            switch exchange.method {
            case .post:
                let project = try self.project(project, exchange, "create")
                guard let topic = TopicName(query["topic_name", "topicName"] ?? "") else { throw .badTopic }
                ask(exchange, .create, topic, registration, project)
            case .get, .head: try list(exchange, registration, try self.project(project, exchange, "list"), query)
            default: MessagingAnswer.methodNotAllowed(exchange, allowed: "GET, POST")
            }
        case .subscription(let project, let registration, let topic):
            let allowsMissing = query["allow_missing", "allowMissing"] == "true"
            guard let topic = TopicName(topic) else { throw .badTopic }
            switch exchange.method {
            case .get, .head: ask(exchange, .get, topic, registration, try self.project(project, exchange, "get"))
            case .patch: ask(exchange, allowsMissing ? .createIfMissing : .get, topic, registration, try self.project(project, exchange, "update"))
            case .delete:
                ask(exchange, allowsMissing ? .deleteIfMissing : .delete, topic, registration, try self.project(project, exchange, "delete"))
            default: MessagingAnswer.methodNotAllowed(exchange, allowed: "GET, PATCH, DELETE")
            }
        case .clientSubscription(let project, let registration, let topic, let isOn):
            guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
            guard let topic = TopicName(topic) else { throw .badTopic }
            let fid = try installation(exchange, project)
            guard registration == fid.fid || registration.hasPrefix("\(fid.fid):") else { throw .invalidCredential }
            ask(exchange, .set(isOn), topic, registration, fid.project, owner: fid.owner)
        default: MessagingAnswer.unknownPath(exchange)
        }
    }

    private func project(_ name: String, _ exchange: HTTPExchange, _ verb: String) throws(MessagingError) -> MessagingProject {
        try project(name, for: try callers.sender(exchange), permission: "cloudmessaging.topicSubscriptions.\(verb)")
    }

    private func ask(
        _ exchange: HTTPExchange, _ action: MessagingWriter.SubscriptionAction, _ topic: TopicName, _ registration: String,
        _ project: MessagingProject, owner: String? = nil
    ) {
        let caller = owner == nil ? nil : proxies.customer(of: exchange)
        embedded.subscription(action, topic, of: registration, project: project.id, owner: owner, on: loop, limitedBy: caller) { result in
            MessagingAnswer.finish(exchange, result.map { $0.map { Self.json($0, registration, project) } ?? .object(JSONObject()) })
        }
    }

    private func list(
        _ exchange: HTTPExchange, _ registration: String, _ project: MessagingProject, _ query: QueryParameters
    ) throws(MessagingError) {
        let size = query.number("page_size", "pageSize", bounds: 1...2000, default: 1000)
        let start = query["page_token", "pageToken"] ?? ""
        backend.topics(of: registration, project: project.id, on: loop) { result in
            MessagingAnswer.finish(
                exchange,
                result.map { all in
                    let rest = all.drop { $0.topic <= start && !start.isEmpty }
                    var answer: JSONObject = ["topic_subscriptions": .array(rest.prefix(size).map { Self.json($0, registration, project) })]
                    if rest.count > size, let last = rest.prefix(size).last { answer["next_page_token"] = .string(last.topic) }
                    return .object(answer)
                })
        }
    }

    private static func json(_ subscription: SubscribedTopic, _ registration: String, _ project: MessagingProject) -> JSONValue {
        [
            "name": .string("projects/\(project.id)/registrations/\(registration)/topicSubscriptions/\(subscription.topic)"),
            "topic_name": .string(subscription.topic), "create_time": .string(Timestamp.text(milliseconds: subscription.created)),
        ]
    }
}
