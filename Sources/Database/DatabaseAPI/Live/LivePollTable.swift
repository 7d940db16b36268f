import EventLoop
import HearthBytes
import Synchronization

/// The polling clients of all loops (spec database 3.9). A browser's requests may arrive on any loop.
final class LivePollTable: Sendable {
    struct Entry {
        var password: [UInt8]
        /// The loop of the connection.
        var loop: EventLoop
        var poll: LoopBound<LivePoll>
    }

    private let entries = Mutex<[String: Entry]>([:])

    func add(_ id: String, _ entry: Entry) { entries.withLock { $0[id] = entry } }

    func remove(_ id: String) { entries.withLock { _ = $0.removeValue(forKey: id) } }

    /// The client with this id; for a message of the client itself, which knows the password.
    func find(_ id: String, password: [UInt8]) -> Entry? {
        guard let entry = find(id), password.span.equalsInConstantTime(entry.password) else { return nil }
        return entry
    }

    /// The client with this id, which is as hard to guess as the password.
    func find(_ id: String) -> Entry? { entries.withLock { $0[id] } }
}
