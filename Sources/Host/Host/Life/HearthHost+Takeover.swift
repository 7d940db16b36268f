import Accounts
import AppCheck
import CLinux
import Deployment
import EventDelivery
import EventLoop
import FunctionDispatch
import Glibc
import HostCore
import Logging
import Logs
import Messaging
import RealtimeDatabase

/// The host's side of a takeover from the host that has started it.
extension HearthHost {
    /// Opens the databases, which the old host has closed, and serves.
    ///
    /// - Returns: once connections are accepted. A failure ends this process.
    func takeDatabases() async {
        database.openStored()
        messaging.resume()
        accounts.resume()
        appCheck.resume()
        openEngines()
        let failure = await withCheckedContinuation { continuation in
            database.database.whenOpen(on: home) { continuation.resume(returning: $0) }
        }
        if let failure {
            log.critical("the databases cannot be opened", metadata: ["reason": "\(failure)"])
            return abandonTakeover()
        }
        await messagingIsOpen()
        // Listens and accepts, as at the end of a hold. Nothing is held here yet.
        let errors = await home.concurrently(shards) { shard in await shard.endHold() }.compactMap { $0 }
        if let error = errors.first {
            log.critical("the host cannot listen", metadata: ["reason": "\(error)"])
            abandonTakeover()
        }
    }

    /// Goes on as the host, after the old one has given up its place: deploys changes in its own files like any other deployment.
    func didTakeOver() async {
        data.lock.claim()
        log.notice("took over from the previous host", metadata: ["process": "\(getppid())"])
        if life.goesOn { tellReady() }
        guard await deployLocal() else { return }
        startWatching()
        linux_release_code()
    }

    /// Notes that the old host has ended.
    func predecessorDidEnd() {
        deployer.isSharing = false
        delivery.attempts.abandon()
    }

    /// Ends this process. The old host continues alone.
    func abandonTakeover() {
        dispatcher.killWorkerProcesses()
        output.flush()
        _exit(1)
    }
}
