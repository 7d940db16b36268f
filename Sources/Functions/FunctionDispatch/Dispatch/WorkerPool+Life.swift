import FunctionWorker

/// The life of a pool: warming before a deployment, retirement after it, and the host's stop.
extension WorkerPool {
    /// The number of workers that take invocations.
    package var readyCount: Int { workers.count { $0.state == .ready } }

    /// Starts workers until `count` are ready.
    ///
    /// - Parameter completion: gets nil then, or the reason why one of them failed.
    package func warm(_ count: Int, completion: @escaping (String?) -> Void) {
        let wanted = min(max(count, settings.instancesMin), settings.instancesMax)
        warming = Warming(count: wanted, completion: completion)
        // The deployment may have fixed the cause of an earlier failure.
        refusal = nil
        while workers.count(where: { $0.state == .ready || $0.state == .starting }) < wanted, startWorker() {}
        if debugging != nil { return checkWarmth(failure: nil) }
        // A worker inside the host is ready, or has failed, at this point.
        checkWarmth(failure: workers.isEmpty && wanted > 0 ? refusal?.description ?? "no worker can be started now" : nil)
    }

    func checkWarmth(failure: String?) {
        guard let warming, failure != nil || debugging != nil || readyCount >= warming.count else { return }
        self.warming = nil
        warming.completion(failure)
    }

    /// Retires the pool, because other pools serve its functions now. Calls that still arrive are answered; idle workers end.
    func retire() {
        isRetired = true
        if queue.count == 0 { retryTimer = nil }
        if let debugging, debugging.state != .running { debugging.end("another version serves now") }
        for worker in workers where worker.state == .ready { endIfUnused(worker) }
        leaveIfEmpty()
    }

    /// Puts a retired pool back into service.
    func revive() { isRetired = false }

    /// Whether it is retired and has neither workers nor calls.
    var isGone: Bool { isRetired && workers.isEmpty && queue.count == 0 }

    func leaveIfEmpty() {
        if isGone { dispatcher.retiredPoolIsEmpty(self) }
    }

    /// Takes no more invocations. Workers end when they have answered theirs.
    func stop() {
        isStopping = true
        retryTimer = nil
        debugging?.end("the host stops")
        for worker in workers where worker.state != .ended {
            worker.enter(.draining)
            endIfUnused(worker)
        }
        if workers.isEmpty { failQueue(.shuttingDown) }
    }

    /// Replaces its workers. The former ones end when they have answered their invocations.
    func replaceWorkers() {
        guard settings.isIsolated else { return }
        for worker in workers where worker.state == .ready && !worker.isDebugged {
            worker.enter(.draining)
            endIfUnused(worker)
        }
        prepare()
    }

    /// Ends the workers at once. New ones start when they are needed.
    func killWorkers(reason: String) {
        for worker in workers where settings.isIsolated { worker.kill(reason: reason) }
    }

    /// Fails all waiting and running invocations.
    func giveUp() {
        failQueue(.shuttingDown)
        for invocation in workers.flatMap(\.home.openInvocations) { invocation.fail(.shuttingDown) }
        for lane in lanes { lane.post { $0.giveUp() } }
    }

    /// Kills the remaining workers at the end of the host's stop, after their invocations were failed: the host is the cause, not the workers.
    func killAll() {
        giveUp()
        for worker in workers { worker.kill(reason: "the host stops") }
    }
}
