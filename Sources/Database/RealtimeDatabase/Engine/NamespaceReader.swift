import HearthBytes
import EventLoop
import Logging
import Rules
import Tree

/// Everything of one namespace that reads it: connections that see the newest committed state, on a thread of their own.
///
/// The reads of one turn of its loop share a snapshot, which ends with the turn. An answer that is longer than a piece takes
/// the snapshot with it, and the next turn has another connection.
final class NamespaceReader {
    let thread: NamespaceThread
    private let storage: any StorageEngine
    let settings: NamespaceSettings
    var current: Snapshot?
    private var spare: [any SnapshotStore] = []
    /// Counts how often all connections had to be given back.
    private var generation = 0
    /// What it knew of the tree's shape need not be read again where nothing has changed.
    private var lastReader: TreeReader?
    private var answers = Batch()
    var figures = ReaderFigures()
    var longReads: LongReads { settings.longReads }
    var scratch = ByteBuffer()
    /// The rules in force. Reads that arrive before the writer has said which they are wait here.
    var rules: RuleSet?
    private var waiting: [Waiting] = []
    /// Has the writer say which rules are in force, or why there are none.
    var askForRules: () -> Void = {}
    /// Answers that are not read to their end.
    private var streams: [ObjectIdentifier: ValueStream.Source] = [:]
    private lazy var streamTimer = Timer(loop: thread.loop) { [unowned self] in cutOverdue() }
    /// Whether the log of changes is being emptied, for which no answer may hold a snapshot.
    private var isLogBeingEmptied = false
    /// When it is told again that answers are refused, in the loop's milliseconds.
    private var refusalIsToldAgain: UInt64 = 0
    private var trouble: TroubleReport
    private var endsTurn = false
    private var isStopped = false
    private let haste: Cancellation
    /// Reads that may take long.
    private var queue = FairQueue<QueuedRead>()
    private var isWorking = false
    var hashes = HashCache()

    /// A read that waits for its turn.
    private struct QueuedRead {
        var request: ReadRequest
        var stopwatch: OperationTimer?
        var namespace: Namespace
        var loop: EventLoop
        var answer: LoopBound<(ReadOutcome) -> Void>

        func refuse(_ error: DatabaseError) {
            loop.post { [answer] in answer.value(.refused(error)) }
        }
    }

    /// A request that cannot be judged yet.
    private struct Waiting {
        var go: (RuleSet) -> Void
        var refuse: (DatabaseError) -> Void
    }

    /// How much of an answer is made at a time.
    static let pieceBytes = 256 * 1024
    /// How many connections are kept for the next long answers.
    private static let sparesMax = 4

    /// One state of the tree.
    struct Snapshot {
        let store: any SnapshotStore
        var reader: TreeReader
        let commit: UInt64
        /// What ``NamespaceReader/generation`` was when it was taken.
        let generation: Int
    }

    init(thread: NamespaceThread, storage: any StorageEngine, settings: NamespaceSettings, haste: Cancellation) {
        self.thread = thread
        self.haste = haste
        self.storage = storage
        self.settings = settings
        trouble = TroubleReport(settings)
    }

    /// These rules are in force from now on; or the namespace cannot be opened, and whoever waits for that hears why.
    func use(_ news: RulesNews) {
        let requests = waiting
        waiting = []
        switch news {
        case .inForce(let rules):
            if !isStopped { self.rules = rules }
            for request in requests { request.go(rules) }
        case .storeIsLost(let error), .unknown(let error):
            if case .storeIsLost = news { closeConnections() }
            for request in requests { request.refuse(error) }
        }
    }

    /// SQLite's connections to a file share its index of the log. One that was opened while the disk was read-only would keep the
    /// writer from writing for as long as it is there.
    private func closeConnections() {
        generation += 1
        spare = []
        lastReader = nil
    }

    /// Has a request wait until it is known which rules are in force.
    func wait(_ go: @escaping (RuleSet) -> Void, refuse: @escaping (DatabaseError) -> Void) {
        guard !isStopped else { return refuse(.stopping) }
        waiting.append(Waiting(go: go, refuse: refuse))
        if waiting.count == 1 { askForRules() }
    }

    /// Reads; `answer` is called on `loop`. Holds `namespace` until the answer has come to its end.
    func read(
        _ request: ReadRequest, _ stopwatch: OperationTimer?, of namespace: Namespace, on loop: EventLoop, answer: LoopBound<(ReadOutcome) -> Void>
    ) {
        guard let rules else {
            return wait { [self] in
                read(request, $0, stopwatch, of: namespace, on: loop, answer: answer)
            } refuse: { error in
                loop.post { answer.value(.refused(error)) }
            }
        }
        read(request, rules, stopwatch, of: namespace, on: loop, answer: answer)
    }

    /// The same, when it is the client's turn.
    func readInTurn(
        _ request: ReadRequest, _ stopwatch: OperationTimer?, of namespace: Namespace, on loop: EventLoop, answer: LoopBound<(ReadOutcome) -> Void>
    ) {
        let read = QueuedRead(request: request, stopwatch: stopwatch, namespace: namespace, loop: loop, answer: answer)
        if isStopped { return read.refuse(.stopping) }
        guard queue.add(read, of: request.client) else { return read.refuse(.tooManyWait) }
        workSoon()
    }

    private func workSoon() {
        guard !isWorking, queue.count > 0 else { return }
        isWorking = true
        thread.loop.post { [reader = LoopBound(self, loop: thread.loop)] in reader.value.work() }
    }

    /// Reads for a moment; others that have come meanwhile have their turns then, too.
    private func work() {
        isWorking = false
        let end = EventLoop.monotonicNanoseconds() + Self.turnNanoseconds
        while let next = queue.next() {
            if next.request.cancellation?.isSet == true {
                next.refuse(.cancelled)
                continue
            }
            read(next.request, next.stopwatch, of: next.namespace, on: next.loop, answer: next.answer)
            if EventLoop.monotonicNanoseconds() >= end { break }
        }
        workSoon()
    }

    private static let turnNanoseconds: UInt64 = 2_000_000

    private func refuseQueued(_ error: DatabaseError) {
        for read in queue.takeAll() { read.refuse(error) }
    }

    private func read(
        _ request: ReadRequest, _ rules: RuleSet, _ stopwatch: OperationTimer?, of namespace: Namespace, on loop: EventLoop,
        answer: LoopBound<(ReadOutcome) -> Void>
    ) {
        var stopwatch = stopwatch
        stopwatch?.begin()
        let outcome: ReadOutcome
        var scanGuard: ScanGuard?
        do throws(ReadError) {
            var snapshot = try snapshot()
            if request.mayTakeLong {
                scanGuard = makeGuard(request)
                snapshot.reader.scanGuard = scanGuard
            }
            outcome = try perform(request, rules, snapshot)
            scanGuard?.isOver = true
        } catch {
            outcome = .refused(scanGuard?.failure ?? refusal(error))
        }
        figures.add(request.kind, outcome)
        if case .stream(let rest) = outcome { rest.hold(namespace) }
        if let stopwatch { profile(request, rules, outcome, stopwatch) }
        answers.answer(on: loop) { _ in answer.value(outcome) }
        endTurnLater()
    }

    private func makeGuard(_ request: ReadRequest) -> ScanGuard {
        var deadline = request.deadline
        if !request.principal.isAdmin {
            let latest = EventLoop.monotonicNanoseconds() + UInt64(settings.limits.readSeconds * 1e9)
            deadline = deadline == 0 ? latest : min(deadline, latest)
        }
        return ScanGuard(request.cancellation, haste: haste, deadline: deadline)
    }

    private func profile(_ request: ReadRequest, _ rules: RuleSet, _ outcome: ReadOutcome, _ stopwatch: OperationTimer) {
        guard let name = request.profiledAs else { return }
        let isUnindexed = request.query.map { !rules.hasIndex(at: request.path, order: $0.order) } ?? false
        let operation = Operation(name, request, outcome, isUnindexed: isUnindexed, stopwatch)
        if case .stream(let rest) = outcome { rest.profile(operation) } else { settings.profile.record(operation) }
    }

    /// Tells the profiler of a read whose answer has come to its end.
    func didEnd(_ operation: Operation) { settings.profile.record(operation) }

    /// Gives back every connection that no long answer needs, until the rules are known again.
    func suspend() {
        refuseQueued(.changingHands)
        endTurn()
        // Requests ask for the rules from here on, and hear what keeps the store closed.
        rules = nil
        use(.storeIsLost(.changingHands))
    }

    /// Gives back every connection.
    func stop() {
        isStopped = true
        askForRules = {}
        refuseQueued(.stopping)
        endTurn()
        for source in streams.values { source.cut(.stopping) }
        streams = [:]
        streamTimer.close()
        rules = nil
        use(.storeIsLost(.stopping))
    }

    func refusal(_ error: ReadError) -> DatabaseError {
        switch error {
        case .tooLarge: return .readTooLarge
        case .store(let error):
            trouble.failed("a read failed", error)
            return DatabaseError(error)
        }
    }

    // MARK: Snapshots

    func snapshot() throws(ReadError) -> Snapshot {
        if let current { return current }
        do throws(StoreError) {
            let store = try connection()
            try store.beginSnapshot()
            let reader = try TreeReader(snapshot: store, previous: lastReader)
            lastReader = reader
            let snapshot = Snapshot(
                store: store, reader: reader,
                commit: try store.get(MetaKey.commit, in: .meta) { MetaKey.number($0) } ?? 0, generation: generation)
            current = snapshot
            trouble.succeeded("reading works again")
            endTurnLater()
            return snapshot
        } catch {
            throw .store(error)
        }
    }

    private func connection() throws(StoreError) -> any SnapshotStore {
        if let store = spare.popLast() { return store }
        return try storage.openReader(namespace: settings.name)
    }

    private func endTurnLater() {
        guard !endsTurn else { return }
        endsTurn = true
        thread.loop.endOfTurn { [self] in endTurn() }
    }

    private func endTurn() {
        endsTurn = false
        if let snapshot = current {
            current = nil
            release(snapshot)
        }
        answers.deliver(failure: nil)
    }

    /// Ends a snapshot; its connection may serve again.
    func release(_ snapshot: Snapshot) {
        snapshot.store.endSnapshot()
        snapshot.store.isFrugal = false
        if spare.count < Self.sparesMax, snapshot.generation == generation { spare.append(snapshot.store) }
    }

    // MARK: Long answers

    /// Keeps an answer that has to be ended before this is stopped.
    func keep(_ source: ValueStream.Source) {
        streams[ObjectIdentifier(source)] = source
        if streams.count == 1 { streamTimer.start(afterMilliseconds: Self.lookMilliseconds, repeatMilliseconds: Self.lookMilliseconds) }
    }

    /// The answer has ended.
    func forget(_ source: ValueStream.Source) {
        streams[ObjectIdentifier(source)] = nil
        if streams.isEmpty { streamTimer.stop() }
    }

    /// Ends what is past its time, also where its client asks for nothing more.
    private func cutOverdue() {
        let now = EventLoop.monotonicNanoseconds()
        for source in streams.values where source.deadline != 0 && now >= source.deadline {
            let seconds = Double(now - source.began) / 1e9
            settings.log.warning(
                "a long answer was cut off: its time is over", metadata: ["namespace": "\(settings.name)", "seconds": "\(Int(seconds))"])
            source.cut(.tooSlow(seconds))
        }
    }

    /// Ends every answer that holds a snapshot, and lets none begin until ``logIsEmptied()``.
    func makeWayForLog(bytes: Int) {
        isLogBeingEmptied = true
        guard !streams.isEmpty else { return }
        settings.log.warning(
            "long answers were cut off: they kept the log of changes from being emptied",
            metadata: ["namespace": "\(settings.name)", "answers": "\(streams.count)", "bytes": "\(bytes)"])
        for source in streams.values { source.cut(.logIsFull) }
    }

    func logIsEmptied() { isLogBeingEmptied = false }

    /// Why no further long answer may begin now; nil where it may.
    var longAnswerRefusal: DatabaseError? {
        guard isLogBeingEmptied || streams.count >= settings.limits.longReadsMax else { return nil }
        if thread.loop.nowMilliseconds >= refusalIsToldAgain {
            refusalIsToldAgain = thread.loop.nowMilliseconds + 10_000
            settings.log.warning(
                "long answers are refused",
                metadata: ["namespace": "\(settings.name)", "open": "\(streams.count)", "logIsBeingEmptied": "\(isLogBeingEmptied)"])
        }
        return isLogBeingEmptied ? .logIsFull : .tooManyLongReads(settings.limits.longReadsMax, by: false)
    }

    private static let lookMilliseconds: UInt64 = 500
}

/// What a namespace's writer tells its reader.
enum RulesNews: Sendable {
    /// These rules, from now on.
    case inForce(RuleSet)
    /// The store cannot be opened; the next attempt may need that nobody else has it open.
    case storeIsLost(DatabaseError)
    /// The store is not open yet.
    case unknown(DatabaseError)
}
