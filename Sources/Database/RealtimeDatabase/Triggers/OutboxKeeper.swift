public import Store

/// The owner of an outbox who counts its events, and keeps those whose next attempt is far away. Called on the writer's thread, in the
/// transaction of the change.
public protocol OutboxKeeper: AnyObject {
    /// Notes a new event.
    ///
    /// - Parameter size: that of its row.
    func didAppend(_ key: EventKey, size: Int)

    /// Notes that the row of an event has another size.
    func didResize(_ key: EventKey, by bytes: Int)

    /// Notes that a dead letter is in the outbox again, with another sequence.
    func didReplay(_ event: OutboxEvent) throws(StoreError)

    /// Notes that an event is settled or given up, and leaves the outbox.
    func willRemove(_ key: EventKey, size: Int) throws(StoreError)

    /// Keeps an event, which leaves the outbox, until its next attempt.
    func keep(_ event: OutboxEvent) throws(StoreError)
}

extension OutboxEvent {
    /// Its row, to be kept outside of an outbox. The row has neither function nor sequence.
    public var stored: [UInt8] { row() }

    /// An event that was kept outside of an outbox; nil if the row cannot be read.
    public init?(stored: [UInt8], key: EventKey, namespace: String) {
        guard let event = try? OutboxEvent(row: stored.span, key: key, namespace: namespace) else { return nil }
        self = event
    }
}
