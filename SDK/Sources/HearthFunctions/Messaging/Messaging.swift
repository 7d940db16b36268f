internal import HearthJSON

/// The host's messaging service: push messages to phones and browsers.
///
///     let response = try await messaging.sendEachForMulticast(
///         MulticastMessage(tokens: tokens, notification: .init(title: "New follower", body: "\(name) follows you now.")))
///     for token in response.unregistered { try await tokensReference.child(token).removeValue() }
///
/// The names are those of the Firebase Admin SDKs. What carries the messages, Google's service or the host's own, is the host's
/// configuration and the same for functions.
public let messaging = Messaging()

/// Sends messages and manages who gets them.
public struct Messaging: Sendable {
    /// How many messages one call takes.
    public static let messagesMax = 500
    /// How many registrations one change of subscriptions takes.
    public static let registrationsMax = 1000

    init() {}

    /// Sends one message.
    ///
    /// - Parameter dryRun: checks everything, and sends nothing.
    /// - Returns: its name, `projects/PROJECT/messages/ID`.
    public func send(_ message: Message, dryRun: Bool = false) async throws(MessagingError) -> String {
        let response = try await sendEach([message], dryRun: dryRun)
        guard let first = response.responses.first else { throw MessagingError(.internal, "The host did not answer for the message.") }
        return try first.result.get()
    }

    /// Sends up to 500 messages; that one is not taken says nothing of the others.
    ///
    /// - Throws: only what concerns all of them: that there are too many, or that nobody could be asked.
    public func sendEach(_ messages: [Message], dryRun: Bool = false) async throws(MessagingError) -> BatchResponse {
        guard !messages.isEmpty else { return BatchResponse([]) }
        guard messages.count <= Self.messagesMax else {
            throw MessagingError(.invalidArgument, "One call sends at most \(Self.messagesMax) messages; these are \(messages.count).")
        }
        let answer = try await call("send", ["messages": .array(messages.map(\.json)), "validateOnly": .bool(dryRun)])
        let results = answer["results"]?.array ?? []
        guard results.count == messages.count else { throw MessagingError(.internal, "The host did not answer for each message.") }
        return BatchResponse(
            zip(messages, results).map { message, result in
                let name = result["name"]?.string
                return SendResponse(
                    target: message.target, result: name.map { .success($0) } ?? .failure(MessagingError(failure: result["error"] ?? .null)))
            })
    }

    /// Sends one message to up to 500 installations.
    ///
    /// - Returns: a response for each token, then for each installation id, in their order.
    public func sendEachForMulticast(_ message: MulticastMessage, dryRun: Bool = false) async throws(MessagingError) -> BatchResponse {
        try await sendEach(message.messages, dryRun: dryRun)
    }

    /// Subscribes up to 1,000 tokens or installation ids to a topic, which comes into being with its first subscriber.
    public func subscribe(_ registrations: [String], toTopic topic: String) async throws(MessagingError) -> TopicManagementResponse {
        try await change("subscribe", registrations, topic)
    }

    /// Ends the subscriptions of up to 1,000 tokens or installation ids.
    public func unsubscribe(_ registrations: [String], fromTopic topic: String) async throws(MessagingError) -> TopicManagementResponse {
        try await change("unsubscribe", registrations, topic)
    }

    /// The topics that a token or installation id has subscribed to.
    public func topics(of registration: String) async throws(MessagingError) -> [TopicSubscription] {
        let answer = try await call("topics", ["registration": .string(registration)])
        return (answer["topics"]?.array ?? []).map {
            TopicSubscription(topic: $0["topic"]?.string ?? "", created: $0["created"]?.string ?? "")
        }
    }

    private func change(
        _ method: String, _ registrations: [String], _ topic: String
    ) async throws(MessagingError) -> TopicManagementResponse {
        guard !registrations.isEmpty else { return TopicManagementResponse(successCount: 0, errors: []) }
        guard registrations.count <= Self.registrationsMax else {
            throw MessagingError(
                .invalidArgument, "One call changes at most \(Self.registrationsMax) subscriptions; these are \(registrations.count).")
        }
        let name = topic.hasPrefix("/topics/") ? String(topic.dropFirst(8)) : topic
        let answer = try await call(method, ["registrations": .array(registrations.map { .string($0) }), "topic": .string(name)])
        let results = answer["results"]?.array ?? []
        guard results.count == registrations.count else {
            throw MessagingError(.internal, "The host did not answer for each registration.")
        }
        let errors = zip(registrations, results).enumerated().compactMap { index, pair in
            pair.1["error"]?.string.map { TopicManagementResponse.Failure(index: index, registration: pair.0, reason: $0) }
        }
        return TopicManagementResponse(successCount: registrations.count - errors.count, errors: errors)
    }

    private func call(_ method: String, _ payload: JSONValue) async throws(MessagingError) -> JSONValue {
        let answer = await services.answer("messaging", method, payload.serialized())
        let value = (try? answer.value) ?? .null
        if answer.isOK { return value }
        throw MessagingError(failure: value)
    }
}
