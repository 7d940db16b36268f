import Logging
import WorkerProtocol

/// Workers whose event loop is blocked: they get no more calls, and are ended if they harm others.
extension WorkerPool {
    /// Checks the workers that have something to do.
    ///
    /// - Returns: whether there are any.
    func lookForLife(now: UInt64) -> Bool {
        // A plugin inside the host blocks this loop too, so it cannot be watched.
        guard settings.isIsolated else { return false }
        var isAnyBusy = false
        for worker in workers where (worker.state == .ready || worker.state == .draining) && !worker.isDebugged {
            guard worker.inFlight > 0 || worker.isBlocked else { continue }
            isAnyBusy = true
            let milliseconds = worker.lookForLife(now: now)
            guard milliseconds >= min(LoopWatch.serviceMilliseconds, limits.blockedLoopMilliseconds) else { continue }
            if !worker.isBlocked { takeOutOfService(worker) }
            if milliseconds >= limits.blockedLoopMilliseconds, worker.blockage == nil, holdsUpOthers(worker) { end(worker) }
        }
        return isAnyBusy
    }

    private func takeOutOfService(_ worker: Worker) {
        worker.isBlocked = true
        let moved = worker.takeUnread()
        // A function that computes in a pool with one call at a time delays no other call, so it is not worth a log line.
        let isTold = settings.concurrency > 1 || worker.current == nil
        let (hindrance, metadata, identity) = (worker.hindrance, metadata(of: worker), worker.identity)
        lanes.gather(on: loop) { lane, answer in
            answer(lane.moveUnread(of: identity))
        } completion: { [dispatcher, count = moved.count] others in
            guard isTold else { return }
            dispatcher.log.warning(
                "an instance gets no more calls: \(hindrance)",
                metadata: metadata.merging(["movedCalls": "\(others.reduce(count, +))"]) { $1 })
        }
        for invocation in moved { dispatchAgain(invocation) }
    }

    /// Whether a blocked worker must end: the answer of the running call is no longer awaited, or the function delays other calls.
    ///
    /// A function that computes for a long time may go on if it is alone in its worker and within its deadline.
    private func holdsUpOthers(_ worker: Worker) -> Bool {
        guard let current = worker.current, worker.isAwaited(current) else { return true }
        if worker.awaitedCount > 1 { return true }
        // With one call at a time, waiting calls wait for a free instance, and this one is working.
        return settings.concurrency > 1 && queuedCount > 0 && !hasRoomSomewhere
    }

    private func end(_ worker: Worker) {
        let seconds = Double(limits.blockedLoopMilliseconds) / 1000
        worker.blockage = Blockage(culprit: worker.current, function: worker.current.flatMap { worker.functionName(of: $0) }, seconds: seconds)
        worker.kill(reason: "no sign of life for workers.blockedLoopSeconds of \(seconds): \(worker.hindrance)")
    }

    /// Returns a worker to service whose event loop is not blocked any more.
    func workerIsBack(_ worker: Worker) {
        guard worker.isBlocked else { return }
        worker.isBlocked = false
        if settings.concurrency > 1 {
            dispatcher.log.notice("an instance gets calls again: its event loop turns", metadata: metadata(of: worker))
        }
        workerHasRoom(worker)
    }

    /// The function that blocks an instance, if all instances that could take calls are blocked.
    var blockingFunction: String? {
        let serving = workers.filter { $0.state == .ready }
        guard serving.allSatisfy(\.isBlocked), let current = serving.first?.current else { return nil }
        return serving.first?.functionName(of: current)
    }
}
