import Synchronization

/// The room of a worker: the number of its invocations on all lanes, and whether it takes more.
///
/// Every loop of the host takes and returns room by itself. Only the dispatcher's loop opens and closes the room. So a worker never has more
/// invocations than its concurrency allows, whichever loops they arrive on.
final class WorkerRoom: Sendable {
    private static let closedBit = 1 << 32

    /// The most invocations at the same time.
    let size: Int
    /// The number of invocations, and a bit that is set while the room is closed.
    private let state = Atomic(closedBit)
    /// When the worker last became idle, in milliseconds of the loop's clock.
    private let idleSince = Atomic<UInt64>(0)

    /// A closed room for `size` invocations.
    init(size: Int) { self.size = size }

    /// The number of the worker's invocations.
    var count: Int { state.load(ordering: .sequentiallyConsistent) & ~Self.closedBit }

    /// Whether the worker takes invocations if it has room.
    var isOpen: Bool { state.load(ordering: .sequentiallyConsistent) & Self.closedBit == 0 }

    /// The number of the worker's invocations; nil if it takes no further one.
    @inline(__always)
    var countIfFree: Int? {
        let state = state.load(ordering: .relaxed)
        // The bit makes the number larger than any size.
        return state < size ? state : nil
    }

    /// Takes room for one invocation.
    ///
    /// - Returns: whether there was room.
    @inline(__always)
    func take() -> Bool {
        var seen = state.load(ordering: .relaxed)
        while seen < size {
            let (exchanged, original) = state.weakCompareExchange(
                expected: seen, desired: seen + 1, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
            if exchanged { return true }
            seen = original
        }
        return false
    }

    /// Returns the room of one invocation.
    ///
    /// - Returns: the number of remaining invocations.
    @inline(__always)
    func give(now: UInt64) -> Int {
        let left = state.subtract(1, ordering: .sequentiallyConsistent).newValue & ~Self.closedBit
        if left == 0 { rests(since: now) }
        return left
    }

    /// Lets the worker take invocations.
    func open() { state.bitwiseAnd(~Self.closedBit, ordering: .sequentiallyConsistent) }

    /// Lets the worker take no more invocations. Those that it has stay.
    func close() { state.bitwiseOr(Self.closedBit, ordering: .sequentiallyConsistent) }

    /// Closes the room if it is empty.
    ///
    /// - Returns: whether the room is closed and empty now.
    func closeIfEmpty() -> Bool {
        let (exchanged, original) = state.compareExchange(expected: 0, desired: Self.closedBit, ordering: .sequentiallyConsistent)
        return exchanged || original == Self.closedBit
    }

    /// When the worker last became idle, in milliseconds of the loop's clock.
    var idleSinceMilliseconds: UInt64 { idleSince.load(ordering: .relaxed) }

    /// Records when the worker has become idle.
    func rests(since milliseconds: UInt64) { idleSince.store(milliseconds, ordering: .relaxed) }
}

extension Array {
    /// Takes room for an invocation in the worker with the fewest invocations. Returns nil if no worker has room.
    @inline(__always)
    func takeRoom(_ room: (Element) -> WorkerRoom) -> Element? {
        while true {
            var best = -1
            var fewest = Int.max
            for index in indices {
                guard let count = room(self[index]).countIfFree, count < fewest else { continue }
                best = index
                fewest = count
            }
            guard best >= 0 else { return nil }
            // Another loop may have taken the room in between.
            if room(self[best]).take() { return self[best] }
        }
    }
}

/// Facts about a pool that the loops of a host share without messages.
final class PoolSignals: Sendable {
    private let waiting = Atomic(0)
    private let answered = Atomic(false)
    private let retired = Atomic(false)

    /// Whether invocations wait in the pool's queue. If so, they get free room first.
    var isAwaited: Bool { waiting.load(ordering: .sequentiallyConsistent) > 0 }

    /// Sets the number of invocations in the pool's queue.
    func setWaiting(_ count: Int) {
        waiting.store(count, ordering: .sequentiallyConsistent)
        // The caller looks for free room next. A loop that returns room and does not see this count yet has made its room visible before.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
    }

    /// Whether other pools serve the functions now, so that idle workers end.
    var isRetired: Bool { retired.load(ordering: .sequentiallyConsistent) }

    func setRetired(_ isRetired: Bool) { retired.store(isRetired, ordering: .sequentiallyConsistent) }

    /// Notes that a worker has answered on another loop than the dispatcher's.
    @inline(__always)
    func noteAnswer() {
        if !answered.load(ordering: .relaxed) { answered.store(true, ordering: .relaxed) }
    }

    /// Whether ``noteAnswer()`` was called since the last call of this function.
    func takeAnswered() -> Bool { answered.load(ordering: .relaxed) && answered.exchange(false, ordering: .relaxed) }
}
