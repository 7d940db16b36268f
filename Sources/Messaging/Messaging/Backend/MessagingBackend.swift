public import EventLoop

/// What carries messages away once they are checked: this server's own delivery, the hosted service, ...
///
/// A back end can be called from every loop. It answers each call exactly once, on the loop that is named with the call and never
/// before the call returns. What each call means, and what a back end must hold to, is in this room's README.
public protocol MessagingBackend: AnyObject, Sendable {
    /// Takes a message for delivery; answers with its full name, `projects/PROJECT/messages/ID`, or with why it is not taken.
    func send(_ request: SendRequest, on loop: EventLoop, _ answer: @escaping (Result<String, MessagingError>) -> Void)

    /// Subscribes registrations to a topic, or ends their subscriptions; answers with one outcome for each, in their order.
    func changeTopic(
        _ change: TopicChange, on loop: EventLoop, _ answer: @escaping (Result<[TopicOutcome], MessagingError>) -> Void)

    /// The topics that a registration is subscribed to, sorted by name.
    func topics(
        of registration: String, project: String, on loop: EventLoop,
        _ answer: @escaping (Result<[SubscribedTopic], MessagingError>) -> Void)
}

/// One message on its way to a back end. It has passed every rule that can be checked without knowing its receivers.
public struct SendRequest: Sendable {
    /// The project's id.
    public var project: String
    /// What is sent, and to whom.
    public var message: Message
    /// Checks everything that a real send checks and answers as one does, but nothing leaves and nothing is counted.
    public var isValidateOnly: Bool
    /// Sends with the same key within ten minutes are one send, and are answered alike.
    public var idempotencyKey: String?

    /// A real send, unless it is said otherwise.
    public init(project: String, message: Message, isValidateOnly: Bool = false, idempotencyKey: String? = nil) {
        self.project = project
        self.message = message
        self.isValidateOnly = isValidateOnly
        self.idempotencyKey = idempotencyKey
    }
}

/// A change of subscriptions.
public struct TopicChange: Sendable {
    /// What becomes of the subscriptions.
    public enum Action: Sendable {
        case subscribe
        case unsubscribe
    }

    /// The project's id.
    public var project: String
    /// What becomes of them.
    public var action: Action
    /// Whose subscriptions change; a topic is made by its first subscription.
    public var topic: TopicName
    /// Tokens or installation ids, 1 to 1,000 of them.
    public var registrations: [String]

    /// One change for all of `registrations`.
    public init(project: String, action: Action, topic: TopicName, registrations: [String]) {
        self.project = project
        self.action = action
        self.topic = topic
        self.registrations = registrations
    }
}

/// What became of one registration in a ``TopicChange``.
public enum TopicOutcome: String, Sendable {
    /// The subscription is as it was asked for; on the wire an empty object.
    case done = ""
    /// The registration is not, or no longer, there: forget it.
    case notFound = "NOT_FOUND"
    /// What was given is neither a token nor an installation id.
    case invalidArgument = "INVALID_ARGUMENT"
    /// The device has as many topics as it may.
    case tooManyTopics = "TOO_MANY_TOPICS"
    /// Changes come too fast.
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    /// The registration belongs to another project.
    case permissionDenied = "PERMISSION_DENIED"
    /// The service took too long.
    case deadlineExceeded = "DEADLINE_EXCEEDED"
    /// The service failed.
    case internalError = "INTERNAL"
    /// The service said something that is not known here.
    case unknown = "UNKNOWN"
}

/// A topic that a registration is subscribed to.
public struct SubscribedTopic: Sendable, Hashable {
    /// Its name, without `/topics/`.
    public var topic: String
    /// Milliseconds since 1970.
    public var created: Int64

    /// A subscription since `created`.
    public init(topic: String, created: Int64) {
        self.topic = topic
        self.created = created
    }
}
