import RealtimeDatabase
import Synchronization

/// The numbers of rows in the outbox of users, for metrics. Can be read from every thread.
public final class UserEventFigures: Sendable {
    private let stored = Mutex(OutboxCounts())

    init() {}

    /// The state after the last transaction.
    public internal(set) var counts: OutboxCounts {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
