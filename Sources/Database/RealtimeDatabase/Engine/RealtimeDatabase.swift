public import EventLoop
public import Logging
import Rules
import Synchronization

/// The databases of a project: a namespace for each name, opened when it is asked for, and closed when it is idle.
public final class RealtimeDatabase: Sendable {
    /// The namespace of requests that name none.
    public let defaultNamespace: String
    /// The bounds that hold for each namespace.
    public let limits: DatabaseLimits
    let storage: any StorageEngine
    /// The names that can be used; nil for every valid one.
    private let allowed: Set<String>?
    private let log: Logger
    private let didRaiseEvents: @Sendable (EventAnnouncement) -> Void
    private let longReads: LongReads
    let state: Mutex<State>

    struct State {
        var namespaces: [String: Namespace] = [:]
        /// Those that are being closed: who opens one of these names waits for that.
        var closing: [Namespace] = []
        /// Counts how often a namespace was asked for.
        var uses: UInt64 = 0
        /// What it was when idle ones were closed last.
        var usesBefore: UInt64 = 0
        /// What those that are closed have counted.
        var past = PastFigures()
        var rulesFile: RulesFile?
        var triggers = TriggerTable([])
        /// Whether there may be functions that ``triggers`` does not have.
        var awaitsTriggers: Bool
        /// Handlers to call when a namespace is made.
        var waits: [String: [UInt64: @Sendable (AbsenceNews) -> Void]] = [:]
        var lastWait: UInt64 = 0
        var isStopped = false
        var isSuspended = false
        /// How often a namespace could not be opened since one could.
        var failedOpenings = 0
    }

    /// Databases without any open yet.
    ///
    /// - Parameters:
    ///   - allowed: the namespaces that can be used besides the default; nil for every valid name, as in development.
    ///   - rulesFile: the rules that functions.json names; without any, everything is denied until rules are uploaded.
    ///   - awaitsTriggers: whether writes wait until ``useTriggers(_:isComplete:)`` has named every function that they may run.
    ///   - didRaiseEvents: told, on any thread, what waits in a namespace's outbox.
    public init(
        storage: any StorageEngine, defaultNamespace: String, allowed: Set<String>?, rulesFile: RulesFile?, limits: DatabaseLimits = DatabaseLimits(),
        awaitsTriggers: Bool = false, log: Logger, didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) {
        self.storage = storage
        self.defaultNamespace = defaultNamespace
        self.allowed = allowed
        self.limits = limits
        self.log = log
        longReads = LongReads(perClientMax: limits.longReadsPerClientMax)
        self.didRaiseEvents = didRaiseEvents
        state = Mutex(State(rulesFile: rulesFile, awaitsTriggers: awaitsTriggers))
    }

    /// The namespace of this name.
    ///
    /// One that is not there is made. Requests that may come from strangers, and those that may change nothing, go by way of
    /// ``find(_:isKnown:)``.
    ///
    /// - Throws: `DatabaseError`: `unknownNamespace` for a name that cannot be one, or is not allowed; `unavailable` when too many are in
    ///   use or the host stops.
    public func namespace(_ name: String) throws(DatabaseError) -> Namespace {
        let found: Result<Namespace, DatabaseError> = state.withLock { state in
            if let namespace = state.used(name) { return .success(namespace) }
            return Result { () throws(DatabaseError) in
                try check(name, state)
                return try open(name, &state)
            }
        }
        return try found.get()
    }

    /// Throws unless a name can be asked for now.
    func check(_ name: String, _ state: borrowing State) throws(DatabaseError) {
        guard NamespaceName.isValid(name) else {
            throw DatabaseError(
                .unknownNamespace, "\"\(name)\" cannot be a namespace: up to \(NamespaceName.lengthMax) of a-z, 0-9 and \"-\" are expected")
        }
        if let allowed, name != defaultNamespace, !allowed.contains(name) {
            throw DatabaseError(
                .unknownNamespace, "there is no namespace \"\(name)\"; database.namespaces in functions.json names those that there are")
        }
        guard !state.isStopped else { throw .stopping }
        guard !state.isSuspended else { throw .changingHands }
    }

    /// Opens a namespace whose name was checked, and makes it where it is not there.
    func open(_ name: String, _ state: inout State) throws(DatabaseError) -> Namespace {
        let isFull = state.namespaces.count >= limits.namespacesMax
        // As many again may be on their way out, and some more where there are few.
        let evicted = isFull && state.closing.count < limits.namespacesMax + 16 ? state.leastUsed() : nil
        guard !isFull || evicted != nil else {
            throw DatabaseError(.unavailable, "\(limits.namespacesMax) namespaces are in use, which is the limit; try again")
        }
        let before = state.closing.filter { $0.name == name } + (evicted.map { [$0] } ?? [])
        let settings = NamespaceSettings(
            name: name, limits: limits, rulesFile: state.rulesFile, log: log, didRaiseEvents: didRaiseEvents, longReads: longReads)
        do throws(LoopError) {
            let triggers = state.triggers(of: name)
            let namespace = try Namespace(id: state.uses, storage: storage, settings: settings, triggers: triggers) { [self] in
                for namespace in before { close(namespace) }
            }
            if let evicted { state.retire(evicted) }
            state.namespaces[name] = namespace
            if state.failedOpenings > 0 { log.notice("namespaces can be opened again", metadata: ["failures": "\(state.failedOpenings)"]) }
            state.failedOpenings = 0
            for tell in (state.waits.removeValue(forKey: name) ?? [:]).values { tell(.made) }
            return namespace
        } catch {
            if state.failedOpenings == 0 { log.error("a namespace cannot be opened", metadata: ["namespace": "\(name)", "reason": "\(error)"]) }
            state.failedOpenings += 1
            makeRoom(&state)
            throw .exhausted
        }
    }

    /// Closes a namespace that nobody uses, for the next one that is asked for.
    private func makeRoom(_ state: inout State) {
        guard state.closing.isEmpty, let unused = state.leastUsed() else { return }
        state.retire(unused)
        EventLoop.offload { [self] in close(unused) }
    }

    /// The names of those that are open or stored, in order.
    public func names() throws(DatabaseError) -> [String] {
        let open = state.withLock { Set($0.namespaces.keys) }
        do throws(StoreError) { return open.union(try storage.namespaces()).sorted() } catch { throw DatabaseError(error) }
    }

    /// Opens every stored namespace once, since its outbox may hold events of an earlier run.
    ///
    /// - Returns: those that there is no room for, to be given to ``open(_:atMost:)``.
    public func openStored() -> ArraySlice<String> {
        // Where another process has it, every namespace says so.
        try? storage.hold()
        return open(((try? storage.namespaces()) ?? [])[...], atMost: limits.namespacesMax)
    }

    /// Opens the first of these namespaces, as far as there is room for them and no haste, and returns the others: who asks for another
    /// one meanwhile is to find a place.
    public func open(_ names: ArraySlice<String>, atMost count: Int) -> ArraySlice<String> {
        var names = names
        for name in names.prefix(count) {
            guard state.withLock({ 2 * $0.closing.count <= limits.namespacesMax }) else { return names }
            do throws(DatabaseError) { _ = try namespace(name) } catch {
                // What cannot be opened at all is left out.
                if error.kind == .unavailable { return names }
            }
            names = names.dropFirst()
        }
        return names
    }

    // MARK: Rules and triggers

    /// Puts the rules of a changed file in force everywhere.
    public func useRulesFile(_ file: RulesFile, on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let namespaces = state.withLock { state in
            state.rulesFile = file
            for wait in state.waits.values { for tell in wait.values { tell(.rulesChanged) } }
            return Array(state.namespaces.values)
        }
        var left = namespaces.count
        var failure: DatabaseError?
        guard left > 0 else { return completion(nil) }
        for namespace in namespaces {
            namespace.setRules(file.rules, fileMark: file.mark, on: loop) { error in
                failure = failure ?? error
                left -= 1
                if left == 0 { completion(failure) }
            }
        }
    }

    /// From now on writes raise events for these functions.
    ///
    /// - Parameter isComplete: whether these are all. Writes that have waited for that are done then.
    public func useTriggers(_ table: TriggerTable, isComplete: Bool = true) {
        let news = state.withLock { state in
            state.triggers = table
            if isComplete { state.awaitsTriggers = false }
            return state.namespaces.map { ($0.value, state.triggers(of: $0.key)) }
        }
        for (namespace, triggers) in news { namespace.useTriggers(triggers) }
    }

    /// The functions that writes wait for will not be known any more: refuses these writes, since the host is to stop.
    public func refuseHeldWrites() {
        for namespace in state.withLock({ Array($0.namespaces.values) }) { namespace.onWriter { $0.heldWrites?.end(.stopping) } }
    }

    /// Ends every namespace: what has arrived is committed, what arrives later is refused. Returns when files are closed.
    public func stop() {
        let namespaces = state.withLock { state in
            state.isStopped = true
            return Array(state.namespaces.values) + state.closing
        }
        for namespace in namespaces { namespace.stop() }
    }
}

extension RealtimeDatabase.State {
    /// The triggers of a namespace, as far as they are known.
    fileprivate func triggers(of namespace: String) -> NamespaceTriggers {
        NamespaceTriggers(matcher: triggers.matcher(forNamespace: namespace), isComplete: !awaitsTriggers)
    }
}
