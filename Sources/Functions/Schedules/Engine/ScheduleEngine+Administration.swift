import EventDelivery
import Configuration
import EventLoop
import RealtimeDatabase
import Store

/// The acts of administrators.
extension ScheduleEngine {
    /// The reason why an act on a schedule failed.
    package enum Refusal: Error, Sendable, Equatable {
        /// There is no scheduled function of this name.
        case unknown
        /// The function cannot run now.
        case cannotRun
        /// The host is starting or stopping.
        case unavailable
        /// The store fails.
        case store(String)
    }

    /// The end of a run by hand.
    package enum RunOutcome: Sendable, Equatable {
        case succeeded
        case failed(String)
        /// Stored, and run later: at once, if nobody waits for it.
        case begun
    }

    /// All schedules, in the order of their names, once they are known.
    package func listed() async throws(Refusal) -> [ScheduleStatus] {
        guard await isReady() else { throw .unavailable }
        return list()
    }

    func list() -> [ScheduleStatus] {
        entries.values.sorted { $0.name < $1.name }.map { entry in
            var status = ScheduleStatus(
                name: entry.name, nextDue: entry.next, lastDue: entry.row.due, lastEnd: entry.row.ended, lastError: entry.row.error,
                isPaused: entry.row.isPaused, isRunning: entry.open != nil)
            (status.schedule, status.timeZone) = (entry.function?.declaration.trigger.schedule, entry.function?.declaration.trigger.timeZone)
            return status
        }
    }

    /// Pauses a schedule, also beyond restarts, or resumes it. Due times of the pause do not count.
    package func setPaused(_ isPaused: Bool, _ name: String) async throws(Refusal) {
        guard await isReady() else { throw .unavailable }
        guard let entry = entries[name] else { throw .unknown }
        guard entry.row.isPaused != isPaused else { return }
        let since = clock() / 1000
        try await store { store throws(StoreError) in
            if isPaused { try store.pause(name) } else { try store.resume(name, since: since) }
        }
        entry.row.isPaused = isPaused
        if isPaused { entry.next = nil } else { entry.row.since = since }
        plan([entry])
    }

    /// Runs a function at once, paused or not, with the retries of its schedule. Due times stay as they are.
    ///
    /// - Parameter waits: whether the end of the first attempt is waited for.
    /// - Returns: the id of the event, and the outcome.
    package func run(_ name: String, waits: Bool) async throws(Refusal) -> (event: String, outcome: RunOutcome) {
        guard await isReady() else { throw .unavailable }
        guard let entry = entries[name] else { throw .unknown }
        guard entry.function != nil else { throw .cannotRun }
        let (id, now) = ("by-hand-\(UInt64.random(in: .min ... .max))", clock())
        guard waits else {
            try await store { store throws(StoreError) in try store.begin(byHand: id, of: name, now: now) }
            return (id, .begun)
        }
        let result: Result<AttemptResult?, StoreError> = await withCheckedContinuation { continuation in
            callers[id] = { continuation.resume(returning: .success($0)) }
            let reference = LoopBound(self, loop: loop)
            storage.perform(on: loop, { store throws(StoreError) in try store.begin(byHand: id, of: name, now: now) }) { result in
                guard case .failure(let error) = result, reference.value.callers.removeValue(forKey: id) != nil else { return }
                continuation.resume(returning: .failure(error))
            }
        }
        switch result {
        case .failure(let error): throw .store(error.message)
        case .success(.succeeded): return (id, .succeeded)
        case .success(.failed(let error)), .success(.interrupted(let error)): return (id, .failed(error))
        case .success: return (id, .begun)
        }
    }

    private func store(_ body: @escaping @Sendable (ScheduleStore) throws(StoreError) -> Void) async throws(Refusal) {
        let result: Result<Void, StoreError> = await withCheckedContinuation { continuation in
            storage.perform(on: loop, body) { continuation.resume(returning: $0) }
        }
        if case .failure(let error) = result { throw .store(error.message) }
    }
}
