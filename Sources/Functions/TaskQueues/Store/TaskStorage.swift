import EventDelivery
import EventLoop
import Logging
import RealtimeDatabase
import Store

/// The store of tasks, on a thread of its own.
package typealias TaskStorage = OutboxStorage<TaskStore>

extension OutboxStorage<TaskStore> {
    /// - Parameters:
    ///   - path: the file, in an existing folder.
    ///   - table: gets the numbers of each queue.
    ///   - isSuspended: whether the store stays closed until ``resume()``.
    ///   - clock: milliseconds since 1970. Called on the writer's thread.
    ///   - didRaiseEvents: called on any thread with tasks that are due.
    package convenience init(
        path: String, limits: TaskLimits, table: TaskQueueTable, isSuspended: Bool, clock: @escaping @Sendable () -> Int64, log: Logger,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) throws(LoopError) {
        let words = StoreWords(
            metadata: ["store": "tasks"], cannotOpen: "the store of tasks cannot be opened; no task runs",
            mustReopen: "the store of tasks must be opened again", writeFailed: "tasks cannot be stored", worksAgain: "tasks can be stored again")
        try self.init(name: Outbox.tasks, isSuspended: isSuspended) { loop, figures in
            let writer = OutboxWriter(loop: loop, figures: figures, log: log, words: words, didRaiseEvents: didRaiseEvents) {
                () throws(StoreError) in try TaskStore(path: path, limits: limits, clock: clock)
            }
            let alarm = DueTaskAlarm(writer, clock: clock)
            writer.didChange = { store in
                table.counts = store.queues
                alarm.set(store)
            }
            writer.willClose = { alarm.stop() }
            return writer
        }
    }
}

/// Makes tasks due when their time has come. Belongs to the writer's thread.
final class DueTaskAlarm {
    private unowned let writer: OutboxWriter<TaskStore>
    private let clock: () -> Int64
    private lazy var timer = Timer(loop: writer.loop) { [unowned self] in ring() }
    /// How often the clock is read at least, since it may be set. Also how often ended names are forgotten.
    private static let lookMilliseconds: Int64 = 30_000
    private static let retryMilliseconds: UInt64 = 1000

    init(_ writer: OutboxWriter<TaskStore>, clock: @escaping () -> Int64) {
        self.writer = writer
        self.clock = clock
    }

    /// Waits for the first time at which a task of the store is due.
    func set(_ store: TaskStore) {
        do throws(StoreError) {
            let wait = min((try store.firstDue() ?? .max / 2) - clock(), Self.lookMilliseconds)
            timer.start(afterMilliseconds: UInt64(max(0, wait)))
        } catch {
            timer.start(afterMilliseconds: Self.retryMilliseconds)
        }
    }

    func stop() { timer.stop() }

    private func ring() {
        timer.start(afterMilliseconds: Self.retryMilliseconds)
        writer.inTransaction({ _ in }) { store throws(StoreError) in try store.release() }
    }
}
