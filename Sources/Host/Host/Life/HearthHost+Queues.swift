import EventDelivery
import Schedules
import TaskQueues

/// The engines that begin runs of schedules and tasks of queues, and their stores.
extension HearthHost {
    /// Begins no more runs and tasks.
    func stopEngines() {
        schedules.engine.stop()
        tasks.engine.stop()
    }

    /// Goes on after ``stopEngines()``.
    func resumeEngines() {
        schedules.engine.resume()
        tasks.engine.resume()
    }

    /// Closes the stores for another process.
    func suspendEngineStores() async {
        await schedules.storage.suspend()
        await tasks.storage.suspend()
    }

    /// Opens the stores again, because no other process has them.
    func resumeEngineStores() {
        schedules.storage.resume()
        tasks.storage.resume()
    }

    /// Announces what is not settled, for a delivery that starts again.
    func announcePendingOfEngines() {
        schedules.storage.announcePending()
        tasks.storage.announcePending()
    }

    /// Opens the stores, which the process before has closed.
    func openEngines() {
        schedules.open()
        tasks.open()
    }
}
