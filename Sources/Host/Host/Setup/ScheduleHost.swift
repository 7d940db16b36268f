import Accounts
import Configuration
import EventDelivery
import EventLoop
import FunctionDispatch
import HostCore
import Logging
import RealtimeDatabase
import Schedules
import TaskQueues

/// The schedules of a host: their store, and the engine that begins runs. Belongs to the home loop.
final class ScheduleHost {
    let storage: ScheduleStorage
    let engine: ScheduleEngine

    /// - Parameters:
    ///   - data: the folder for the store.
    ///   - isSuspended: whether another process still has the store open.
    ///   - didRaiseEvents: called, on any thread, with runs that wait for functions.
    init(
        _ configuration: Configuration, _ data: DataDirectory, isSuspended: Bool, loop: EventLoop, log: Logger,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) throws(HostStartError) {
        do throws(LoopError) {
            storage = try ScheduleStorage(
                path: "\(data.schedules)/schedules.sqlite", isSuspended: isSuspended, log: log, didRaiseEvents: didRaiseEvents)
        } catch {
            throw HostStartError("the store of schedules cannot be started: \(error)")
        }
        engine = ScheduleEngine(
            loop: loop, storage: storage, settings: configuration.schedules, project: configuration.project, isSuspended: isSuspended, log: log)
    }

    /// The delivery of all events: of databases, of users, of schedules, and of task queues.
    func delivery(
        _ configuration: Configuration, database: RealtimeDatabase, accounts: AccountService, tasks: TaskHost
    ) -> TriggerDelivery {
        let delivery = TriggerDelivery(
            loop: engine.loop, settings: DeliverySettings(configuration.database.triggers), log: engine.log
        ) { [storage, tasks = tasks.storage] name in
            switch name {
            case accounts.name: accounts
            case storage.name: storage
            case tasks.name: tasks
            default: database.outbox(of: name)
            }
        }
        tasks.engine.delivery = delivery
        return delivery
    }

    /// Opens the store, which the process before has closed.
    func open() {
        storage.resume()
        engine.open()
    }
}
