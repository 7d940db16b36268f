import FunctionDispatch
import RealtimeDatabase
import Tree

/// The events of one function at one path: they are delivered one after the other, in the order of their writes.
final class EventLane {
    enum State: Equatable {
        /// Its next event can be started, or read.
        case ready
        /// An event is in a worker.
        case running
        /// Events are being read from the outbox.
        case fetching
        /// The next event has failed and is tried again at this time of the loop.
        case waiting(untilMilliseconds: UInt64)
    }

    let path: Path
    var state = State.ready
    /// The next events.
    var loaded = FIFO<OutboxEvent>()
    /// The sequences of those after them, which are in the outbox only.
    var held = FIFO<UInt64>()

    init(path: Path) { self.path = path }

    var isEmpty: Bool { loaded.isEmpty && held.isEmpty }

    /// Whether an event that comes now is to stay in the outbox.
    func holdsBack(beyond loadedMax: Int) -> Bool {
        if case .waiting = state { return true }
        return !held.isEmpty || loaded.count >= loadedMax
    }

    /// Leaves everything in the outbox; what it had of it.
    func unload() -> [OutboxEvent] {
        let given = loaded.removeAll()
        held.prepend(given.map(\.sequence))
        return given
    }
}
