import EventLoop
import Synchronization

/// Who reads the answers of a project's databases that are too long for one piece.
///
/// Each of them holds a snapshot, and so a connection of its own and all that was written since in the log of changes, for as long as
/// its client takes to read it. Can be used from any thread.
final class LongReads: Sendable {
    /// How many one client may read at a time.
    let perClientMax: Int
    private let counts = Mutex<[NetworkAddress: Int]>([:])

    init(perClientMax: Int) {
        self.perClientMax = perClientMax
    }

    /// One of a client's answers, from here to its `deinit`.
    final class Seat: Sendable {
        private let client: NetworkAddress
        private let reads: LongReads

        fileprivate init(_ client: NetworkAddress, _ reads: LongReads) {
            self.client = client
            self.reads = reads
        }

        deinit { reads.leave(client) }
    }

    /// Counts one answer more.
    ///
    /// - Returns: nil where the client reads as many as it may.
    func enter(_ client: NetworkAddress) -> Seat? {
        let hasRoom = counts.withLock { counts in
            let count = counts[client, default: 0]
            guard count < perClientMax else { return false }
            counts[client] = count + 1
            return true
        }
        return hasRoom ? Seat(client, self) : nil
    }

    private func leave(_ client: NetworkAddress) {
        counts.withLock { counts in
            let left = counts[client, default: 1] - 1
            counts[client] = left > 0 ? left : nil
        }
    }
}
