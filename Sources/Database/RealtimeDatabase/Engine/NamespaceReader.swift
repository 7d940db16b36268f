import HearthBytes
import EventLoop
import Logging
import Rules
import Store
import Tree

/// Reads a namespace: connections that see the newest committed state, on a separate thread.
///
/// The reads of one turn of its loop share a snapshot, which ends with the turn. An answer with several pieces keeps the snapshot, and the
/// next turn uses another connection.
final class NamespaceReader {
    let thread: NamespaceThread
    private let storage: any StorageEngine
    let settings: NamespaceSettings
    var current: Snapshot?
    private var spare: [any SnapshotStore] = []
    /// The number of times that all connections had to be closed.
    private var generation = 0
    /// The last reader, whose state of the tree is reused if it has not changed.
    private var lastReader: TreeReader?
    private var answers = CommitBatch()
    var figures = ReaderFigures()
    var scratch = ByteBuffer()
    /// The rules in force. Reads that arrive before they are known, or see a state with later rules, wait here.
    var rules: RulesInForce?
    private var waiting: [Waiting] = []
    /// Requests the rules in force, or the reason why there are none, from the writer.
    var askForRules: () -> Void = {}
    /// Answers that are not completely read.
    private var streams: [ObjectIdentifier: ValueStream.Source] = [:]
    private lazy var streamTimer = Timer(loop: thread.loop) { [unowned self] in cutOverdue() }
    /// Whether the log of changes is being emptied. Meanwhile, no answer may hold a snapshot.
    private var isLogBeingEmptied = false
    /// The time from which on refused answers are logged again, in the loop's milliseconds.
    private var refusalIsToldAgain: UInt64 = 0
    private var trouble: TroubleReport
    private var endsTurn = false
    private var isStopped = false
    private let haste: Cancellation
    /// Reads that wait for one of the namespace's readers.
    private let turns: ReadTurns
    let hashes: HashCache

    /// A request that waits for the rules.
    private struct Waiting {
        var go: (RulesInForce) -> Void
        var refuse: (DatabaseError) -> Void
    }

    /// The size of a piece of an answer.
    static let pieceBytes = 256 * 1024
    /// The number of idle connections that are kept for later snapshots. They are kept as long as the namespace is open, each with descriptors
    /// and a cache.
    private static let sparesMax = 2

    /// One state of the tree.
    struct Snapshot {
        let store: any SnapshotStore
        var reader: TreeReader
        let mark: CommitMark
        var commit: UInt64 { mark.number }
        /// The value of ``NamespaceReader/generation`` when it was taken.
        let generation: Int
    }

    /// - Parameter turns: its reads are refused when the readers close their files.
    init(
        thread: NamespaceThread, storage: any StorageEngine, settings: NamespaceSettings, turns: ReadTurns, hashes: HashCache, haste: Cancellation
    ) {
        self.turns = turns
        self.hashes = hashes
        self.thread = thread
        self.haste = haste
        self.storage = storage
        self.settings = settings
        trouble = TroubleReport(settings)
    }

    /// Starts to use new rules. If the namespace cannot be opened, waiting requests are refused with the reason.
    func use(_ news: RulesNews) {
        let requests = waiting
        waiting = []
        switch news {
        case .inForce(let rules):
            if !isStopped { self.rules = rules }
            // The state before them would be judged by them.
            endSnapshot()
            for request in requests { request.go(rules) }
        case .storeIsLost(let error), .unknown(let error):
            if case .storeIsLost = news { closeConnections() }
            for request in requests { request.refuse(error) }
        }
    }

    /// Closes idle connections. SQLite's connections to a file share the index of its log, and one that was opened on a read-only disk would
    /// prevent the writer from writing as long as it is open.
    private func closeConnections() {
        generation += 1
        spare = []
        lastReader = nil
    }

    /// Makes a request wait until the rules in force are known.
    func wait(_ go: @escaping (RulesInForce) -> Void, refuse: @escaping (DatabaseError) -> Void) {
        guard !isStopped else { return refuse(.stopping) }
        waiting.append(Waiting(go: go, refuse: refuse))
        if waiting.count == 1 { askForRules() }
    }

    /// Reads. `answer` is called on `loop`. Keeps `namespace` until the answer has ended.
    func read(
        _ request: ReadRequest, _ stopwatch: OperationTimer?, of namespace: Namespace, on loop: EventLoop, answer: LoopBound<(ReadOutcome) -> Void>
    ) {
        guard let rules else { return waitForRules(request, stopwatch, of: namespace, on: loop, answer: answer) }
        read(request, rules, stopwatch, of: namespace, on: loop, answer: answer)
    }

    private func waitForRules(
        _ request: ReadRequest, _ stopwatch: OperationTimer?, of namespace: Namespace, on loop: EventLoop, answer: LoopBound<(ReadOutcome) -> Void>
    ) {
        wait { [self] in
            read(request, $0, stopwatch, of: namespace, on: loop, answer: answer)
        } refuse: { error in
            loop.post { answer.value(.refused(error)) }
        }
    }

    private func read(
        _ request: ReadRequest, _ current: RulesInForce, _ stopwatch: OperationTimer?, of namespace: Namespace, on loop: EventLoop,
        answer: LoopBound<(ReadOutcome) -> Void>
    ) {
        let rules = current.rules
        var stopwatch = stopwatch
        stopwatch?.begin()
        let outcome: ReadOutcome
        var scanGuard: ScanGuard?
        do throws(ReadError) {
            var snapshot = try snapshot()
            guard snapshot.mark.rules == current.commit else {
                return waitForRules(request, stopwatch, of: namespace, on: loop, answer: answer)
            }
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
        if !request.principal.isAdmin || request.wantsNode {
            let latest = EventLoop.monotonicNanoseconds() + UInt64(settings.limits.readSeconds * 1e9)
            deadline = deadline == 0 ? latest : min(deadline, latest)
        }
        return ScanGuard(request.cancellation, haste: haste, deadline: deadline)
    }

    private func profile(_ request: ReadRequest, _ rules: RuleSet, _ outcome: ReadOutcome, _ stopwatch: OperationTimer) {
        guard let name = request.profiledAs else { return }
        if request.probesIndex, case .refused(let error) = outcome, error.kind == .indexNotDefined { return }
        let isUnindexed = request.query.map { !rules.hasIndex(at: request.path, order: $0.order) } ?? false
        let operation = Operation(name, request, outcome, isUnindexed: isUnindexed, stopwatch)
        if case .stream(let rest) = outcome { rest.profile(operation) } else { settings.profile.record(operation) }
    }

    /// Records a read in the profiler when its answer has ended.
    func didEnd(_ operation: Operation) { settings.profile.record(operation) }

    /// Closes all connections that no long answer needs. Reads wait until the rules are known again.
    func suspend() {
        turns.refuseAll(.changingHands)
        endTurn()
        // From now on, requests ask for the rules, and get the reason why the store is closed.
        rules = nil
        use(.storeIsLost(.changingHands))
    }

    /// Closes all connections.
    func stop() {
        isStopped = true
        askForRules = {}
        turns.refuseAll(.stopping)
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
            let snapshot = Snapshot(store: store, reader: reader, mark: try CommitMark.read(store), generation: generation)
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

    /// Opens a connection for a loop.
    func open(for reader: PointReader, opening: UInt64) { reader.open(storage, namespace: settings.name, opening: opening) }

    private func endTurnLater() {
        guard !endsTurn else { return }
        endsTurn = true
        thread.loop.endOfTurn { [self] in endTurn() }
    }

    private func endTurn() {
        endsTurn = false
        endSnapshot()
        answers.deliver(failure: nil)
    }

    /// Ends the snapshot of this turn, so that the next read uses a newer one.
    func endSnapshot() {
        guard let snapshot = current else { return }
        current = nil
        release(snapshot)
    }

    /// Ends a snapshot. Its connection may be reused.
    func release(_ snapshot: Snapshot) {
        snapshot.store.endSnapshot()
        snapshot.store.isFrugal = false
        if spare.count < Self.sparesMax, snapshot.generation == generation { spare.append(snapshot.store) }
    }

    // MARK: Long answers

    /// Registers an answer that must be ended before the reader stops.
    func keep(_ source: ValueStream.Source) {
        streams[ObjectIdentifier(source)] = source
        if streams.count == 1 { streamTimer.start(afterMilliseconds: Self.lookMilliseconds, repeatMilliseconds: Self.lookMilliseconds) }
    }

    /// Removes an answer that has ended.
    func forget(_ source: ValueStream.Source) {
        streams[ObjectIdentifier(source)] = nil
        if streams.isEmpty { streamTimer.stop() }
    }

    /// Ends overdue answers, even if their clients do not read any more.
    private func cutOverdue() {
        let now = EventLoop.monotonicNanoseconds()
        for source in streams.values where source.deadline != 0 && now >= source.deadline {
            let seconds = Double(now - source.began) / 1e9
            settings.log.warning(
                "a long answer was cut off: its time is over", metadata: ["namespace": "\(settings.name)", "seconds": "\(Int(seconds))"])
            source.cut(.tooSlow(seconds))
        }
    }

    /// Ends all answers that hold a snapshot, and refuses new ones until ``logIsEmptied()``.
    func makeWayForLog(bytes: Int) {
        isLogBeingEmptied = true
        guard !streams.isEmpty else { return }
        settings.log.warning(
            "long answers were cut off: they kept the log of changes from being emptied",
            metadata: ["namespace": "\(settings.name)", "answers": "\(streams.count)", "bytes": "\(bytes)"])
        for source in streams.values { source.cut(.logIsFull) }
    }

    func logIsEmptied() { isLogBeingEmptied = false }

    /// Takes a seat for another long answer of the namespace.
    ///
    /// - Throws: `DatabaseError` if none may begin now.
    func admitLongAnswer() throws(DatabaseError) -> Seats<String>.Seat {
        if !isLogBeingEmptied, let seat = settings.longAnswers.take(settings.name) { return seat }
        if thread.loop.nowMilliseconds >= refusalIsToldAgain {
            refusalIsToldAgain = thread.loop.nowMilliseconds + 10_000
            settings.log.warning(
                "long answers are refused",
                metadata: ["namespace": "\(settings.name)", "most": "\(settings.longAnswers.countMax)", "logIsBeingEmptied": "\(isLogBeingEmptied)"])
        }
        throw isLogBeingEmptied ? .logIsFull : .tooManyLongReads(settings.longAnswers.countMax, by: false)
    }

    private static let lookMilliseconds: UInt64 = 500
}

/// A message from a namespace's writer to its readers.
enum RulesNews: Sendable {
    /// The rules from now on.
    case inForce(RulesInForce)
    /// The store cannot be opened. For the next attempt, all connections to it may have to be closed.
    case storeIsLost(DatabaseError)
    /// The store is not open yet.
    case unknown(DatabaseError)
}

/// Rules, and the state of a namespace from which on they are in force.
struct RulesInForce: Sendable {
    var rules: RuleSet
    /// The number of the transaction that stored them. A state with another number has to be judged by other rules.
    var commit: UInt64
}
