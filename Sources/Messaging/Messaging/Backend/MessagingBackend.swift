public import EventLoop

/// Delivers checked messages: this server's own delivery, or the hosted service.
///
/// A back end can be called from every loop. It answers each call exactly once, on the loop passed with the call and never before the call
/// returns. The README of this module describes its obligations.
public protocol MessagingBackend: AnyObject, Sendable {
    /// Accepts a message for delivery. Answers with its full name, `projects/PROJECT/messages/ID`, or with an error.
    func send(_ request: SendRequest, on loop: EventLoop, _ answer: @escaping (Result<String, MessagingError>) -> Void)

    /// Subscribes or unsubscribes registrations. Answers with an outcome for each, in the same order.
    func changeTopic(
        _ change: TopicChange, on loop: EventLoop, _ answer: @escaping (Result<[TopicOutcome], MessagingError>) -> Void)

    /// Returns the topics of a registration, sorted by name.
    func topics(
        of registration: String, project: String, on loop: EventLoop,
        _ answer: @escaping (Result<[SubscribedTopic], MessagingError>) -> Void)
}

/// A message for a back end. All rules have been checked that do not depend on its receivers.
public struct SendRequest: Sendable {
    /// The project's id.
    public var project: String
    /// The message, with its target.
    public var message: Message
    /// Whether only to make all checks of a real send and answer as it would, without sending or counting anything.
    public var isValidateOnly: Bool
    /// A key for repeated requests. A send with the key of another one within ten minutes gets the same answer, and delivers nothing.
    public var idempotencyKey: String?

    /// A request to send a message; with `isValidateOnly`, to check it.
    public init(project: String, message: Message, isValidateOnly: Bool = false, idempotencyKey: String? = nil) {
        self.project = project
        self.message = message
        self.isValidateOnly = isValidateOnly
        self.idempotencyKey = idempotencyKey
    }
}

/// A change of subscriptions.
public struct TopicChange: Sendable {
    /// The kind of change.
    public enum Action: Sendable {
        case subscribe
        case unsubscribe
    }

    /// The project's id.
    public var project: String
    /// The kind of change.
    public var action: Action
    /// The topic. It is created by its first subscription.
    public var topic: TopicName
    /// 1 to 1,000 tokens or installation ids.
    public var registrations: [String]

    /// A change of one topic for all of `registrations`.
    public init(project: String, action: Action, topic: TopicName, registrations: [String]) {
        self.project = project
        self.action = action
        self.topic = topic
        self.registrations = registrations
    }
}

/// The outcome for one registration of a ``TopicChange``.
public enum TopicOutcome: String, Sendable {
    /// The subscription was changed, or already was as requested. An empty object on the wire.
    case done = ""
    /// The registration does not exist any more: forget it.
    case notFound = "NOT_FOUND"
    /// The text is neither a token nor an installation id.
    case invalidArgument = "INVALID_ARGUMENT"
    /// The device has the maximal number of topics.
    case tooManyTopics = "TOO_MANY_TOPICS"
    /// Changes are made too fast.
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    /// The registration belongs to another project.
    case permissionDenied = "PERMISSION_DENIED"
    /// The service took too long.
    case deadlineExceeded = "DEADLINE_EXCEEDED"
    /// The service failed.
    case internalError = "INTERNAL"
    /// The service returned a code that is unknown here.
    case unknown = "UNKNOWN"
}

/// A topic that a registration is subscribed to.
public struct SubscribedTopic: Sendable, Hashable {
    /// The name, without `/topics/`.
    public var topic: String
    /// The time of the subscription, in milliseconds since 1970.
    public var created: Int64

    /// A subscription that exists since `created`.
    public init(topic: String, created: Int64) {
        self.topic = topic
        self.created = created
    }
}
