public import EventLoop
import Synchronization

/// How namespaces that nobody uses give back their threads, files and memory.
///
/// A namespace is in use while somebody besides the database holds it, as everything does that depends on its being open. New holders
/// come from ``RealtimeDatabase/namespace(_:)`` and ``RealtimeDatabase/find(_:isKnown:)`` only, under the lock under which unused ones
/// are taken away; so nothing is asked of one that is being closed. What is known of it is in its file, and in what every namespace is
/// opened with: rules, triggers. Upkeep goes on and events are told of when it is opened again, as after a crash; neither keeps it open
/// under pressure.
extension RealtimeDatabase {
    /// Closes every namespace that has not been used since the last call, and has nothing left to do. While the disk takes nothing, all
    /// stay open: what is closed could not be opened again, and reads are to go on.
    ///
    /// - Parameter loop: from whose pool of threads the disk is asked and waited for.
    public func closeIdle(on loop: EventLoop) {
        Task {
            // What is offloaded throws nothing.
            try? await loop.offload { [self] in
                guard state.withLock({ !$0.namespaces.isEmpty }), storage.canReopen else { return }
                for namespace in state.withLock({ $0.retireIdle() }) { close(namespace) }
            }
        }
    }

    /// Closes namespaces that are not given out any more; `completion` is called on `loop`.
    func close(_ namespaces: [Namespace], on loop: EventLoop, completion: @escaping () -> Void) {
        let answer = LoopBound(completion, loop: loop)
        Task {
            try? await loop.offload { [self] in
                for namespace in namespaces { close(namespace) }
            }
            loop.post { answer.value() }
        }
    }

    /// Closes a namespace that is not given out any more. Returns when that is done, also where it was begun elsewhere.
    func close(_ namespace: Namespace) {
        namespace.stop()
        state.withLock { state in
            guard let index = state.closing.firstIndex(where: { $0 === namespace }) else { return }
            state.closing.remove(at: index)
            state.past.add(namespace.figures, of: namespace.name)
        }
    }

    /// Closed namespaces in whose outbox events wait, or may: ``announcePending()`` does not reach them.
    public var closedWithEvents: ArraySlice<String> {
        state.withLock { state in
            let names = Set(state.past.waiting.filter { $0.value.events > 0 }.keys).union(state.closing.map(\.name))
            return names.subtracting(state.namespaces.keys).sorted()[...]
        }
    }
}

extension RealtimeDatabase.State {
    /// The unused namespace that was asked for the longest time ago, rather one that has nothing left to do; nil where all are in use.
    mutating func leastUsed() -> Namespace? {
        // Names only: what is held here would be in use.
        let candidates = namespaces.values.map { (steps: $0.isQuiet ? 0 : 1, lastUse: $0.lastUse.load(ordering: .relaxed), name: $0.name) }
        for candidate in candidates.sorted(by: { ($0.steps, $0.lastUse) < ($1.steps, $1.lastUse) }) where isUnused(candidate.name) {
            return namespaces[candidate.name]
        }
        return nil
    }

    /// Takes away those that nobody has used since the last call.
    mutating func retireIdle() -> [Namespace] {
        guard !isStopped, !isSuspended else { return [] }
        var idle: [Namespace] = []
        for name in Array(namespaces.keys) {
            guard isUnused(name), let namespace = namespaces[name], namespace.isQuiet else {
                // Its time begins when its last use ends.
                namespaces[name]?.lastUse.store(uses, ordering: .relaxed)
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

    /// From now on this namespace is not given out, and is to be closed.
    mutating func retire(_ namespace: Namespace) {
        namespaces[namespace.name] = nil
        closing.append(namespace)
    }

    /// Whether nobody else holds the namespace of this name.
    private mutating func isUnused(_ name: String) -> Bool { isKnownUniquelyReferenced(&namespaces[name]) }
}
