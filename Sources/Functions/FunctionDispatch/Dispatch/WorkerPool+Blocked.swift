import Logging
import WorkerProtocol

/// Workers whose loop does not turn: they get no more calls, and are ended where that is needed.
extension WorkerPool {
    /// Looks at the workers that have something to do.
    ///
    /// - Returns: whether there are any.
    func lookForLife(now: UInt64) -> Bool {
        // Plugins inside the host block this loop too, and cannot be watched.
        guard settings.isIsolated else { return false }
        var isAnyBusy = false
        for worker in workers where worker.state == .ready || worker.state == .draining {
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
        let moved = worker.takeOutOfService()
        // With one call at a time, a computing function holds up no other call.
        if settings.concurrency > 1 || worker.current == nil {
            dispatcher.log.warning(
                "an instance gets no more calls: \(worker.hindrance)",
                metadata: metadata(of: worker).merging(["movedCalls": "\(moved.count)"]) { $1 })
        }
        for invocation in moved { dispatchAgain(invocation) }
    }

    /// Whether a blocked worker must end: its function has nobody who waits for it, or stands in the way of other calls.
    ///
    /// A function that computes for long, alone in its worker and within its deadline, may go on.
    private func holdsUpOthers(_ worker: Worker) -> Bool {
        guard let current = worker.current, worker.invocation(current) != nil else { return true }
        if worker.openInvocations.count > 1 { return true }
        // With one call at a time, those who wait do so for an instance, and this one works.
        return settings.concurrency > 1 && queuedCount > 0 && !hasRoomSomewhere
    }

    private func end(_ worker: Worker) {
        let seconds = Double(limits.blockedLoopMilliseconds) / 1000
        worker.blockage = Worker.Blockage(culprit: worker.current, function: worker.current.flatMap { worker.functionName(of: $0) }, seconds: seconds)
        worker.kill(reason: "no sign of life for workers.blockedLoopSeconds of \(seconds): \(worker.hindrance)")
    }

    /// A blocked worker's loop turns again.
    func workerIsBack(_ worker: Worker) {
        guard worker.isBlocked else { return }
        worker.isBlocked = false
        if settings.concurrency > 1 {
            dispatcher.log.notice("an instance gets calls again: its event loop turns", metadata: metadata(of: worker))
        }
        workerHasRoom(worker)
    }

    /// The function that keeps an instance from serving, where every instance that takes calls is blocked.
    var blockingFunction: String? {
        let serving = workers.filter { $0.state == .ready }
        guard serving.allSatisfy(\.isBlocked), let current = serving.first?.current else { return nil }
        return serving.first?.functionName(of: current)
    }
}
