import DequeModule
import FunctionDispatch
import RealtimeDatabase
import Tree

/// The events of one function at one path. They are delivered one after the other, in the order of their writes.
final class EventLane {
    enum State: Equatable {
        /// The next event can be started or read.
        case ready
        /// An attempt is running.
        case running
        /// Events are being read from the outbox.
        case fetching
        /// The next event has failed. It is tried again at this time of the loop's clock.
        case waiting(untilMilliseconds: UInt64)
    }

    let path: Path
    var state = State.ready
    /// The next events, in memory.
    var loaded = Deque<OutboxEvent>()
    /// The sequence numbers of the following events, which are only in the outbox.
    var held = Deque<UInt64>()

    init(path: Path) { self.path = path }

    var isEmpty: Bool { loaded.isEmpty && held.isEmpty }

    /// Whether a new event has to stay in the outbox.
    func holdsBack(beyond loadedMax: Int) -> Bool {
        if case .waiting = state { return true }
        return !held.isEmpty || loaded.count >= loadedMax
    }

    /// Moves all events in memory to `held`, and returns them.
    func unload() -> [OutboxEvent] {
        defer { loaded = [] }
        held.prepend(contentsOf: loaded.map(\.sequence))
        return Array(loaded)
    }
}
