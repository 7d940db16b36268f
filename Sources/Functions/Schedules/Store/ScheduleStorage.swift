import EventLoop
import Logging
import RealtimeDatabase
import Store
import Synchronization

/// The store of schedules, on a thread of its own. Can be used from every loop.
package final class ScheduleStorage: Sendable {
    /// The numbers of rows in the outbox of schedules, for metrics.
    package final class Figures: Sendable {
        private let stored = Mutex(OutboxCounts())

        /// The state after the last transaction.
        package internal(set) var counts: OutboxCounts {
            get { stored.withLock { $0 } }
            set { stored.withLock { $0 = newValue } }
        }
    }

    package let figures = Figures()
    private let thread: LoopThread
    private let writer: LoopBound<ScheduleWriter>

    /// - Parameters:
    ///   - path: the file, in an existing folder.
    ///   - isSuspended: whether the store stays closed until ``resume()``.
    ///   - didRaiseEvents: called on any thread with runs that wait for their functions.
    package init(
        path: String, isSuspended: Bool, log: Logger, didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) throws(LoopError) {
        let thread = try LoopThread()
        self.thread = thread
        let writer = LoopBound(
            ScheduleWriter(loop: thread.loop, path: path, figures: figures, log: log, didRaiseEvents: didRaiseEvents), loop: thread.loop)
        self.writer = writer
        thread.loop.post { if isSuspended { writer.value.suspend() } else { writer.value.start() } }
    }

    /// Runs `body` as a part of the next transaction. Calls `completion` on `loop` when that is durable, or with the error.
    func perform<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (ScheduleStore) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        thread.loop.post { [writer] in writer.value.perform(body, on: loop, completion: completion) }
    }

    /// Announces all runs that are not settled, for a delivery that starts.
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

/// The runs, for the delivery to functions.
extension ScheduleStorage: OutboxAccess {
    package var name: String { Outbox.schedules }

    package func withOutbox<Answer: Sendable>(
        on loop: EventLoop, _ body: @escaping @Sendable (Outbox) throws(StoreError) -> Answer,
        completion: @escaping @Sendable (Result<Answer, StoreError>) -> Void
    ) {
        perform(on: loop, { store throws(StoreError) in try body(store.outbox) }, completion: completion)
    }
}
