/// A write that a function runs because of: what it did, where, and who wrote.
///
/// An event comes at least once. When it comes again, as after a power failure, it has the same `id`.
public struct DatabaseEvent<Data> {
    /// The value that was created or deleted; for an updated or written one what it was before and after.
    public let data: Data
    /// Names this event, the same in every attempt.
    public let id: String
    /// When the write was committed: a date of RFC 3339, such as "2026-11-21T16:04:05.123Z".
    public let time: String
    /// The place that matched the function's pattern. Reading and writing through it is done as an administrator.
    public let ref: DatabaseReference
    /// What the pattern's captures stand for: `event.params["pushId"]`.
    public let params: [String: String]
    /// The name of the database.
    public let instance: String
    /// The region of the database.
    public let location: String
    /// As whom the write was done.
    public let authType: AuthType
    /// The id of the user who wrote; of an administrator the account's name, where it has one.
    public let authID: String?
    /// 1 when the function sees the event for the first time, more when it comes again.
    public let attempt: Int
    /// Whether the values were too large for the host to keep: `data` is a snapshot of nothing then, and `ref` shows what is
    /// there now. A function that asks for values of a type fails instead.
    public let isTruncated: Bool
    private let invocation: Invocation

    /// As whom a write was done.
    public enum AuthType: String, Sendable {
        /// A user who has signed in.
        case appUser = "app_user"
        /// Somebody to whom no rules apply: the console, an admin SDK, another function.
        case admin
        /// Somebody who has not signed in.
        case unauthenticated
        /// The host does not know.
        case unknown
    }

    /// The event's place in a trace, as a W3C `traceparent`: a part of the trace that the write was a part of.
    public var traceparent: String? { invocation.context.traceparent }
    /// What other systems said of the trace, to be sent on with ``traceparent``.
    public var tracestate: String? { invocation.context.tracestate }

    /// When the function's time is up and its task is cancelled; nil for never.
    public var deadline: ContinuousClock.Instant? { invocation.deadline }

    init(_ invocation: Invocation, _ head: EventHead, _ data: Data) {
        self.data = data
        self.id = head.id
        self.time = head.time
        self.ref = head.ref
        self.params = head.params
        self.instance = head.instance
        self.location = head.location
        self.authType = AuthType(rawValue: head.authType) ?? .unknown
        self.authID = head.authID
        self.attempt = head.attempt
        self.isTruncated = head.isTruncated
        self.invocation = invocation
    }
}

extension DatabaseEvent: Sendable where Data: Sendable {}

/// A value before and after a write.
public struct Change<Value> {
    /// As it was.
    public let before: Value
    /// As it is now.
    public let after: Value
}

extension Change: Sendable where Value: Sendable {}
