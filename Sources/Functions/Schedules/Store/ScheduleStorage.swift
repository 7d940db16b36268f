import EventDelivery
import EventLoop
import Logging
import RealtimeDatabase
import Store

/// The store of schedules, on a thread of its own.
package typealias ScheduleStorage = OutboxStorage<ScheduleStore>

extension OutboxStorage<ScheduleStore> {
    /// - Parameters:
    ///   - path: the file, in an existing folder.
    ///   - isSuspended: whether the store stays closed until ``resume()``.
    ///   - didRaiseEvents: called on any thread with runs that wait for their functions.
    package convenience init(
        path: String, isSuspended: Bool, log: Logger, didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) throws(LoopError) {
        let words = StoreWords(
            metadata: ["store": "schedules"], cannotOpen: "the store of schedules cannot be opened; no schedule runs",
            mustReopen: "the store of schedules must be opened again", writeFailed: "schedules cannot be stored",
            worksAgain: "schedules can be stored again")
        try self.init(name: Outbox.schedules, isSuspended: isSuspended) { loop, figures in
            OutboxWriter(loop: loop, figures: figures, log: log, words: words, didRaiseEvents: didRaiseEvents) { () throws(StoreError) in
                try ScheduleStore(path: path)
            }
        }
    }
}
