import Bytes
import EventLoop
import Logging
import Rules
import Tree

/// Everything that changes a namespace: one connection to its store, on a thread of its own.
///
/// The writes that arrive for one turn of its loop are one transaction. Nothing is told to anybody before that is durable:
/// answers, changes for listeners and events wait in a ``Batch``.
final class NamespaceWriter {
    let loop: EventLoop
    let settings: NamespaceSettings
    private let storage: any StorageEngine
    /// Tells the reader which rules are in force.
    private let publishRules: @Sendable (RuleSet) -> Void

    /// The open store and what stands on it; nil before, and when it could not be opened.
    private(set) var open: OpenStore?
    private(set) var rules = RuleSet.closed
    private(set) var commitNumber: UInt64 = 0
    private(set) var failure = DatabaseError.stopping

    var triggers: TriggerMatcher?
    /// What a single write may set off.
    var triggerLimits = TriggerLimits()
    var batch = Batch()
    private(set) var listeners = ListenerTree()
    private var lastListener: UInt64 = 0
    private var isInTransaction = false
    private var rulesAreUncommitted = false
    /// Whether a snapshot is known to hold back the store's upkeep.
    private var isHeldBack = false
    private lazy var quietTimer = Timer(loop: loop) { [unowned self] in keepQuiet() }
    private lazy var housekeeping = Timer(loop: loop) { [unowned self] in keepHouse() }

    struct OpenStore {
        let store: any OrderedStore
        /// Made anew after a transaction is taken back: they remember something of the store.
        let tree: TreeWriter
        let outbox: Outbox

        init(_ store: any OrderedStore, namespace: String) throws(StoreError) {
            self.store = store
            tree = try TreeWriter(store)
            outbox = try Outbox(store, namespace: namespace)
        }
    }

    init(loop: EventLoop, storage: any StorageEngine, settings: NamespaceSettings, publishRules: @escaping @Sendable (RuleSet) -> Void) {
        self.loop = loop
        self.storage = storage
        self.settings = settings
        self.publishRules = publishRules
    }

    // MARK: Opening and closing

    /// Opens the store. When that fails, what arrives is refused.
    func start() {
        do throws(StoreError) {
            let opened = try OpenStore(try storage.openWriter(namespace: settings.name), namespace: settings.name)
            open = opened
            commitNumber = try opened.store.get(MetaKey.commit, in: .meta) { MetaKey.number($0) } ?? 0
            try loadRules(opened)
            triggerLimits = try readTriggerLimits(opened)
            housekeeping.start(afterMilliseconds: 1)
            if let pending = try opened.outbox.pending() { settings.didRaiseEvents(pending) }
        } catch {
            open = nil
            failure = DatabaseError(error)
            settings.log.error(
                "a namespace cannot be opened", metadata: ["namespace": "\(settings.name)", "reason": "\(error)"])
        }
    }

    /// Commits what has arrived and lets go of the store.
    func stop() {
        commit()
        housekeeping.close()
        quietTimer.close()
        open = nil
        failure = .stopping
    }

    // MARK: The transaction of a turn

    /// Does `body` as a part of this turn's transaction; `refuse` is called, with all others of the batch, when that fails.
    func inTransaction(_ refuse: (DatabaseError) -> Void, _ body: (OpenStore) throws(StoreError) -> Void) {
        guard let open else { return refuse(failure) }
        do throws(StoreError) {
            if !isInTransaction {
                try open.store.begin()
                isInTransaction = true
                loop.endOfTurn { [self] in commit() }
            }
            try body(open)
        } catch {
            let error = abandon(error)
            refuse(error)
        }
    }

    private func commit() {
        guard isInTransaction, let open else { return }
        do throws(StoreError) {
            if batch.hasChanges || open.outbox.hasChanges {
                let number = MetaKey.bytes(commitNumber + 1)
                try open.store.put(MetaKey.commit, number.span, in: .meta)
                try open.store.commit()
                commitNumber += 1
            } else {
                open.store.rollback()
            }
            isInTransaction = false
            rulesAreUncommitted = false
        } catch {
            _ = abandon(error)
            return
        }
        deliver(failure: nil)
        if let events = open.outbox.didCommit() { settings.didRaiseEvents(events) }
        checkpoint(.committed, open.store)
        housekeeping.start(afterMilliseconds: 1)
    }

    /// Takes back this turn's transaction, and tells everybody who is part of it.
    private func abandon(_ error: StoreError) -> DatabaseError {
        settings.log.error("a write failed", metadata: ["namespace": "\(settings.name)", "reason": "\(error)"])
        let refusal = DatabaseError(error)
        deliver(failure: refusal)
        isInTransaction = false
        guard let store = open?.store else { return refusal }
        store.rollback()
        do throws(StoreError) {
            let opened = try OpenStore(store, namespace: settings.name)
            open = opened
            if rulesAreUncommitted { try loadRules(opened) }
            rulesAreUncommitted = false
        } catch {
            open = nil
            failure = DatabaseError(error)
        }
        return refusal
    }

    private func deliver(failure: DatabaseError?) {
        let finished = batch
        batch = Batch()
        finished.deliver(failure: failure)
    }

    // MARK: Rules

    private func loadRules(_ open: OpenStore) throws(StoreError) {
        let stored = try open.store.get(MetaKey.rules, in: .meta) { $0.array() }
        let mark = try open.store.get(MetaKey.rulesFile, in: .meta) { $0.array() }
        if let file = settings.rulesFile, mark != file.mark {
            setRules(file.rules, fileMark: file.mark) { _ in }
        } else if let stored {
            do throws(RulesError) { use(try RuleSet(parsing: stored)) } catch {
                settings.log.error(
                    "the stored rules cannot be read, everything is denied", metadata: ["namespace": "\(settings.name)", "reason": "\(error)"])
                use(.closed)
            }
        } else {
            use(.closed)
        }
    }

    private func use(_ rules: RuleSet) {
        self.rules = rules
        publishRules(rules)
    }

    /// Puts rules in force, for good. `answer` is called on this loop.
    func setRules(_ rules: RuleSet, fileMark: [UInt8]?, answer: @escaping @Sendable (DatabaseError?) -> Void) {
        inTransaction(answer) { open throws(StoreError) in
            let source = rules.source
            try open.store.put(MetaKey.rules, source.span, in: .meta)
            if let fileMark { try open.store.put(MetaKey.rulesFile, fileMark.span, in: .meta) }
            try open.tree.declareIndexes(rules.indexDefinitions)
            batch.hasChanges = true
            rulesAreUncommitted = true
            use(rules)
            listeners.forEach { batch.tell($0, .rulesChanged(rules)) }
            batch.answer(on: loop, answer)
        }
    }

    // MARK: Listeners

    func listen(_ path: Path, loop: EventLoop, handler: LoopBound<(ListenerNews) -> Void>) -> UInt64 {
        lastListener += 1
        listeners.insert(ListenerTree.Listener(id: lastListener, loop: loop, handler: handler), at: path)
        return lastListener
    }

    func unlisten(_ id: UInt64, path: Path) { listeners.remove(id, at: path) }

    /// Tells who listens to a path at, above or below the changed ones.
    func announce(_ change: Change) {
        guard listeners.count > 0 else { return }
        switch change.kind {
        case .put: listeners.forEach(affectedBy: change.path) { batch.tell($0, .changed(change)) }
        case .patch(let members):
            var told: Set<UInt64> = []
            for member in members {
                listeners.forEach(affectedBy: change.path.appending(member.path)) { listener in
                    if told.insert(listener.id).inserted { batch.tell(listener, .changed(change)) }
                }
            }
        }
    }

    // MARK: Housekeeping

    /// A small step of what may wait: rows of deleted subtrees, new indexes, the checkpoint. Each step is short, so that a
    /// write that arrives meanwhile does not wait for long.
    private func keepHouse() {
        guard !isInTransaction else { return housekeeping.start(afterMilliseconds: 1) }
        var hasMore = false
        inTransaction({ _ in }) { open throws(StoreError) in
            hasMore = try open.tree.sweep(budget: 2000)
            if !hasMore { hasMore = try open.tree.buildIndexes(budget: 1000) }
            if hasMore { batch.hasChanges = true }
        }
        guard !hasMore else { return housekeeping.start(afterMilliseconds: 1) }
        quietTimer.start(afterMilliseconds: 200)
    }

    /// Nobody has written for a while.
    private func keepQuiet() {
        guard !isInTransaction, let store = open?.store else { return }
        checkpoint(.idle, store)
    }

    private func checkpoint(_ occasion: CheckpointOccasion, _ store: any OrderedStore) {
        do throws(StoreError) {
            let report = try store.checkpoint(occasion)
            guard report.isHeldBack != isHeldBack else { return }
            isHeldBack = report.isHeldBack
            guard isHeldBack else { return }
            settings.log.warning(
                "a long read keeps the log of changes from being emptied", metadata: ["namespace": "\(settings.name)", "bytes": "\(report.logBytes)"])
        } catch {
            settings.log.error("a checkpoint failed", metadata: ["namespace": "\(settings.name)", "reason": "\(error)"])
        }
    }
}
