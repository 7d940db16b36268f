import HearthBytes
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
    let quiet: QuietMark
    /// Tells the reader which rules are in force, or why there are none.
    private let publishRules: @Sendable (RulesNews) -> Void

    /// The open store and what stands on it; nil before, and when it could not be opened.
    private(set) var open: OpenStore?
    private(set) var rules = RuleSet.closed
    private(set) var commitNumber: UInt64 = 0
    private(set) var failure = DatabaseError.stopping

    private(set) var triggers: TriggerMatcher?
    /// Writes that wait until the functions are known; nil once they are.
    private(set) var heldWrites: HeldWrites?
    /// What a single write may set off.
    var triggerLimits = TriggerLimits()
    var batch = Batch()
    var figures = WriterFigures()
    private(set) var listeners = ListenerTree()
    private var lastListener: UInt64 = 0
    private(set) var isInTransaction = false
    var isStopped = false
    /// Whether another process may have the store now.
    var isSuspended = false
    let haste: Cancellation
    /// Writes with an etag to compare, for which all of a node may have to be read.
    var conditional = FairQueue<QueuedWrite>()
    var isWorking = false
    var hashes = HashCache()

    /// A write that waits for its turn.
    struct QueuedWrite {
        var request: WriteRequest
        var perform: () -> Void
        var refuse: (DatabaseError) -> Void
    }
    /// When it was last tried to open the store, in the loop's milliseconds.
    private var lastAttempt: UInt64 = 0

    /// The rules that functions.json names, and the mark of those that the store was given last.
    private var rulesFile: RulesFile?
    private var storedMark: [UInt8]?
    private var rulesAreUncommitted = false
    private var uncommittedFile: RulesFile?

    private var trouble: TroubleReport
    var upkeepTrouble: TroubleReport
    /// Whether a snapshot is known to hold back the store's upkeep.
    var isHeldBack = false
    /// Emptying of a write-ahead log that snapshots have made too long.
    var logEmptying = LogEmptying()
    lazy var logTimer = Timer(loop: loop) { [unowned self] in emptyLog() }
    lazy var quietTimer = Timer(loop: loop) { [unowned self] in keepQuiet() }
    lazy var housekeeping = Timer(loop: loop) { [unowned self] in keepHouse() }

    /// A store that cannot be opened is tried again after so long.
    private static let retryMilliseconds: UInt64 = 250

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

    init(
        loop: EventLoop, storage: any StorageEngine, settings: NamespaceSettings, quiet: QuietMark, haste: Cancellation,
        publishRules: @escaping @Sendable (RulesNews) -> Void
    ) {
        self.loop = loop
        self.storage = storage
        self.settings = settings
        self.quiet = quiet
        self.haste = haste
        self.publishRules = publishRules
        rulesFile = settings.rulesFile
        trouble = TroubleReport(settings)
        upkeepTrouble = TroubleReport(settings)
    }

    // MARK: Opening and closing

    /// Opens the store. When that fails, what arrives is refused until it can be opened.
    func start() {
        do throws(StoreError) {
            let opened = try OpenStore(try storage.openWriter(namespace: settings.name), namespace: settings.name)
            open = opened
            commitNumber = try opened.store.get(MetaKey.commit, in: .meta) { MetaKey.number($0) } ?? 0
            try loadRules(opened)
            triggerLimits = try readTriggerLimits(opened)
            publishRules(.inForce(rules))
            storeRulesFile()
            keepHouseSoon()
            if let pending = try opened.outbox.pending() { settings.didRaiseEvents(pending) }
        } catch {
            lose(error, "a namespace cannot be opened")
        }
    }

    /// Makes sure that the reader hears of the rules, or why there are none; opens the store if it is time to try it again.
    func startAgain() {
        guard open == nil else { return publishRules(.inForce(rules)) }
        guard !isStopped, !isSuspended, loop.nowMilliseconds >= lastAttempt + Self.retryMilliseconds else { return publishRules(.unknown(failure)) }
        start()
    }

    private func lose(_ error: StoreError, _ what: String) {
        open = nil
        quiet.isSet = true
        lastAttempt = loop.nowMilliseconds
        failure = DatabaseError(error)
        trouble.failed(what, error)
        publishRules(.storeIsLost(failure))
    }

    /// Commits what has arrived and lets go of the store until ``resume()``.
    func suspend() {
        commit()
        heldWrites?.refuseAll(.changingHands)
        refuseConditional(.changingHands)
        isSuspended = true
        housekeeping.stop()
        quietTimer.stop()
        open = nil
        failure = .changingHands
    }

    /// Commits what has arrived and lets go of the store.
    func stop() {
        commit()
        heldWrites?.refuseAll(.stopping)
        refuseConditional(.stopping)
        heldWrites = nil
        figures = currentFigures
        isStopped = true
        housekeeping.close()
        quietTimer.close()
        logTimer.close()
        logEmptying = LogEmptying()
        open = nil
        failure = .stopping
    }

    // MARK: The transaction of a turn

    /// Does `body` as a part of this turn's transaction; `refuse` is called, with all others of the batch, when that fails.
    func inTransaction(_ refuse: (DatabaseError) -> Void, _ body: (OpenStore) throws(StoreError) -> Void) {
        if open == nil { startAgain() }
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

    /// Calls `body` on `loop` when what was asked for before, in this turn, is done.
    func afterTurn(on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
        guard isInTransaction else { return loop.post(body) }
        batch.answer(on: loop) { _ in body() }
    }

    private func commit() {
        guard isInTransaction, let open else { return }
        let hasChanges = batch.hasChanges || open.outbox.hasChanges
        do throws(StoreError) {
            if hasChanges {
                let number = MetaKey.bytes(commitNumber + 1)
                try open.store.put(MetaKey.commit, number.span, in: .meta)
                try open.outbox.willCommit()
                let start = EventLoop.monotonicNanoseconds()
                try open.store.commit()
                commitNumber += 1
                figures.didCommit(nanoseconds: EventLoop.monotonicNanoseconds() - start)
            } else {
                open.store.rollback()
                figures.didCommit(nanoseconds: nil)
            }
            isInTransaction = false
        } catch {
            _ = abandon(error)
            return
        }
        if rulesAreUncommitted { didCommitRules() }
        deliver(failure: nil)
        if let events = open.outbox.didCommit() { settings.didRaiseEvents(events) }
        guard hasChanges else { return }
        trouble.succeeded("writing works again")
        checkpoint(.committed, open.store)
        keepHouseSoon()
    }

    /// Takes back this turn's transaction, and tells everybody who is part of it.
    private func abandon(_ error: StoreError) -> DatabaseError {
        trouble.failed("a write failed", error)
        let refusal = DatabaseError(error)
        isInTransaction = false
        figures.didFail()
        let store = open?.store
        store?.rollback()
        deliver(failure: refusal)
        guard let store else { return refusal }
        do throws(StoreError) {
            let opened = try OpenStore(store, namespace: settings.name)
            open = opened
            if rulesAreUncommitted { try loadRules(opened) }
            triggerLimits = try readTriggerLimits(opened)
        } catch {
            lose(error, "a namespace must be opened again")
        }
        return refusal
    }

    private func deliver(failure: DatabaseError?) {
        if failure == nil { for operation in batch.operations { settings.profile.record(operation) } }
        batch.operations = []
        batch.hasChanges = false
        batch.deliver(failure: failure)
    }

    /// The figures, with those that are looked up when somebody asks.
    var currentFigures: WriterFigures {
        var figures = figures
        figures.listeners = listeners.count
        guard let open else { return figures }
        figures.waitingEvents = open.outbox.counts.waiting
        figures.deadLetters = open.outbox.counts.deadLetters
        figures.storedBytes = open.store.sizeBytes
        return figures
    }

    // MARK: Rules

    /// The stored rules are in force, or those of the configured file where that is another than the store was given last.
    private func loadRules(_ open: OpenStore) throws(StoreError) {
        rulesAreUncommitted = false
        uncommittedFile = nil
        storedMark = try open.store.get(MetaKey.rulesFile, in: .meta) { $0.array() }
        let stored = try open.store.get(MetaKey.rules, in: .meta) { $0.array() }
        if let rulesFile, rulesFile.mark != storedMark {
            rules = rulesFile.rules
        } else if let stored {
            // What was taken once is taken again, also when the configured limit is lower now.
            var limits = settings.limits.rules
            limits.documentBytesMax = max(limits.documentBytesMax, stored.count)
            do throws(RulesError) { rules = try RuleSet(parsing: stored, limits: limits) } catch {
                settings.log.error(
                    "the stored rules cannot be read; everything is denied", metadata: ["namespace": "\(settings.name)", "reason": "\(error)"])
                rules = .closed
            }
        } else {
            rules = .closed
        }
    }

    /// Whether the store does not have the rules of the configured file yet: they are in force also while a full disk keeps it
    /// from taking them.
    var hasUnstoredRules: Bool { rulesFile.map { $0.mark != storedMark } ?? false }

    /// Gives the store the rules of the configured file, where it has others.
    func storeRulesFile() {
        guard let rulesFile, rulesFile.mark != storedMark else { return }
        setRules(rulesFile.rules, fileMark: rulesFile.mark) { _ in }
    }

    /// Puts rules in force, for good. `answer` is called on this loop.
    func setRules(_ rules: RuleSet, fileMark: [UInt8]?, answer: @escaping @Sendable (DatabaseError?) -> Void) {
        inTransaction(answer) { open throws(StoreError) in
            // A file that the store has been given already takes nothing back that was uploaded since.
            if let fileMark, fileMark == storedMark { return batch.answer(on: loop, answer) }
            let source = rules.source
            try open.store.put(MetaKey.rules, source.span, in: .meta)
            // What is put in force later than a file stays until the file changes.
            let mark = fileMark ?? rulesFile?.mark
            if let mark { try open.store.put(MetaKey.rulesFile, mark.span, in: .meta) }
            try open.tree.declareIndexes(rules.indexDefinitions)
            batch.hasChanges = true
            rulesAreUncommitted = true
            if let fileMark { uncommittedFile = RulesFile(rules: rules, mark: fileMark) }
            storedMark = mark
            self.rules = rules
            listeners.forEach { batch.tell($0, .rulesChanged(rules)) }
            batch.answer(on: loop, answer)
        }
    }

    private func didCommitRules() {
        rulesAreUncommitted = false
        rulesFile = uncommittedFile ?? rulesFile
        uncommittedFile = nil
        publishRules(.inForce(rules))
    }

    // MARK: Triggers

    /// From now on writes raise events for these functions.
    func use(_ triggers: NamespaceTriggers) {
        self.triggers = triggers.matcher
        guard triggers.isComplete else { return heldWrites = heldWrites ?? HeldWrites(loop: loop, limits: settings.limits.heldWrites) }
        let held = heldWrites
        heldWrites = nil
        held?.performAll()
    }

    // MARK: Listeners

    func listen(_ path: Path, loop: EventLoop, handler: LoopBound<(ListenerNews) -> Void>) -> UInt64 {
        lastListener += 1
        listeners.insert(ListenerTree.Listener(id: lastListener, loop: loop, handler: handler), at: path)
        return lastListener
    }

    func unlisten(_ id: UInt64, path: Path) { listeners.remove(id, at: path) }

    /// Tells who listens to a path at, above or below the changed ones.
    func announce(_ change: TreeChange) {
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
}
