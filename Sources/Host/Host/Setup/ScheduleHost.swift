import Accounts
import Configuration
import EventDelivery
import EventLoop
import FunctionDispatch
import HostCore
import Logging
import RealtimeDatabase
import Schedules

/// The schedules of a host: their store, and the engine that begins runs. Belongs to the home loop.
final class ScheduleHost {
    let storage: ScheduleStorage
    let engine: ScheduleEngine

    /// - Parameters:
    ///   - directory: the existing folder for the store.
    ///   - isSuspended: whether another process still has the store open.
    ///   - didRaiseEvents: called, on any thread, with runs that wait for functions.
    init(
        _ configuration: Configuration, directory: String, isSuspended: Bool, loop: EventLoop, log: Logger,
        didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) throws(HostStartError) {
        do throws(LoopError) {
            storage = try ScheduleStorage(
                path: "\(directory)/schedules.sqlite", isSuspended: isSuspended, log: log, didRaiseEvents: didRaiseEvents)
        } catch {
            throw HostStartError("the store of schedules cannot be started: \(error)")
        }
        engine = ScheduleEngine(
            loop: loop, storage: storage, settings: configuration.schedules, project: configuration.project, isSuspended: isSuspended, log: log)
    }

    /// The delivery of all events: of databases, of users, and of schedules.
    func delivery(_ configuration: Configuration, database: RealtimeDatabase, accounts: AccountService) -> TriggerDelivery {
        TriggerDelivery(
            loop: engine.loop, settings: DeliverySettings(configuration.database.triggers), log: engine.log
        ) { [storage] name in
            name == accounts.name ? accounts : name == storage.name ? storage : database.outbox(of: name)
        }
    }

    /// Opens the store, which the process before has closed.
    func open() {
        storage.resume()
        engine.open()
    }

    /// Closes the store for another process.
    func suspend() async {
        await withCheckedContinuation { continuation in storage.suspend { continuation.resume() } }
    }
}
