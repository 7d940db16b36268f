import EventLoop
import Logging
import RealtimeDatabase
import Store

/// The single writer of the store of schedules, on a thread of its own.
final class ScheduleWriter: StoreWriter<ScheduleStore> {
    private let path: String
    private let figures: ScheduleStorage.Figures
    private let didRaiseEvents: @Sendable (EventAnnouncement) -> Void
    /// Whether runs of earlier processes were announced, so that they are announced again when the store is opened again.
    private var hasAnnounced = false

    init(
        loop: EventLoop, path: String, figures: ScheduleStorage.Figures, log: Logger,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) {
        self.path = path
        self.figures = figures
        self.didRaiseEvents = didRaiseEvents
        super.init(
            loop: loop, log: log,
            words: StoreWords(
                metadata: ["store": "schedules"], cannotOpen: "the store of schedules cannot be opened; no schedule runs",
                mustReopen: "the store of schedules must be opened again", writeFailed: "schedules cannot be stored",
                worksAgain: "schedules can be stored again"))
    }

    override func openContent() throws(StoreError) -> ScheduleStore { try ScheduleStore(path: path) }

    override func didOpen(_ store: ScheduleStore) throws(StoreError) {
        if hasAnnounced, let pending = try store.outbox.pending() { didRaiseEvents(pending) }
        figures.counts = store.outbox.counts
    }

    override func willCommit(_ store: ScheduleStore) throws(StoreError) -> Bool {
        guard store.hasChanges else { return false }
        try store.outbox.willCommit()
        return true
    }

    override func didCommit(_ store: ScheduleStore, nanoseconds: UInt64?) {
        store.noteState()
        if let announcement = store.outbox.didCommit() { didRaiseEvents(announcement) }
        figures.counts = store.outbox.counts
    }

    override func didRollBack(_ store: ScheduleStore) { store.noteState() }

    override func renewed(_ store: ScheduleStore) throws(StoreError) -> ScheduleStore {
        try store.renewOutbox()
        return store
    }

    /// Runs `body` as a part of the current transaction, and answers when that is durable.
    func perform<Answer: Sendable>(
        _ body: (ScheduleStore) throws(StoreError) -> Answer, on answerLoop: EventLoop,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        inTransaction({ error in answerLoop.post { completion(.failure(error)) } }) { store throws(StoreError) in
            let answer = try body(store)
            batch.answer(on: answerLoop) { failure in completion(failure.map { .failure($0) } ?? .success(answer)) }
        }
    }

    /// Announces all runs that are not settled.
    func announcePending() {
        hasAnnounced = true
        inTransaction({ _ in }) { store throws(StoreError) in
            if let pending = try store.outbox.pending() { didRaiseEvents(pending) }
        }
    }
}
