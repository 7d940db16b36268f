import CLinux
import Deployment
import EventLoop
import FunctionDispatch
import Glibc
import HostCore
import Logging
import Logs
import Messaging
import RealtimeDatabase

/// How the host takes over from the one that has started it, as the host sees it.
extension HearthHost {
    /// The old host has closed its databases: opens them and serves.
    func takeDatabases() {
        let home = home
        let reference = LoopBound(self, loop: home)
        database.openStored()
        messaging.resume()
        database.database.whenOpen(on: home) { error in
            let host = reference.value
            if let error {
                host.log.critical("the databases cannot be opened", metadata: ["reason": "\(error)"])
                host.abandonTakeover()
            } else {
                host.messaging.whenOpen(on: host.home) { host.serveTakenSockets() }
            }
        }
    }

    private func serveTakenSockets() {
        let reference = LoopBound(self, loop: home)
        let home = home
        let left = LoopBound(Countdown(shards.count) { reference.value.takeover?.didTake() }, loop: home)
        for shard in shards {
            // The same as an end of a hold: nothing is held here yet.
            shard.endHold { error in
                home.post {
                    let host = reference.value
                    if let error {
                        host.log.critical("the host cannot listen", metadata: ["reason": "\(error)"])
                        return host.abandonTakeover()
                    }
                    left.value.hit()
                }
            }
        }
    }

    /// The old host has given up its place. What is new in its own files comes now, as a deployment like any other.
    func didTakeOver() {
        data.lock.claim()
        log.notice("took over from the previous host", metadata: ["process": "\(getppid())"])
        tellReady()
        deployLocal { [self] in
            startWatching()
            linux_release_code()
        }
    }

    /// The old host has ended what it had to do.
    func predecessorDidEnd() { deployer.isSharing = false }

    /// The old host goes on without this one.
    func abandonTakeover() {
        dispatcher.killWorkerProcesses()
        output.flush()
        _exit(1)
    }
}
