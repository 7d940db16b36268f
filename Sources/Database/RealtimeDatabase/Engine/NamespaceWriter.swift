import HearthBytes
import EventLoop
import Logging
import Rules
import Store
import Tree

/// Changes a namespace: the only writing connection to its store, on a separate thread.
///
/// Transactions, opening and failures are handled by ``StoreWriter``. This class adds rules, events and listeners.
final class NamespaceWriter: StoreWriter<NamespaceContent> {
    let settings: NamespaceSettings
    private let storage: any StorageEngine
    let quiet: QuietMark
    private let newest: CommitNumber
    /// Sends the rules in force, or the reason why there are none, to the readers.
    private let publishRules: @Sendable (RulesNews) -> Void

    private(set) var rules = RuleSet.closed
    /// The number of the transaction that stored the last rules.
    private var rulesCommit: UInt64 = 0
    /// The number of the last commit.
    var commitNumber: UInt64 { newest.value }

    private(set) var triggers: TriggerMatcher?
    /// Writes that wait until the functions are known; nil when they are.
    private(set) var heldWrites: HeldWrites?
    /// The limits of the events of a single write.
    var triggerLimits = TriggerLimits()
    /// Whether this turn's transaction has changed anything.
    var hasChanges = false
    /// Operations to record in the profiler when they are durable.
    var operations: [Operation] = []
    var figures = WriterFigures()
    /// The changes of this turn's transaction, if there are listeners.
    private var changes = ChangeBatch()
    /// Informs the listeners; nil before the first one.
    private var feed: FeedThreads.Feed?
    private(set) var listenerCount = 0
    private var lastListener: UInt64 = 0
    let haste: Cancellation
    /// Writes with an etag to compare, for which a whole node may have to be read.
    var conditional = FairQueue<QueuedWrite>()
    var isWorking = false
    let hashes: HashCache
    /// Nodes whose transactions fail because of each other.
    var contests: [PathKey: Contest] = [:]
    lazy var contestTimer = Timer(loop: loop) { [unowned self] in checkContests() }
    /// Writes that wait for the hash of a node, which a reader computes.
    var awaitedHashes: [PathKey: [AwaitedHash]] = [:]

    /// A write that waits for its turn.
    struct QueuedWrite {
        var request: WriteRequest
        var perform: () -> Void
        var refuse: (DatabaseError) -> Void
    }

    /// The rules file that functions.json names, and the mark of the one that was stored last.
    private var rulesFile: RulesFile?
    private var storedMark: [UInt8]?
    private var rulesAreUncommitted = false
    private var uncommittedFile: RulesFile?

    /// Sessions of clients that have ended, but whose operations are to be performed later, with the lease that keeps the namespace open.
    var endedSessions: [DisconnectSession: Namespace?] = [:]
    /// The principals of sessions that have changed, and could not be stored yet.
    var unstoredPrincipals: [DisconnectSession: Principal] = [:]
    lazy var disconnectTimer = Timer(loop: loop) { [unowned self] in performEndedSessions() }

    lazy var housekeeping = Timer(loop: loop) { [unowned self] in keepHouse() }

    init(
        loop: EventLoop, storage: any StorageEngine, settings: NamespaceSettings, quiet: QuietMark, newest: CommitNumber,
        hashes: HashCache, haste: Cancellation, publishRules: @escaping @Sendable (RulesNews) -> Void
    ) {
        self.storage = storage
        self.settings = settings
        self.quiet = quiet
        self.newest = newest
        self.hashes = hashes
        self.haste = haste
        self.publishRules = publishRules
        rulesFile = settings.rulesFile
        super.init(
            loop: loop, log: settings.log,
            words: StoreWords(
                metadata: ["namespace": "\(settings.name)"], cannotOpen: "a namespace cannot be opened",
                mustReopen: "a namespace must be opened again", writeFailed: "a write failed", worksAgain: "writing works again"))
        logEmptying.bytesMax = settings.limits.logBytesMax
    }

    // MARK: Opening and closing

    override func openContent() throws(StoreError) -> NamespaceContent {
        try NamespaceContent(try storage.openWriter(namespace: settings.name), namespace: settings.name)
    }

    override func didOpen(_ open: NamespaceContent) throws(StoreError) {
        newest.finish(try CommitMark.read(open.store).number)
        // The last batch was not published if it was unknown whether its commit had succeeded.
        feed?.post { [commitNumber] in $0.reach(commitNumber) }
        try loadRules(open)
        triggerLimits = try readTriggerLimits(open)
        publishRules(.inForce(rulesInForce))
        storeRulesFile()
        keepHouseSoon()
        try findEndedSessions(open)
        if let pending = try open.outbox.pending() { settings.didRaiseEvents(pending) }
    }

    override func didLose(_ error: StoreError) {
        quiet.isSet = true
        publishRules(.storeIsLost(DatabaseError(error)))
    }

    /// Sends the rules, or the reason why there are none, to the readers. Tries to open the store again if it is time to.
    func publishRulesAgain() {
        guard content == nil else {
            // Rules of the current transaction are published when it is committed.
            if !rulesAreUncommitted { publishRules(.inForce(rulesInForce)) }
            return
        }
        if !startAgain() { publishRules(.unknown(refusal)) }
    }

    /// The error while the store is not open.
    var refusal: DatabaseError { DatabaseError(failure) }

    /// Commits the current transaction and closes the store until ``reopen()``.
    func close() {
        endContests()
        commit()
        heldWrites?.refuseAll(.changingHands)
        refuseConditional(.changingHands)
        housekeeping.stop()
        disconnectTimer.stop()
        suspend()
    }

    /// Opens the store again.
    func reopen() {
        resume()
        start()
    }

    /// Commits the current transaction and closes the store permanently.
    func end() {
        endContests()
        commit()
        heldWrites?.refuseAll(.stopping)
        refuseConditional(.stopping)
        heldWrites = nil
        figures = currentFigures
        housekeeping.close()
        disconnectTimer.close()
        contestTimer.close()
        endedSessions = [:]
        stop()
    }

    // MARK: The transaction of a turn

    /// Runs `body` as a part of this turn's transaction. If that fails, `refuse` and all answers of the batch get the error.
    func inTurn(_ refuse: (DatabaseError) -> Void, _ body: (NamespaceContent) throws(StoreError) -> Void) {
        if content == nil { publishRulesAgain() }
        inTransaction({ refuse(DatabaseError($0)) }, body)
    }

    /// Calls `answer` on `loop` when this turn's transaction is durable, or with the reason why it is not.
    func answer(on loop: EventLoop, _ answer: @escaping @Sendable (DatabaseError?) -> Void) {
        batch.answer(on: loop) { failure in answer(failure.map { DatabaseError($0) }) }
    }

    /// Calls `body` on this thread, after the current transaction of this turn.
    private func afterTurn(_ body: @escaping @Sendable () -> Void) {
        guard isInTransaction else { return body() }
        batch.answer(on: loop) { _ in body() }
    }

    override func willCommit(_ open: NamespaceContent) throws(StoreError) -> Bool {
        guard hasChanges || open.outbox.hasChanges else { return false }
        let number = commitNumber + 1
        let mark = CommitMark(number: number, rules: rulesAreUncommitted ? number : rulesCommit)
        try open.store.put(MetaKey.commit, mark.bytes.span, in: .meta)
        try open.outbox.willCommit()
        newest.begin()
        return true
    }

    override func didCommit(_ open: NamespaceContent, nanoseconds: UInt64?) {
        newest.finish(commitNumber + (nanoseconds == nil ? 0 : 1))
        figures.didCommit(nanoseconds: nanoseconds)
        if rulesAreUncommitted { didCommitRules() }
        for operation in operations { settings.profile.record(operation) }
        operations = []
        hasChanges = false
    }

    override func deliver(_ answers: inout CommitBatch, failure: StoreError?) {
        var published = ChangeBatch()
        swap(&published, &changes)
        published.commit = commitNumber
        guard listenerCount > 0, let feed else { return answers.deliver(failure: failure) }
        let others = Parcel(answers.split(keeping: loop))
        answers.deliver(failure: failure)
        feed.post { [published] in $0.publish(published, others, failure: failure) }
    }

    override func didDeliver(_ open: NamespaceContent, hasChanges: Bool) {
        if let events = open.outbox.didCommit() { settings.didRaiseEvents(events) }
        if hasChanges { keepHouseSoon() }
    }

    override func didRollBack(_ open: NamespaceContent) {
        figures.didFail()
        newest.finish(commitNumber)
        operations = []
        hasChanges = false
        changes = ChangeBatch()
    }

    override func renewed(_ old: NamespaceContent) throws(StoreError) -> NamespaceContent {
        let open = try NamespaceContent(old.store, namespace: settings.name)
        if rulesAreUncommitted {
            try loadRules(open)
            publishRules(.inForce(rulesInForce))
        }
        triggerLimits = try readTriggerLimits(open)
        return open
    }

    /// The figures, including those that are determined on request.
    var currentFigures: WriterFigures {
        var figures = figures
        figures.listeners = listenerCount
        guard let open = content else { return figures }
        figures.waitingEvents = open.outbox.counts.waiting
        figures.deadLetters = open.outbox.counts.deadLetters
        figures.storedBytes = open.store.sizeBytes
        return figures
    }

    // MARK: Rules

    /// Loads the rules to put in force: the stored ones, or those of the configured file if it is not the one that was stored last.
    private func loadRules(_ open: NamespaceContent) throws(StoreError) {
        rulesAreUncommitted = false
        uncommittedFile = nil
        rulesCommit = try CommitMark.read(open.store).rules
        storedMark = try open.store.get(MetaKey.rulesFile, in: .meta) { $0.array() }
        let stored = try open.store.get(MetaKey.rules, in: .meta) { $0.array() }
        if let rulesFile, rulesFile.mark != storedMark {
            rules = rulesFile.rules
        } else if let stored {
            // Rules that were accepted once stay valid, even if the configured limit is lower now.
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

    /// Whether the rules of the configured file are not stored yet. They are in force even while a full disk prevents storing them.
    var hasUnstoredRules: Bool { rulesFile.map { $0.mark != storedMark } ?? false }

    /// Stores the rules of the configured file, unless they were stored last.
    func storeRulesFile() {
        guard let rulesFile, rulesFile.mark != storedMark else { return }
        setRules(rulesFile.rules, fileMark: rulesFile.mark) { _ in }
    }

    /// Puts rules in force permanently. `answer` is called on this loop.
    func setRules(_ rules: RuleSet, fileMark: [UInt8]?, answer: @escaping @Sendable (DatabaseError?) -> Void) {
        inTurn(answer) { open throws(StoreError) in
            // A file that was already stored does not replace rules that were uploaded since.
            if let fileMark, fileMark == storedMark { return self.answer(on: loop, answer) }
            let source = rules.source
            try open.store.put(MetaKey.rules, source.span, in: .meta)
            // Rules that are uploaded later than a file stay in force until the file changes.
            let mark = fileMark ?? rulesFile?.mark
            if let mark { try open.store.put(MetaKey.rulesFile, mark.span, in: .meta) }
            try open.tree.declareIndexes(rules.indexDefinitions)
            hasChanges = true
            rulesAreUncommitted = true
            if let fileMark { uncommittedFile = RulesFile(rules: rules, mark: fileMark) }
            storedMark = mark
            self.rules = rules
            if listenerCount > 0 { changes.rules = rules }
            self.answer(on: loop, answer)
        }
    }

    private var rulesInForce: RulesInForce { RulesInForce(rules: rules, commit: rulesCommit) }

    private func didCommitRules() {
        rulesAreUncommitted = false
        rulesFile = uncommittedFile ?? rulesFile
        uncommittedFile = nil
        rulesCommit = commitNumber
        publishRules(.inForce(rulesInForce))
    }

    // MARK: Triggers

    /// Makes writes raise events for these functions from now on.
    func use(_ triggers: NamespaceTriggers) {
        self.triggers = triggers.matcher
        guard triggers.isComplete else { return heldWrites = heldWrites ?? HeldWrites(loop: loop, limits: settings.limits.heldWrites) }
        let held = heldWrites
        heldWrites = nil
        held?.performAll()
    }

    // MARK: Listeners

    /// Adds a listener. Calls `ready` on its loop when it hears of everything that a read which begins then does not see.
    func listen(
        _ place: ChangeFeed.Place, read: @escaping QueryView.Read, on loop: EventLoop, handler: LoopBound<(ListenerNews) -> Void>,
        ready: @escaping @Sendable (Result<(id: UInt64, feed: FeedThreads.Feed), DatabaseError>) -> Void
    ) {
        let feed: FeedThreads.Feed
        do throws(LoopError) { feed = if let known = self.feed { known } else { try settings.feedThreads.feed() } } catch {
            return loop.post { ready(.failure(.exhausted)) }
        }
        self.feed = feed
        lastListener += 1
        listenerCount += 1
        let listener = ChangeFeed.Listener(id: lastListener, loop: loop, handler: handler)
        // Earlier writes of this turn may not be in its batch, so the listener is added after it. The read sees them.
        let writer = LoopBound(self, loop: self.loop)
        afterTurn {
            let commit = writer.value.commitNumber
            feed.post {
                $0.add(listener, at: place, since: commit, read: read)
                loop.post { ready(.success((listener.id, feed))) }
            }
        }
    }

    func unlisten(_ id: UInt64, _ place: ChangeFeed.Place) {
        listenerCount -= 1
        feed?.post { $0.remove(id, at: place) }
    }

    /// Adds a change to the batch for listeners.
    func announce(_ change: TreeChange) { changes.changes.append(change) }
}
