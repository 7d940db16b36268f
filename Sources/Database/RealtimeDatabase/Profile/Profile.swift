import Synchronization

/// The profilers of a namespace. Without one, an operation only costs reading a number.
package final class Profile: Sendable {
    private let queues = Mutex<[ProfileQueue]>([])
    private let queueCount = Atomic(0)

    /// A timer for an operation that starts now; nil without a profiler.
    package func stopwatch() -> OperationTimer? { isWatched ? OperationTimer() : nil }

    /// Records an operation that ends now. Can be called from any thread.
    package func record(_ operation: @autoclosure () -> Operation) {
        guard isWatched else { return }
        let frame = operation().frame()
        for queue in queues.withLock({ $0 }) { queue.offer(frame) }
    }

    private var isWatched: Bool { queueCount.load(ordering: .relaxed) > 0 }

    /// Puts every operation into a queue from now on.
    package func add(_ queue: ProfileQueue) {
        queues.withLock { queues in
            queues.append(queue)
            queueCount.store(queues.count, ordering: .relaxed)
        }
    }

    /// Removes a queue.
    package func remove(_ queue: ProfileQueue) {
        queues.withLock { queues in
            queues.removeAll { $0 === queue }
            queueCount.store(queues.count, ordering: .relaxed)
        }
    }
}
