/// The new events in the outbox of a namespace after a transaction.
public struct EventAnnouncement: Sendable {
    /// The namespace.
    public let namespace: String
    /// The first events, in order, up to a limit. The others must be read from the outbox.
    public internal(set) var events: [OutboxEvent] = []
    /// The sequence of the newest event, for each function with new events.
    public internal(set) var newest: [String: UInt64] = [:]
    /// The sequence of the newest event.
    public internal(set) var last: UInt64 = 0
    /// The number of new events, including those that are not in ``events``.
    var count = 0

    /// An announcement without events.
    init(namespace: String) { self.namespace = namespace }
}
