/// What a committed transaction left in the outbox of a namespace.
public struct EventAnnouncement: Sendable {
    /// The namespace.
    public let namespace: String
    /// Its events in order, as many from the front as are worth carrying; the others are read from the outbox.
    public internal(set) var events: [OutboxEvent] = []
    /// The newest event of each function that has new ones.
    public internal(set) var newest: [String: UInt64] = [:]
    /// The newest event of all.
    public internal(set) var last: UInt64 = 0
    /// How many events there are, those included that are not carried.
    var count = 0

    /// Nothing happened in `namespace`.
    init(namespace: String) { self.namespace = namespace }
}
