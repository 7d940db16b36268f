public import EventLoop
import Synchronization

/// Closing unused namespaces, which releases their threads, files and memory.
///
/// A namespace is in use while it has leases (``Namespace``), like everything that needs it open. Leases are created under the same lock under
/// which unused namespaces are selected for closing, so no request reaches one that is being closed. All of its state is in its file, and in
/// the values with which all namespaces are opened: rules and triggers. When it is opened again, upkeep continues and events are announced, as
/// after a crash. Neither keeps it open if there is a shortage.
extension RealtimeDatabase {
    /// Closes all namespaces that have not been used since the last call and have no work left. While the disk is full, all stay open, because
    /// closed ones could not be opened again, and reads must continue.
    ///
    /// - Parameter loop: the loop whose thread pool accesses the disk.
    public func closeIdle(on loop: EventLoop) {
        Task {
            await loop.offload { [self] in
                guard state.withLock({ !$0.namespaces.isEmpty }), storage.canReopen else { return }
                for namespace in state.withLock({ $0.retireIdle() }) { close(namespace) }
            }
        }
    }

    /// Closes namespaces that get no more leases. `completion` is called on `loop`.
    func close(_ namespaces: [OpenNamespace], on loop: EventLoop, completion: @escaping () -> Void) {
        let answer = LoopBound(completion, loop: loop)
        Task {
            await loop.offload { [self] in
                for namespace in namespaces { close(namespace) }
            }
            loop.post { answer.value() }
        }
    }

    /// Closes a namespace that gets no more leases. Returns when this is done, even if another caller has begun it.
    func close(_ namespace: OpenNamespace) {
        namespace.stop()
        state.withLock { state in
            guard let index = state.closing.firstIndex(where: { $0 === namespace }) else { return }
            state.closing.remove(at: index)
            state.past.add(namespace.figures, of: namespace.name)
        }
    }

    /// Closed namespaces whose outbox has, or may have, waiting events. ``announcePending()`` does not reach them.
    public var closedWithEvents: ArraySlice<String> {
        state.withLock { state in
            let names = Set(state.past.waiting.filter { $0.value.events > 0 }.keys).union(state.closing.map(\.name))
            return names.subtracting(state.namespaces.keys).sorted()[...]
        }
    }
}

extension RealtimeDatabase.State {
    /// The unused namespace whose last use is longest ago, preferably one without work left. Nil if all are in use.
    func leastUsed() -> OpenNamespace? {
        let unused = namespaces.values.lazy.filter { !$0.isLeased }
        return unused.map { (steps: $0.isQuiet ? 0 : 1, lastUse: $0.lastUse.load(ordering: .relaxed), namespace: $0) }
            .min { ($0.steps, $0.lastUse) < ($1.steps, $1.lastUse) }?.namespace
    }

    /// Selects the namespaces that have not been used since the last call.
    mutating func retireIdle() -> [OpenNamespace] {
        guard !isStopped, !isSuspended else { return [] }
        var idle: [OpenNamespace] = []
        for namespace in Array(namespaces.values) {
            guard !namespace.isLeased, namespace.isQuiet else {
                // Idle time counts from the end of the last lease.
                namespace.lastUse.store(uses, ordering: .relaxed)
                continue
            }
            guard namespace.lastUse.load(ordering: .relaxed) <= usesBefore else { continue }
            retire(namespace)
            idle.append(namespace)
        }
        uses += 1
        usesBefore = uses
        return idle
    }

    /// Stops leases of a namespace, and notes that it is to be closed.
    mutating func retire(_ namespace: OpenNamespace) {
        namespaces[namespace.name] = nil
        closing.append(namespace)
    }
}
