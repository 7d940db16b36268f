import DequeModule
import HearthBytes
import HTTP
import HearthJSON

/// Lists of accepted messages, and their outcomes (spec messaging 6.8).
extension MessagingFrontEnd {
    private static let outcomesMax = 1000

    func listMessages(_ exchange: HTTPExchange, _ project: MessagingProject) {
        let query = QueryParameters(exchange.query)
        let size = query.number("page_size", "pageSize", bounds: 1...200, default: 50)
        let before = Int64(query["page_token", "pageToken"] ?? "") ?? .max
        embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
        _: { _, store throws(StoreFailure) in
            let found = try store.messages(project: project.id, before: before, limit: size)
            var messages: [JSONValue] = []
            for row in found {
                guard let stored = try store.message(row.id) else { continue }
                messages.append(.object(Self.summary(stored, project)))
            }
            var answer: JSONObject = ["messages": .array(messages)]
            if found.count == size, let last = found.last { answer["next_page_token"] = .string("\(last.id)") }
            return .success(.object(answer))
        }
    }

    /// Answers with a message and its outcomes.
    func showMessage(_ exchange: HTTPExchange, _ project: MessagingProject, _ name: String) {
        embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
        _: { writer, store throws(StoreFailure) in
            guard let id = MessageID.number(name), let stored = try store.message(id), stored.project == project.id else {
                return .failure(.noMessage)
            }
            var answer = Self.summary(stored, project)
            var outcomes = try store.outcomes(id, limit: Self.outcomesMax).map { row in
                var outcome: JSONObject = ["fid": .string(row.fid), "outcome": .string(row.outcome)]
                if !row.detail.isEmpty { outcome["detail"] = .string(row.detail) }
                outcome["time"] = .string(Timestamp.text(milliseconds: row.at))
                return JSONValue.object(outcome)
            }
            let remaining = try store.remaining(id)
            if remaining > 0, let device = try Self.device(of: stored, store) {
                outcomes.append(["fid": .string(device.fid), "outcome": .string(DeliveryOutcome.pending.rawValue)])
            }
            answer["outcomes"] = .array(outcomes)
            answer["pending_count"] = JSONValue(remaining)
            answer["fanning_out"] = .bool(writer.fanOuts.contains { $0.stored.id == id })
            return .success(.object(answer))
        }
    }

    private static func device(of stored: StoredMessage, _ store: MessagingStore) throws(StoreFailure) -> Device? {
        switch stored.message.target {
        case .token(let token): try store.device(token: token)
        case .fid(let fid): try store.device(fid: fid)
        case .topic, .condition: nil
        }
    }

    private static func summary(_ stored: StoredMessage, _ project: MessagingProject) -> JSONObject {
        let size = PayloadSize(stored.message)
        return [
            "name": .string("projects/\(project.id)/messages/\(stored.name)"), "accept_time": .string(Timestamp.text(milliseconds: stored.sent)),
            "message": .object(stored.message.fields),
            "size": [
                "common": JSONValue(size.common), "android": JSONValue(size.android), "web": JSONValue(size.web), "apple": JSONValue(size.apple),
            ],
        ]
    }
}

extension MessagingError {
    static let noMessage = MessagingError(.notFound, "Requested entity was not found.")
}
