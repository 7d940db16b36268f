/// What became of each message of ``Messaging/sendEach(_:dryRun:)``.
public struct BatchResponse: Sendable {
    /// In the order of the messages.
    public var responses: [SendResponse]

    /// Responses, for tests of a plugin.
    public init(_ responses: [SendResponse]) { self.responses = responses }

    /// How many were taken.
    public var successCount: Int { responses.count { $0.error == nil } }
    /// How many were not.
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

/// What became of one message.
public struct SendResponse: Sendable {
    /// Whom it was for.
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

    /// Why it was not taken.
    public var error: MessagingError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }
}

/// What became of each registration whose subscription was to change.
public struct TopicManagementResponse: Sendable {
    /// A registration whose subscription did not change.
    public struct Failure: Sendable, Hashable {
        /// Its place in the list that was given.
        public var index: Int
        /// The token or installation id as it was given.
        public var registration: String
        /// "NOT_FOUND" where it is not registered any more, "INVALID_ARGUMENT", "TOO_MANY_TOPICS", "RESOURCE_EXHAUSTED", ...
        public var reason: String
    }

    /// How many subscriptions are now as they were asked for.
    public var successCount: Int
    /// The others, in the order of the registrations.
    public var errors: [Failure]

    /// How many are not.
    public var failureCount: Int { errors.count }
}

/// A topic that an installation has subscribed to.
public struct TopicSubscription: Sendable, Hashable {
    /// Its name, without "/topics/".
    public var topic: String
    /// When, in RFC 3339.
    public var created: String
}
