import EventLoop
import Logging
import RealtimeDatabase
import Store
import Synchronization

/// An open store of its own whose events are delivered to functions. Belongs to the writer's thread.
package protocol OutboxContent: StoreContent, SendableMetatype {
    /// The events that are not settled.
    var outbox: Outbox { get }
    /// Whether rows were changed since ``noteState()``.
    var hasChanges: Bool { get }
    /// Notes the state after a transaction.
    func noteState()
    /// Adds the last changes to a transaction that has some.
    func willCommit() throws(StoreError)
    /// Reads the state again, after a transaction was rolled back.
    func renew() throws(StoreError)
}

extension OutboxContent {
    package func willCommit() throws(StoreError) { try outbox.willCommit() }
}

/// A store of its own with an outbox, such as that of schedules, on its own thread. Can be used from every loop.
package final class OutboxStorage<Content: OutboxContent>: Sendable {
    /// The numbers of rows in the outbox, for metrics.
    package final class Figures: Sendable {
        private let stored = Mutex(OutboxCounts())

        /// The state after the last transaction.
        package internal(set) var counts: OutboxCounts {
            get { stored.withLock { $0 } }
            set { stored.withLock { $0 = newValue } }
        }
    }

    package let figures = Figures()
    /// The name of the outbox.
    package let name: String
    private let thread: LoopThread
    private let writer: LoopBound<OutboxWriter<Content>>

    /// - Parameters:
    ///   - name: that of the outbox.
    ///   - isSuspended: whether the store stays closed until ``resume()``.
    ///   - makeWriter: makes the writer for a loop; called once.
    package init(
        name: String, isSuspended: Bool, makeWriter: (EventLoop, Figures) -> OutboxWriter<Content>
    ) throws(LoopError) {
        let thread = try LoopThread()
        self.name = name
        self.thread = thread
        let writer = LoopBound(makeWriter(thread.loop, figures), loop: thread.loop)
        self.writer = writer
        thread.loop.post { if isSuspended { writer.value.suspend() } else { writer.value.start() } }
    }

    /// Runs `body` as a part of the next transaction. Calls `completion` on `loop` when that is durable, or with the error.
    package func perform<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Content) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        thread.loop.post { [writer] in writer.value.perform(body, on: loop, completion: completion) }
    }

    /// Announces all events that are not settled, for a delivery that starts.
    package func announcePending() {
        thread.loop.post { [writer] in writer.value.announcePending() }
    }

    /// Closes the store for another process, until ``resume()``.
    ///
    /// - Parameter completion: called on any thread.
    package func suspend(completion: @escaping @Sendable () -> Void) {
        thread.loop.post { [writer] in
            writer.value.suspend()
            completion()
        }
    }

    /// Closes the store for another process, until ``resume()``.
    package func suspend() async {
        await withCheckedContinuation { continuation in suspend { continuation.resume() } }
    }

    /// Opens the store again.
    package func resume() {
        thread.loop.post { [writer] in
            writer.value.resume()
            writer.value.start()
        }
    }

    /// Commits what has arrived and closes the store. Nothing is answered afterwards.
    package func stop() {
        thread.loop.post { [writer] in writer.value.stop() }
        thread.join()
    }
}

/// The events, for the delivery to functions.
extension OutboxStorage: OutboxAccess {
    package func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        perform(on: loop, { store throws(StoreError) in try body(store.outbox) }, completion: completion)
    }
}

/// The single writer of such a store, on its thread.
package final class OutboxWriter<Content: OutboxContent>: StoreWriter<Content> {
    private let open: () throws(StoreError) -> Content
    private let figures: OutboxStorage<Content>.Figures
    private let didRaiseEvents: @Sendable (EventAnnouncement) -> Void
    /// Called when the store was opened, and after each commit: for the owner's own state.
    package var didChange: (Content) -> Void = { _ in }
    /// Called before the store is closed.
    package var willClose: () -> Void = {}
    /// Whether events of earlier processes were announced, so that they are announced again when the store is opened again.
    private var hasAnnounced = false

    /// - Parameters:
    ///   - open: opens the store.
    ///   - didRaiseEvents: called on the writer's thread with events that wait for their functions.
    package init(
        loop: EventLoop, figures: OutboxStorage<Content>.Figures, log: Logger, words: StoreWords,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void, open: @escaping () throws(StoreError) -> Content
    ) {
        self.open = open
        self.figures = figures
        self.didRaiseEvents = didRaiseEvents
        super.init(loop: loop, log: log, words: words)
    }

    package override func openContent() throws(StoreError) -> Content { try open() }

    package override func didOpen(_ store: Content) throws(StoreError) {
        if hasAnnounced, let pending = try store.outbox.pending() { didRaiseEvents(pending) }
        figures.counts = store.outbox.counts
        didChange(store)
    }

    package override func willClose(_ store: Content) { willClose() }

    package override func willCommit(_ store: Content) throws(StoreError) -> Bool {
        guard store.hasChanges else { return false }
        try store.willCommit()
        return true
    }

    package override func didCommit(_ store: Content, nanoseconds: UInt64?) {
        store.noteState()
        if let announcement = store.outbox.didCommit() { didRaiseEvents(announcement) }
        figures.counts = store.outbox.counts
        didChange(store)
    }

    package override func didRollBack(_ store: Content) { store.noteState() }

    package override func renewed(_ store: Content) throws(StoreError) -> Content {
        try store.renew()
        return store
    }

    /// Runs `body` as a part of the current transaction, and answers when that is durable.
    func perform<Answer: Sendable>(
        _ body: (Content) throws(StoreError) -> Answer, on answerLoop: EventLoop,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        inTransaction({ error in answerLoop.post { completion(.failure(error)) } }) { store throws(StoreError) in
            let answer = try body(store)
            batch.answer(on: answerLoop) { failure in completion(failure.map { .failure($0) } ?? .success(answer)) }
        }
    }

    /// Announces all events that are not settled.
    func announcePending() {
        hasAnnounced = true
        inTransaction({ _ in }) { store throws(StoreError) in
            if let pending = try store.outbox.pending() { didRaiseEvents(pending) }
        }
    }
}
