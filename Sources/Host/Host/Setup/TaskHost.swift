import Configuration
import EventDelivery
import EventLoop
import HostCore
import Logging
import Logs
import RealtimeDatabase
import TaskQueues

/// The task queues of a host: their store, the engine that begins tasks, and the service that enqueues. Belongs to the home loop.
final class TaskHost {
    let storage: TaskStorage
    let engine: TaskEngine
    let service: TaskService

    /// - Parameters:
    ///   - data: the folder for the store.
    ///   - isSuspended: whether another process still has the store open.
    ///   - didRaiseEvents: called, on any thread, with tasks that are due.
    init(
        _ configuration: Configuration, _ data: DataDirectory, isSuspended: Bool, loop: EventLoop, log: Logger,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) throws(HostStartError) {
        let table = TaskQueueTable()
        let limits = TaskLimits(configuration.tasks)
        do throws(LoopError) {
            storage = try TaskStorage(
                path: "\(data.tasks)/tasks.sqlite", limits: limits, table: table, isSuspended: isSuspended,
                clock: { WallClock.now().unixMilliseconds }, log: log, didRaiseEvents: didRaiseEvents)
        } catch {
            throw HostStartError("the store of tasks cannot be started: \(error)")
        }
        engine = TaskEngine(
            loop: loop, storage: storage, table: table, project: configuration.project, isSuspended: isSuspended, log: log)
        service = TaskService(engine, limits: limits, project: configuration.project)
    }

    /// Opens the store, which the process before has closed.
    func open() {
        storage.resume()
        engine.open()
    }
}
