public import EventLoop
public import Logging
import Rules
import Store
import Synchronization

/// The databases of a project: a namespace for each name, opened on request, and closed when it is idle.
public final class RealtimeDatabase: Sendable {
    /// The namespace of requests without a name.
    public let defaultNamespace: String
    /// The limits of each namespace.
    public let limits: DatabaseLimits
    let storage: any StorageEngine
    /// The permitted names; nil for all valid ones.
    let allowed: Set<String>?
    private let log: Logger
    private let didRaiseEvents: @Sendable (EventAnnouncement) -> Void
    /// Counts long answers by namespace.
    private let longAnswers: Seats<String>
    /// Counts long answers of all namespaces, by client.
    private let longReads: Seats<NetworkAddress>
    /// Counts event streams of all loops, by namespace.
    package let openStreams: Seats<String>
    /// Distinguishes the sessions of this run from those of earlier ones.
    let run = DisconnectSession.secret()
    private let readPause = ReadPause()
    private let feedThreads: FeedThreads
    let state: Mutex<State>

    struct State {
        var namespaces: [String: OpenNamespace] = [:]
        /// Namespaces that are being closed. Opening the same name waits for that.
        var closing: [OpenNamespace] = []
        /// The number of times that a namespace was requested.
        var uses: UInt64 = 0
        /// The value of `uses` when idle namespaces were last closed.
        var usesBefore: UInt64 = 0
        /// The figures of closed namespaces.
        var past = PastFigures()
        var rulesFile: RulesFile?
        var triggers = TriggerTable([])
        /// Whether ``triggers`` may be incomplete.
        var awaitsTriggers: Bool
        /// Handlers to call when a namespace is created.
        var waits: [String: [UInt64: @Sendable (AbsenceNews) -> Void]] = [:]
        var lastWait: UInt64 = 0
        var isStopped = false
        var isSuspended = false
        /// The number of failures to open a namespace since the last success.
        var failedOpenings = 0
    }

    /// Creates databases. None is opened yet.
    ///
    /// - Parameters:
    ///   - allowed: the permitted namespaces in addition to the default; nil for all valid names, as in development.
    ///   - rulesFile: the rules file of functions.json. Without one, everything is denied until rules are uploaded.
    ///   - awaitsTriggers: whether writes wait until ``useTriggers(_:isComplete:)`` was called with all functions.
    ///   - didRaiseEvents: called, on any thread, with the events that wait in a namespace's outbox.
    public init(
        storage: any StorageEngine, defaultNamespace: String, allowed: Set<String>?, rulesFile: RulesFile?, limits: DatabaseLimits = DatabaseLimits(),
        awaitsTriggers: Bool = false, log: Logger, didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) {
        self.storage = storage
        self.defaultNamespace = defaultNamespace
        self.allowed = allowed
        self.limits = limits
        self.log = log
        longAnswers = Seats(countMax: limits.longReadsMax)
        longReads = Seats(countMax: limits.longReadsPerClientMax)
        openStreams = Seats(countMax: limits.streamsPerNamespaceMax)
        feedThreads = FeedThreads(viewBytesMax: limits.viewBytesMax)
        self.didRaiseEvents = didRaiseEvents
        state = Mutex(State(rulesFile: rulesFile, awaitsTriggers: awaitsTriggers))
    }

    /// The namespace with this name.
    ///
    /// Creates it if it does not exist. Requests of unknown clients, and requests that may change nothing, must use ``find(_:isKnown:)`` instead.
    ///
    /// - Throws: `DatabaseError`: `unknownNamespace` for a name that is invalid or not permitted, `unavailable` if too many namespaces are in
    ///   use or the host is stopping.
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

    /// Throws unless the name can be used now.
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

    /// Opens a namespace with a checked name, and creates it if it does not exist.
    func open(_ name: String, _ state: inout State) throws(DatabaseError) -> Namespace {
        let isFull = state.namespaces.count >= limits.namespacesMax
        // As many others may be closing at the same time, and some more for a small limit.
        let evicted = isFull && state.closing.count < limits.namespacesMax + 16 ? state.leastUsed() : nil
        guard !isFull || evicted != nil else {
            throw DatabaseError(.unavailable, "\(limits.namespacesMax) namespaces are in use, which is the limit; try again")
        }
        let before = state.closing.filter { $0.name == name } + (evicted.map { [$0] } ?? [])
        let settings = NamespaceSettings(
            name: name, limits: limits, rulesFile: state.rulesFile, log: log, didRaiseEvents: didRaiseEvents, longAnswers: longAnswers,
            longReads: longReads, feedThreads: feedThreads, run: run, readPause: readPause)
        do throws(LoopError) {
            let triggers = state.triggers(of: name)
            let namespace = try OpenNamespace(id: state.uses, storage: storage, settings: settings, triggers: triggers) { [self] in
                for namespace in before { close(namespace) }
            }
            if let evicted { state.retire(evicted) }
            state.namespaces[name] = namespace
            if state.failedOpenings > 0 { log.notice("namespaces can be opened again", metadata: ["failures": "\(state.failedOpenings)"]) }
            state.failedOpenings = 0
            for tell in (state.waits.removeValue(forKey: name) ?? [:]).values { tell(.made) }
            return namespace.lease()
        } catch {
            if state.failedOpenings == 0 { log.error("a namespace cannot be opened", metadata: ["namespace": "\(name)", "reason": "\(error)"]) }
            state.failedOpenings += 1
            makeRoom(&state)
            throw .exhausted
        }
    }

    /// Closes an unused namespace, so that the next request finds room.
    private func makeRoom(_ state: inout State) {
        guard state.closing.isEmpty, let unused = state.leastUsed() else { return }
        state.retire(unused)
        EventLoop.offload { [self] in close(unused) }
    }

    /// The names of all open or stored namespaces, sorted.
    public func names() throws(DatabaseError) -> [String] {
        let open = state.withLock { Set($0.namespaces.keys) }
        do throws(StoreError) { return open.union(try storage.namespaces()).sorted() } catch { throw DatabaseError(error) }
    }

    /// Opens all stored namespaces once, because their outboxes may contain events of an earlier run.
    ///
    /// - Returns: the namespaces for which there is no room, to be passed to ``open(_:atMost:)``.
    public func openStored() -> ArraySlice<String> {
        // If another process has the folder, opening each namespace reports that.
        try? storage.hold()
        return open(((try? storage.namespaces()) ?? [])[...], atMost: limits.namespacesMax)
    }

    /// Opens the first of these namespaces, as far as there is room and not too many are closing, so that other requests also find room.
    ///
    /// - Returns: the others.
    public func open(_ names: ArraySlice<String>, atMost count: Int) -> ArraySlice<String> {
        var names = names
        for name in names.prefix(count) {
            guard state.withLock({ 2 * $0.closing.count <= limits.namespacesMax }) else { return names }
            do throws(DatabaseError) { _ = try namespace(name) } catch {
                // Namespaces that cannot be opened at all are skipped.
                if error.kind == .unavailable { return names }
            }
            names = names.dropFirst()
        }
        return names
    }

    // MARK: Rules and triggers

    /// Puts the rules of a changed file in force in all namespaces.
    public func useRulesFile(_ file: RulesFile, on loop: EventLoop, completion: @escaping (DatabaseError?) -> Void) {
        let namespaces = state.withLock { state in
            state.rulesFile = file
            for wait in state.waits.values { for tell in wait.values { tell(.rulesChanged) } }
            return state.leases
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

    /// Makes writes raise events for these functions from now on.
    ///
    /// - Parameter isComplete: whether these are all functions. If so, waiting writes are performed.
    public func useTriggers(_ table: TriggerTable, isComplete: Bool = true) {
        let news = state.withLock { state in
            state.triggers = table
            if isComplete { state.awaitsTriggers = false }
            return state.leases.map { ($0, state.triggers(of: $0.name)) }
        }
        for (namespace, triggers) in news { namespace.useTriggers(triggers) }
    }

    /// Refuses the writes that wait for functions, and all later ones, because the host is stopping.
    public func refuseHeldWrites() {
        for namespace in state.withLock({ $0.leases }) { namespace.onWriter { $0.heldWrites?.end(.stopping) } }
    }

    /// Ends all namespaces: commits the current transactions, and refuses later requests. Returns when all files are closed.
    public func stop() {
        let namespaces = state.withLock { state in
            state.isStopped = true
            return Array(state.namespaces.values) + state.closing
        }
        for namespace in namespaces { namespace.stop() }
        feedThreads.end()
    }
}

extension RealtimeDatabase.State {
    /// The known triggers of a namespace.
    fileprivate func triggers(of namespace: String) -> NamespaceTriggers {
        NamespaceTriggers(matcher: triggers.matcher(forNamespace: namespace), isComplete: !awaitsTriggers)
    }
}
