import AdminProtocol
import CLinux
import Deployment
import EventDelivery
import EventLoop
import FunctionDispatch
import Glibc
import HostCore
import Logging
import Logs

/// The host's side of an upgrade, which hands it over to a new process.
extension HearthHost {
    var services: ServiceBroker { dispatcher.services }

    /// The number of ready workers of each function.
    func readyWorkers() -> [String: Int] {
        Dictionary(functions.map { ($0.name, $0.pool.readyCount) }, uniquingKeysWith: max)
    }

    /// Starts an upgrade, unless one is running.
    func startUpgrade(_ request: UpgradeRequest) async throws(UpgradeFailure) -> UpgradeReport {
        switch life.state {
        case .serving: break
        case .upgrading, .restoring, .succeeded: throw UpgradeFailure(description: "an upgrade is already running")
        case .starting, .stopping, .ending, .ended: throw UpgradeFailure(description: "the host is starting or stopping; try again later")
        }
        enter(request.restore == nil ? .upgrading : .restoring)
        // Waits for a running deployment. The next one waits for the end of the upgrade.
        let result = await deployer.inTurn { await handOver(request) }
        return try result.get()
    }

    private func handOver(_ request: UpgradeRequest) async -> Result<UpgradeReport, UpgradeFailure> {
        guard life.isHandingOver else { return .failure(UpgradeFailure(description: "the host is starting or stopping; try again later")) }
        let upgrade = HostUpgrade(self, request)
        self.upgrade = upgrade
        do throws(UpgradeFailure) {
            let report = try await upgrade.run()
            deployer.stop()
            return .success(report)
        } catch {
            self.upgrade = nil
            if life.isHandingOver { enter(.serving) }
            return .failure(error)
        }
    }

    /// Replaces the data by an uploaded backup, by means of an upgrade to a new process.
    func restore(_ id: String) async throws(AdminError) -> RestoreReport {
        let (stage, members) = try await restores.finish(id)
        var request = UpgradeRequest()
        request.waitingRequests = 1
        request.restore = stage
        do throws(UpgradeFailure) {
            let report = try await startUpgrade(request)
            return RestoreReport(members: members, kept: upgrade?.kept ?? "", pid: report.pid)
        } catch {
            await home.offload { stage.discard() }
            throw AdminError(.failedPrecondition, error.description)
        }
    }

    /// Passes every connection to the process that serves now, and ends this one when nothing is left here.
    func release(to receiver: @escaping (ConnectionTransfer) -> Void) {
        if life.isHandingOver { enter(.succeeded) }
        watchdog = nil
        certificates = nil
        stopWatching()
        database.stopWatching()
        dispatcher.stopPrewarming()
        _ = linux_adopt_orphans()
        let bound = LoopBound(receiver, loop: home)
        home.task { [self] in
            _ = await home.concurrently(shards) { [home] shard in
                await shard.release { transfer in home.post { bound.value(transfer) } }
            }
            // Events that functions still work on are no requests, but they are not interrupted either.
            while life.state == .succeeded, !dispatcher.isQuiet || delivery.attempts.awaitsOthers || !(upgrade?.isFlushed ?? true) {
                await home.sleep(milliseconds: 50)
            }
            if life.state == .succeeded { await endServing() }
        }
    }

    /// Listens again, and continues with the held connections.
    func endHold() {
        home.task { [self] in
            for error in await home.concurrently(shards, { shard in await shard.endHold() }).compactMap({ $0 }) {
                log.critical("the host cannot listen any more", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Notes that the new process has ended while this one still has work.
    func successorDidEnd(_ ending: ChildProcess.Ending) { successorEnding = ending }

    /// Whether this process, when its work is done, has to stand in for the one that serves: its parent waits for its end, and no service
    /// manager knows the other process.
    var standsIn: Bool {
        upgrade?.phase == .serving && options.serviceManager == nil && options.takeover == nil && options.standIn != nil
    }

    /// Becomes the stand-in. Returns only if that fails.
    func becomeStandIn() {
        output.flush()
        stopTakingSignals()
        let status = successorEnding.map { $0.signal != 0 ? 128 + $0.signal : $0.status } ?? 0
        options.standIn?(upgrade?.pid ?? 0, Int32(status), life.isStopAsked)
    }

    /// Handles a signal that requests an upgrade. Passes it on if another process serves.
    func didAskForUpgrade() {
        if standsIn, let upgrade, successorEnding == nil {
            kill(upgrade.pid, SIGUSR2)
        } else {
            home.task { [self] in _ = try? await startUpgrade(UpgradeRequest()) }
        }
    }
}
