public import EventLoop
import Rules
import Synchronization

/// Requests to namespaces that may not exist. Reads and refused writes do not create them.
extension RealtimeDatabase {
    /// Finds the namespace with this name. If it exists, it is opened; otherwise it is not created.
    ///
    /// - Parameter isKnown: whether a nonexistent one counts as empty. The default namespace and those of functions.json always do.
    /// - Throws: `DatabaseError` like ``namespace(_:)``; `unknownNamespace` for a nonexistent one that does not count as empty.
    public func find(_ name: String, isKnown: Bool) throws(DatabaseError) -> FoundNamespace {
        let found: Result<FoundNamespace, DatabaseError> = state.withLock { state in
            if let namespace = state.used(name) { return .success(.namespace(namespace)) }
            return Result { () throws(DatabaseError) in
                try check(name, state)
                if storage.exists(namespace: name) { return .namespace(try open(name, &state)) }
                guard isKnown || isListed(name) else { throw DatabaseError(.unknownNamespace, "there is no namespace \"\(name)\"") }
                return .absent(AbsentNamespace(name: name, rules: state.rulesFile?.rules ?? .closed))
            }
        }
        return try found.get()
    }

    /// Whether the project has a namespace by its configuration, even before something is written to it.
    private func isListed(_ name: String) -> Bool { name == defaultNamespace || allowed?.contains(name) == true }

    /// Reads. See ``Namespace/read(_:on:completion:)`` and ``find(_:isKnown:)``.
    public func read(
        _ request: ReadRequest, from name: String, isKnown: Bool, on loop: EventLoop, completion: @escaping (ReadOutcome) -> Void
    ) throws(DatabaseError) {
        switch try find(name, isKnown: isKnown) {
        case .namespace(let namespace): namespace.read(request, on: loop, completion: completion)
        case .absent(let absent):
            let outcome = absent.read(request)
            let answer = LoopBound(completion, loop: loop)
            loop.post { answer.value(outcome) }
        }
    }

    /// Writes. See ``Namespace/write(_:on:completion:)`` and ``find(_:isKnown:)``. A namespace is created for a write that is allowed and leaves
    /// data.
    public func write(
        _ request: WriteRequest, to name: String, isKnown: Bool, on loop: EventLoop, completion: @escaping (WriteOutcome) -> Void
    ) throws(DatabaseError) {
        switch try find(name, isKnown: isKnown) {
        case .namespace(let namespace): namespace.write(request, on: loop, completion: completion)
        case .absent(let absent):
            guard let outcome = absent.write(request) else { return try namespace(name).write(request, on: loop, completion: completion) }
            let answer = LoopBound(completion, loop: loop)
            loop.post { answer.value(outcome) }
        }
    }

    // MARK: Waiting for a namespace

    /// Calls `news` on `loop` with changes of a nonexistent namespace, until it is created or the wait ends.
    package func awaitNamespace(_ name: String, on loop: EventLoop, news: @escaping (AbsenceNews) -> Void) -> NamespaceWait {
        let handler = LoopBound(news, loop: loop)
        let tell: @Sendable (AbsenceNews) -> Void = { news in loop.post { handler.value(news) } }
        let (id, isThere) = state.withLock { state in
            state.lastWait += 1
            let isThere = state.namespaces[name] != nil || storage.exists(namespace: name)
            if !isThere { state.waits[name, default: [:]][state.lastWait] = tell }
            return (state.lastWait, isThere)
        }
        if isThere { tell(.made) }
        return NamespaceWait(database: self, name: name, id: id)
    }

    fileprivate func endWait(_ name: String, _ id: UInt64) {
        state.withLock { state in
            state.waits[name]?[id] = nil
            if state.waits[name]?.isEmpty == true { state.waits[name] = nil }
        }
    }
}

/// News of a namespace that does not exist yet.
package enum AbsenceNews: Sendable {
    /// It was created.
    case made
    /// The rules with which it would be created have changed.
    case rulesChanged
}

/// A wait for the creation of a namespace.
package struct NamespaceWait: Sendable {
    fileprivate let database: RealtimeDatabase
    fileprivate let name: String
    fileprivate let id: UInt64

    /// Ends the wait. News that were already sent may still arrive.
    package func end() { database.endWait(name, id) }
}

extension RealtimeDatabase.State {
    /// A lease of the open namespace with this name, which counts as a use now.
    mutating func used(_ name: String) -> Namespace? {
        uses += 1
        guard let namespace = namespaces[name] else { return nil }
        namespace.lastUse.store(uses, ordering: .relaxed)
        return namespace.lease()
    }

    /// Leases of all open namespaces.
    var leases: [Namespace] { namespaces.values.map { $0.lease() } }
}
