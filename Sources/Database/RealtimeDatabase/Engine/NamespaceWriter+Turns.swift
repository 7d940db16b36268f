import EventLoop
import Rules
import Store
import Tree

/// A write that waits until the hash of its node is known.
struct AwaitedHash {
    /// - Parameter error: the reason why the hash cannot be computed.
    var go: (_ error: DatabaseError?) -> Void
}

/// Writes that compare the hash of their node. Those of small nodes are performed at once. The hash of a large node is computed by a reader, while
/// other writes go on.
extension NamespaceWriter {
    /// The rows of a node that the writer itself reads for a hash without delaying others much. Hashes of more are cached.
    private static let quickRows = HashCache.rowsMin
    /// The times that a reader computes the hash for one write, if other writes change the node meanwhile.
    private static let attemptsMax = 3

    /// Calls `perform` when the hash is known or can be computed quickly, or `answer` if it cannot be computed.
    func compare(
        _ request: WriteRequest, of namespace: Namespace, attempt: Int = 1, perform: @escaping () -> Void, answer: @escaping (WriteOutcome) -> Void
    ) {
        if isQuick(request) { return perform() }
        guard attempt <= Self.attemptsMax else {
            // Others have changed the node since the client's request, so that it will most likely have another hash.
            if !request.wantsConflictingValue { return answer(.conflict(value: [], etag: "")) }
            return queue(request, perform: { withExtendedLifetime(namespace, perform) }, refuse: { answer(.refused($0)) })
        }
        awaitHash(request, of: namespace) { [unowned self] error in
            if let error { return answer(.refused(error)) }
            compare(request, of: namespace, attempt: attempt + 1, perform: perform, answer: answer)
        }
    }

    /// Whether the hash is known, or can be computed quickly, or is not needed because the rules do not allow the write.
    private func isQuick(_ request: WriteRequest) -> Bool {
        let key = request.operation.path.key
        // Without a store, the write is refused.
        guard hashes.etag(at: key, in: nil) == nil, let open = content else { return true }
        var rows = 0
        do throws(StoreError) {
            try open.tree.reader.scan(.tree, from: key.bytes, to: key.subtreeEnd) { _, _ in
                rows += 1
                return rows <= Self.quickRows ? .next : .stop
            }
        } catch {
            return true
        }
        guard rows > Self.quickRows else { return true }
        guard let isAllowed = try? verdict(of: request, open).isAllowed else { return true }
        return !isAllowed
    }

    /// Makes a reader compute the hash of the node of a write. Writes of the same node wait together.
    private func awaitHash(_ request: WriteRequest, of namespace: Namespace, go: @escaping (DatabaseError?) -> Void) {
        let key = request.operation.path.key
        if awaitedHashes[key] != nil {
            awaitedHashes[key]?.append(AwaitedHash(go: go))
            return
        }
        awaitedHashes[key] = [AwaitedHash(go: go)]
        var read = ReadRequest(request.operation.path, .priority, principal: .admin)
        read.wantsETag = true
        read.client = request.client
        let seconds = settings.limits.readSeconds
        if !request.principal.isAdmin { read.deadline = EventLoop.monotonicNanoseconds() + UInt64(seconds * 1e9) }
        namespace.read(read, on: loop) { [unowned self] outcome in
            let waiting = awaitedHashes.removeValue(forKey: key) ?? []
            var error: DatabaseError?
            if case .refused(let refusal) = outcome { error = refusal }
            for write in waiting { write.go(error) }
        }
    }

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
