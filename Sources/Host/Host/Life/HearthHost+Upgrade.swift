import Administration
import AdminProtocol
import CLinux
import Deployment
import EventLoop
import FunctionDispatch
import Glibc
import HearthJSON
import HostCore
import Logging
import Logs

/// How the host is handed over to a new process, as the host sees it.
extension HearthHost {
    var services: ServiceBroker { dispatcher.services }

    /// How many workers stand ready for each function.
    func readyWorkers() -> [String: Int] {
        Dictionary(functions.map { ($0.name, $0.pool.readyCount) }, uniquingKeysWith: max)
    }

    /// Upgrades, unless that is under way already.
    func startUpgrade(_ request: UpgradeRequest, completion: @escaping (Result<UpgradeReport, UpgradeFailure>) -> Void) {
        guard isServing, !isStopping else { return completion(.failure(UpgradeFailure(description: "the host starts or stops; try again later"))) }
        guard !isUpgradeAsked else { return completion(.failure(UpgradeFailure(description: "an upgrade is under way already"))) }
        isUpgradeAsked = true
        // A deployment that is under way ends first, and the next one waits for the host that is there then.
        deployer.perform { [self] done in
            let upgrade = HostUpgrade(self, request) { [self] result in
                switch result {
                case .success: deployer.stop()
                case .failure:
                    // Not within its own call.
                    home.post { [reference = LoopBound(self, loop: home)] in
                        reference.value.upgrade = nil
                        reference.value.isUpgradeAsked = false
                    }
                }
                completion(result)
                done()
            }
            self.upgrade = upgrade
            upgrade.start()
        }
    }

    /// Puts a backup that has come in place of the data, by way of a new process.
    func restore(_ id: String, completion: @escaping (Result<RestoreReport, AdminError>) -> Void) {
        restores.finish(id) { [self] result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success((let stage, let members)):
                var request = UpgradeRequest()
                request.waitingRequests = 1
                request.restore = stage
                startUpgrade(request) { result in
                    switch result {
                    case .success(let report):
                        completion(.success(RestoreReport(members: members, kept: report.kept, upgrade: report)))
                    case .failure(let failure): completion(.failure(AdminError(.failedPrecondition, failure.description)))
                    }
                }
            }
        }
    }

    /// The other process serves: gives it every connection, and ends when nothing is left here.
    func handOver(to receiver: @escaping (ConnectionTransfer) -> Void) {
        watchdog = nil
        certificates = nil
        stopWatching()
        database.stopWatching()
        dispatcher.stopPrewarming()
        _ = linux_adopt_orphans()
        var left = shards.count
        let bound = LoopBound(receiver, loop: home)
        let finished = LoopBound(
            { [self] in
                left -= 1
                if left == 0 { endWhenQuiet() }
            }, loop: home)
        for shard in shards {
            shard.release { [home] transfer in
                home.post { bound.value(transfer) }
            } completion: { [home] in
                home.post { finished.value() }
            }
        }
    }

    /// Events that functions still work on are no request that anybody waits for, but they are not cut off either.
    private func endWhenQuiet() {
        guard dispatcher.isQuiet, upgrade?.isFlushed ?? true else {
            drainTimer = Timer(loop: home) { [unowned self] in endWhenQuiet() }
            drainTimer?.start(afterMilliseconds: 50)
            return
        }
        endServing()
    }

    /// Another attempt to listen, and all connections go on.
    func endHold() {
        let log = log
        for shard in shards {
            shard.endHold { error in
                if let error { log.critical("the host cannot listen any more", metadata: ["reason": "\(error)"]) }
            }
        }
    }

    /// The process that has taken over is gone while this one still has work.
    func successorDidEnd(_ ending: ChildProcess.Ending) {
        successorEnding = ending
    }

    /// Whether this process, once everything is over here, has to stand in for the one that serves now: whoever has started it waits for
    /// its end, and nobody else does.
    var standsIn: Bool {
        upgrade?.phase == .serving && options.serviceManager == nil && options.takeover == nil && options.standIn != nil
    }

    /// Becomes what stands in. Returns only where that fails.
    func becomeStandIn() {
        output.flush()
        stopTakingSignals()
        let status = successorEnding.map { $0.signal != 0 ? 128 + $0.signal : $0.status } ?? 0
        options.standIn?(upgrade?.pid ?? 0, Int32(status), isStopping)
    }

    /// A signal asks for an upgrade: of whoever serves.
    func didAskForUpgrade() {
        if standsIn, let upgrade, successorEnding == nil {
            kill(upgrade.pid, SIGUSR2)
        } else {
            startUpgrade(UpgradeRequest()) { _ in }
        }
    }
}
