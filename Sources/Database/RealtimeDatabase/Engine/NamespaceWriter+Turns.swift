import EventLoop
import Store

/// Writes that may read many rows first. Clients take turns with them, and other writes do not wait for them.
extension NamespaceWriter {
    /// Calls `perform` when it is the client's turn, or `refuse`.
    func queue(_ request: WriteRequest, perform: @escaping () -> Void, refuse: @escaping (DatabaseError) -> Void) {
        if isClosed { return refuse(refusal) }
        guard conditional.add(QueuedWrite(request: request, perform: perform, refuse: refuse), of: request.client) else {
            return refuse(.tooManyWait)
        }
        workSoon()
    }

    private func workSoon() {
        guard !isWorking, conditional.count > 0 else { return }
        isWorking = true
        loop.post { [writer = LoopBound(self, loop: loop)] in writer.value.work() }
    }

    /// Performs some writes for a short time. Writes that arrive meanwhile are performed afterwards, and committed together with them.
    private func work() {
        isWorking = false
        let end = EventLoop.monotonicNanoseconds() + 2_000_000
        while let next = conditional.next() {
            guard next.request.cancellation?.isSet != true else {
                next.refuse(.cancelled)
                continue
            }
            next.perform()
            if EventLoop.monotonicNanoseconds() >= end { break }
        }
        // The remaining ones wait for the next turn, so that the performed ones are committed and answered.
        guard conditional.count > 0 else { return }
        isWorking = true
        loop.endOfTurn { [self] in
            isWorking = false
            workSoon()
        }
    }

    func refuseConditional(_ error: DatabaseError) {
        for write in conditional.takeAll() { write.refuse(error) }
    }

    /// The guard for reading a node for a write.
    func makeGuard(_ request: WriteRequest) -> ScanGuard {
        let seconds = settings.limits.readSeconds
        let deadline = request.principal.isAdmin ? 0 : EventLoop.monotonicNanoseconds() + UInt64(seconds * 1e9)
        return ScanGuard(request.cancellation, haste: haste, deadline: deadline)
    }
}
