/// An event that was given up. It is stored until it is replayed or deleted, or until newer dead letters need its room.
public struct DeadLetter: Sendable, Hashable {
    /// The reason why an event was given up.
    public enum Reason: UInt8, Sendable, Hashable, CaseIterable {
        /// The function has failed, and does not request retries.
        case failed
        /// The function has failed in all attempts, until the event was too old.
        case expired
        /// The worker ended each time it handled the event.
        case interrupted
        /// The function no longer exists.
        case functionMissing
        /// The chain of events that caused each other is too long.
        case chainTooLong

        /// The text in the command line.
        public var text: String {
            switch self {
            case .failed: "the function failed"
            case .expired: "the function failed until the event was too old"
            case .interrupted: "the worker ended each time"
            case .functionMissing: "there is no function of this name"
            case .chainTooLong: "functions caused each other too often in a row"
            }
        }
    }

    /// The event in the state of the last attempt. Its sequence is that of the dead letter.
    public var event: OutboxEvent
    /// The reason why it was given up.
    public var reason: Reason
    /// The time when it was given up, in milliseconds since 1970.
    public var time: Int64

    /// Creates a dead letter.
    public init(event: OutboxEvent, reason: Reason, time: Int64) {
        self.event = event
        self.reason = reason
        self.time = time
    }
}
