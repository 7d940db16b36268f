import Configuration
import EventDelivery
import EventLoop
import RealtimeDatabase
import Store

/// A queue, for lists.
package struct QueueStatus: Sendable {
    package var name: String
    /// Nil while the function cannot run.
    package var perSecondMax: Double?
    package var concurrentMax: Int?
    package var counts: QueueCounts
    package var isPaused: Bool
}

/// The acts of administrators.
extension TaskEngine {
    /// The reason why an act on a queue failed.
    package enum Refusal: Error, Sendable, Equatable {
        /// There is no such queue.
        case unknown
        /// There is no such task.
        case noTask
        /// The host is starting or stopping.
        case unavailable
        /// The store fails.
        case store(String)
    }

    /// All queues, in the order of their names.
    package func listed() async throws(Refusal) -> [QueueStatus] {
        guard await isReady() else { throw .unavailable }
        let counts = try await store { store throws(StoreError) in store.queues }
        return names.map { name in
            let trigger = function(name)?.trigger
            return QueueStatus(
                name: name, perSecondMax: trigger?.perSecondMax, concurrentMax: trigger?.concurrentMax, counts: counts[name] ?? QueueCounts(),
                isPaused: paused.contains(name))
        }
    }

    /// Tasks of a queue.
    package func tasks(of queue: String, limit: Int) async throws(Refusal) -> [TaskStatus] {
        try await require(queue)
        return try await store { store throws(StoreError) in try store.list(queue, limit: limit) }
    }

    /// Pauses a queue, also beyond restarts, or resumes it.
    package func setPaused(_ isPaused: Bool, _ queue: String) async throws(Refusal) {
        try await require(queue)
        try await store { store throws(StoreError) in store.setPaused(isPaused, queue) }
        setPaused(isPaused, of: queue)
    }

    /// Deletes all tasks of a queue.
    ///
    /// - Returns: their number.
    package func purge(_ queue: String) async throws(Refusal) -> Int {
        try await require(queue)
        let purged = try await store { store throws(StoreError) in try store.purge(queue) }
        withdraw(nil, through: purged.through, of: queue)
        return purged.count
    }

    /// Deletes a task.
    package func delete(_ id: String, of queue: String) async throws(Refusal) {
        try await require(queue)
        guard try await store({ store throws(StoreError) in try store.delete(id, of: queue) }) else { throw .noTask }
        withdraw(id, through: .max, of: queue)
    }

    /// Makes a task due whose time has not come.
    package func run(_ id: String, of queue: String) async throws(Refusal) {
        try await require(queue)
        guard try await store({ store throws(StoreError) in try store.hasten(id, of: queue) }) else { throw .noTask }
    }

    private func require(_ queue: String) async throws(Refusal) {
        guard await isReady() else { throw .unavailable }
        guard names.contains(queue) else { throw .unknown }
    }

    private func store<Answer: Sendable>(
        _ body: @escaping @Sendable (TaskStore) throws(StoreError) -> Answer
    ) async throws(Refusal) -> Answer {
        let result: Result<Answer, StoreError> = await withCheckedContinuation { continuation in
            storage.perform(on: loop, body) { continuation.resume(returning: $0) }
        }
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw .store(error.message)
        }
    }
}
