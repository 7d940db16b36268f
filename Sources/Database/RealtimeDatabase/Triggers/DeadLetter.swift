/// An event that was given up: it is kept until somebody replays or deletes it, or newer ones need its room.
public struct DeadLetter: Sendable, Hashable {
    /// Why an event was given up.
    public enum Reason: UInt8, Sendable, Hashable, CaseIterable {
        /// The function failed, and does not ask to be run again.
        case failed
        /// The function failed again and again for as long as it is tried.
        case expired
        /// The worker ended each time that the function had it.
        case interrupted
        /// There is no function of this name any more.
        case functionMissing
        /// The events before it caused each other, more of them than one chain may have.
        case chainTooLong

        /// As the command line shows it.
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

    /// The event as it was last tried. Its sequence is the dead letter's.
    public var event: OutboxEvent
    /// Why it was given up.
    public var reason: Reason
    /// When, in milliseconds since 1970.
    public var time: Int64

    /// An event that was given up.
    public init(event: OutboxEvent, reason: Reason, time: Int64) {
        self.event = event
        self.reason = reason
        self.time = time
    }
}
