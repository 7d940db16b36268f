internal import HearthJSON

/// The host's messaging service: push messages to phones and browsers.
///
///     let response = try await messaging.sendEachForMulticast(
///         MulticastMessage(tokens: tokens, notification: .init(title: "New follower", body: "\(name) follows you now.")))
///     for token in response.unregistered { try await tokensReference.child(token).removeValue() }
///
/// The names are those of the Firebase Admin SDKs. The host's configuration decides whether Google's service or the host's own carries
/// the messages. It makes no difference to functions.
public let messaging = Messaging()

/// Sends messages and manages subscriptions to topics.
public struct Messaging: Sendable {
    /// The most messages of one call.
    public static let messagesMax = 500
    /// The most registrations of one change of subscriptions.
    public static let registrationsMax = 1000

    init() {}

    /// Sends one message.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - dryRun: whether the message is only checked, and not sent.
    /// - Returns: its name, `projects/PROJECT/messages/ID`.
    public func send(_ message: Message, dryRun: Bool = false) async throws(MessagingError) -> String {
        let response = try await sendEach([message], dryRun: dryRun)
        guard let first = response.responses.first else { throw MessagingError(.internal, "The host did not answer for the message.") }
        return try first.result.get()
    }

    /// Sends up to 500 messages. Each is accepted or refused by itself.
    ///
    /// - Throws: only errors that concern all messages: there are too many, or the service could not be reached.
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

    /// Subscribes up to 1,000 tokens or installation ids to a topic. The first subscription creates the topic.
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

/// The outcomes of ``Messaging/sendEach(_:dryRun:)``, one for each message.
public struct BatchResponse: Sendable {
    /// In the order of the messages.
    public var responses: [SendResponse]

    /// Responses, for tests of a plugin.
    public init(_ responses: [SendResponse]) { self.responses = responses }

    /// The number of accepted messages.
    public var successCount: Int { responses.count { $0.error == nil } }
    /// The number of refused messages.
    public var failureCount: Int { responses.count { $0.error != nil } }

    /// The tokens and installation ids that are not registered any more: forget them.
    public var unregistered: [String] {
        responses.compactMap { response in
            guard response.error?.code == .unregistered else { return nil }
            return switch response.target {
            case .token(let token): token
            case .fid(let fid): fid
            case .topic, .condition: nil
            }
        }
    }
}

/// The outcome of one message.
public struct SendResponse: Sendable {
    /// The receiver.
    public var target: Target
    /// The message's name, `projects/PROJECT/messages/ID`, or why it was not taken.
    public var result: Result<String, MessagingError>

    /// A response, for tests of a plugin.
    public init(target: Target, result: Result<String, MessagingError>) {
        self.target = target
        self.result = result
    }

    /// The message's name, where it was taken.
    public var messageID: String? { try? result.get() }

    /// The reason of a refusal.
    public var error: MessagingError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }
}

/// The outcomes of a change of subscriptions.
public struct TopicManagementResponse: Sendable {
    /// A registration whose subscription did not change.
    public struct Failure: Sendable, Hashable {
        /// The index in the given list.
        public var index: Int
        /// The token or installation id as it was given.
        public var registration: String
        /// "NOT_FOUND" where it is not registered any more, "INVALID_ARGUMENT", "TOO_MANY_TOPICS", "RESOURCE_EXHAUSTED", ...
        public var reason: String
    }

    /// The number of subscriptions that are now as requested.
    public var successCount: Int
    /// The others, in the order of the registrations.
    public var errors: [Failure]

    /// The number of subscriptions that did not change.
    public var failureCount: Int { errors.count }
}

/// A topic that an installation has subscribed to.
public struct TopicSubscription: Sendable, Hashable {
    /// Its name, without "/topics/".
    public var topic: String
    /// The time of the subscription, in RFC 3339.
    public var created: String
}

/// The reason why a message was refused, or a subscription not changed.
public struct MessagingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of refusal.
    public enum Code: String, Sendable, CaseIterable {
        /// The message breaks a rule; ``fieldViolations`` say where.
        case invalidArgument = "invalid-argument"
        /// The target is not registered any more: forget it.
        case unregistered
        /// The target belongs to another project.
        case senderIDMismatch = "sender-id-mismatch"
        /// The host's credentials may not send for this project.
        case permissionDenied = "permission-denied"
        /// The host's credentials are none, or too old.
        case unauthenticated
        /// Too many messages; ``retryAfter`` says when to try again.
        case quotaExceeded = "quota-exceeded"
        /// The device's own push service refused the host's credentials for it.
        case thirdPartyAuth = "third-party-auth-error"
        /// The service cannot be reached, or is about to stop. Nothing was sent.
        case unavailable
        /// An error of the service itself.
        case `internal`
    }

    /// A rule that a field breaks.
    public struct FieldViolation: Sendable, Hashable {
        /// Its path, such as "message.android.ttl".
        public var field: String
        /// The rule, as a sentence.
        public var description: String

        /// A violation as the service names it.
        public init(field: String, description: String) {
            self.field = field
            self.description = description
        }
    }

    /// The kind of refusal.
    public var code: Code
    /// A sentence for the log.
    public var message: String
    /// The fields that break a rule; empty where none is at fault.
    public var fieldViolations: [FieldViolation]
    /// The time to wait before another try, where the service says so.
    public var retryAfter: Duration?

    /// An error as the service makes it, for tests of a plugin.
    public init(_ code: Code, _ message: String, fieldViolations: [FieldViolation] = [], retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.fieldViolations = fieldViolations
        self.retryAfter = retryAfter
    }

    /// "invalid-argument: Request contains an invalid argument. (message.android.ttl: ...)"
    public var description: String {
        let places = fieldViolations.map { "\($0.field): \($0.description)" }.joined(separator: "; ")
        return "\(code.rawValue): \(message)\(places.isEmpty ? "" : " (\(places))")"
    }
}

extension HttpsError {
    /// The error for a caller of the function, made from an error of the messaging service.
    public init(_ error: MessagingError) {
        let code: Code =
            switch error.code {
            case .invalidArgument: .invalidArgument
            case .unregistered: .notFound
            case .senderIDMismatch, .permissionDenied: .permissionDenied
            case .unauthenticated, .thirdPartyAuth: .failedPrecondition
            case .quotaExceeded: .resourceExhausted
            case .unavailable: .unavailable
            case .internal: .internal
            }
        self.init(code, error.message)
    }
}

extension MessagingError {
    /// The service's error: `{"code", "message", "details": {"reason", "fieldViolations", "retryAfterSeconds"}}`.
    init(failure: JSONValue) {
        let details = failure["details"]
        let code = (details?["reason"]?.string ?? failure["code"]?.string).flatMap(Code.init(rawValue:))
        let violations = (details?["fieldViolations"]?.array ?? []).map {
            FieldViolation(field: $0["field"]?.string ?? "", description: $0["description"]?.string ?? "")
        }
        self.init(
            code ?? .internal, failure["message"]?.string ?? "The messaging service failed without saying why.",
            fieldViolations: violations, retryAfter: details?["retryAfterSeconds"]?.int.map { .seconds($0) })
    }
}
