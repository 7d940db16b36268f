import Synchronization

/// Who profiles a namespace. While nobody does, an operation costs a look at one number.
final class Profile: Sendable {
    private let queues = Mutex<[ProfileQueue]>([])
    private let queueCount = Atomic(0)

    /// Measures an operation that is asked for now; nil while nobody wants to know.
    func stopwatch() -> OperationTimer? { isWatched ? OperationTimer() : nil }

    /// Tells of an operation that has ended now. Can be called from any thread.
    func record(_ operation: @autoclosure () -> Operation) {
        guard isWatched else { return }
        let frame = operation().frame()
        for queue in queues.withLock({ $0 }) { queue.offer(frame) }
    }

    private var isWatched: Bool { queueCount.load(ordering: .relaxed) > 0 }

    /// From now on every operation is put into a queue.
    func add(_ queue: ProfileQueue) {
        queues.withLock { queues in
            queues.append(queue)
            queueCount.store(queues.count, ordering: .relaxed)
        }
    }

    /// Nothing more is put there.
    func remove(_ queue: ProfileQueue) {
        queues.withLock { queues in
            queues.removeAll { $0 === queue }
            queueCount.store(queues.count, ordering: .relaxed)
        }
    }
}
