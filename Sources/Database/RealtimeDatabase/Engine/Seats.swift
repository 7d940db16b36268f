import Synchronization

/// Counts the long-lived resources of clients by key: long answers by client, event streams by namespace. Can be used from any thread.
package final class Seats<Key: Hashable & Sendable>: Sendable {
    /// The most seats for one key.
    package let countMax: Int
    private let counts = Mutex<[Key: Int]>([:])

    init(countMax: Int) {
        self.countMax = countMax
    }

    /// A seat that is taken until ``end()``, or until its last owner releases it.
    package final class Seat: Sendable {
        private let key: Key
        private let seats: Seats
        private let hasEnded = Atomic(false)

        fileprivate init(_ key: Key, _ seats: Seats) {
            self.key = key
            self.seats = seats
        }

        deinit { end() }

        func end() {
            if !hasEnded.exchange(true, ordering: .relaxed) { seats.leave(key) }
        }
    }

    /// Takes a seat.
    ///
    /// - Returns: nil if all seats of the key are taken.
    package func take(_ key: Key) -> Seat? {
        let hasRoom = counts.withLock { counts in
            let count = counts[key, default: 0]
            guard count < countMax else { return false }
            counts[key] = count + 1
            return true
        }
        return hasRoom ? Seat(key, self) : nil
    }

    private func leave(_ key: Key) {
        counts.withLock { counts in
            let left = counts[key, default: 1] - 1
            counts[key] = left > 0 ? left : nil
        }
    }
}
