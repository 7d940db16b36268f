import Accounts
import Administration
import AppCheck
import Configuration
import Deployment
import EventDelivery
import EventLoop
import FunctionDispatch
import Glibc
import HostCore
import Logging
import Messaging
import RealtimeDatabase
import Schedules
import TaskQueues

/// Stopping the host.
extension HearthHost {
    /// Stops the host: the first call waits for requests that have started, the second one ends the process at once.
    func stop() {
        guard !life.isStopAsked else {
            dispatcher.killWorkerProcesses()
            _exit(1)
        }
        life.askToStop()
        // This process has nothing left to stop. It passes the signal on, and ends.
        if life.state == .ending || life.state == .ended { return passStopOn() }
        enter(.stopping)
        home.task { [self] in
            await upgrade?.cancel("the host stops")
            passStopOn()
            await drain()
        }
    }

    /// Stops the process that serves in place of this one, if nothing else stops it.
    private func passStopOn() {
        if standsIn, let upgrade, successorEnding == nil { kill(upgrade.pid, SIGTERM) }
    }

    private func drain() async {
        stopWatching()
        deployer.stop()
        delivery.stop()
        stopEngines()
        blocking.stop()
        database.database.refuseHeldWrites()
        services.hostStops()
        log.notice("stopping: no new connections; requests that have started are answered")
        options.serviceManager?.notify("STOPPING=1", "STATUS=Stopping: requests that have started are answered")
        certificates = nil
        let milliseconds = UInt64(configuration.workers.drainSeconds * 1000)
        // Answers in place of functions that have not answered in time, before their connections are closed.
        drainTimer = Timer(loop: home) { [unowned self] in dispatcher.giveUp() }
        drainTimer?.start(afterMilliseconds: milliseconds)
        _ = await home.concurrently(shards) { shard in await shard.drain(withinMilliseconds: milliseconds + 2000) }
        await endServing()
    }

    /// Ends the workers, the databases and the loop. All requests have been answered.
    func endServing() async {
        enter(.ending)
        drainTimer = nil
        await withCheckedContinuation { continuation in dispatcher.stop { continuation.resume() } }
        await telemetry?.stop()
        metrics.stop()
        await withCheckedContinuation { continuation in delivery.finish { continuation.resume() } }
        await restores.end()
        database.stop()
        messaging.stop()
        accounts.stop()
        appCheck.stop()
        schedules.storage.stop()
        tasks.storage.stop()
        if standsIn { becomeStandIn() }
        enter(.ended)
        stopTakingSignals()
        watchdog = nil
        home.stop()
    }
}
