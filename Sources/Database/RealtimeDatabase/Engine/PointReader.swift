import EventLoop
import HearthBytes
import Rules
import Store
import Synchronization
import Tree

/// Reads single values of a namespace on the loop of the connection that asks, without a reader's thread (docs/decisions/readers.md).
///
/// There is one for each loop, so that the reads of several loops take place at the same time. The lock is for other threads that close the file
/// or change the rules.
/// What takes longer than a lookup is left to ``NamespaceReader``: nodes with children, etags, failures, and reads while they are slow.
final class PointReader: Sendable {
    /// The result of an attempt.
    enum Attempt {
        case outcome(ReadOutcome)
        /// The read needs a thread.
        case declined
        /// The same; and from now on a connection is worth its memory. The number is for ``open(_:namespace:opening:)``.
        case needsConnection(opening: UInt64)
    }

    private struct State: ~Copyable {
        var rules: RulesInForce?
        var store: (any SnapshotStore)?
        var snapshot: Snapshot?
        /// The last reader, whose state of the tree is reused if it has not changed.
        var lastReader: TreeReader?
        /// Reads since the last connection was closed.
        var declined = 0
        /// Distinguishes connections that were requested before and after the file was closed.
        var opening: UInt64 = 0
        var endsTurn = false
        var isClosed = false
        var scratch = ByteBuffer()
        var figures = ReaderFigures()
    }

    /// The state of the tree from the first read of a turn of the loop on, unless something was committed since.
    private struct Snapshot {
        var reader: TreeReader
        var mark: CommitMark
        /// The loop's thread, before it was taken.
        var usage: ThreadUsage
    }

    /// The number of reads after which a connection is opened.
    private static let declinedMax = 64
    /// The most bytes of a value. Larger ones would hold up the loop.
    private static let bytesMax = 64 << 10

    private let loop: EventLoop
    private let newest: CommitNumber
    private let pause: ReadPause
    private let state: Mutex<State>

    init(loop: EventLoop, rules: RulesInForce?, newest: CommitNumber, pause: ReadPause) {
        self.loop = loop
        self.newest = newest
        self.pause = pause
        state = Mutex(State(rules: rules))
    }

    // MARK: Reading

    /// Reads the newest committed state. Call on the loop.
    func read(_ request: ReadRequest) -> Attempt {
        let start = EventLoop.monotonicNanoseconds()
        guard pause.isOver(at: start) else { return .declined }
        let attempt = state.withLockIfAvailable { state -> Attempt in
            guard let rules = state.rules else { return .declined }
            guard let store = state.store else {
                state.declined += 1
                return state.declined == Self.declinedMax ? .needsConnection(opening: state.opening) : .declined
            }
            let outcome: ReadOutcome?
            do throws(ReadError) { outcome = try perform(request, rules, store, &state) } catch {
                // The reader on a thread reports it, or finds that it is over.
                letGo(&state)
                pause.begin(at: EventLoop.monotonicNanoseconds(), after: max(EventLoop.monotonicNanoseconds() - start, ReadPause.workNanoseconds))
                return .declined
            }
            if let usage = state.snapshot?.usage { pause.note(from: start, to: EventLoop.monotonicNanoseconds(), since: usage) }
            guard let outcome else { return .declined }
            state.figures.add(request.kind, outcome)
            return .outcome(outcome)
        }
        return attempt ?? .declined
    }

    private func perform(
        _ request: ReadRequest, _ rules: RulesInForce, _ store: any SnapshotStore, _ state: inout State
    ) throws(ReadError) -> ReadOutcome? {
        let snapshot = try snapshot(store, &state)
        guard snapshot.mark.rules == rules.commit else { return nil }
        let verdict = try request.verdict(of: rules.rules, in: StoredTree(snapshot.reader))
        guard verdict.isAllowed else { return .refused(.permissionDenied(verdict.trace)) }
        state.scratch.clear(keepingAtMost: Self.bytesMax)
        do throws(StoreError) {
            let bytesMax = min(Self.bytesMax, request.bytesMax)
            guard try snapshot.reader.appendLeaf(at: request.path.key, atMost: bytesMax, to: &state.scratch) else { return nil }
        } catch {
            throw .store(error)
        }
        return .value(json: state.scratch.array(), etag: nil, commit: snapshot.mark.number)
    }

    /// The snapshot of this turn, if nothing was committed since; otherwise a new one. A request must see each commit that was answered, or seen by
    /// another read, before the request was sent; and that may have happened on another loop during this turn.
    private func snapshot(_ store: any SnapshotStore, _ state: inout State) throws(ReadError) -> Snapshot {
        if let snapshot = state.snapshot {
            if newest.isValue(snapshot.mark.number) { return snapshot }
            state.snapshot = nil
            store.endSnapshot()
        }
        let usage = ThreadUsage.current
        do throws(StoreError) {
            try store.beginSnapshot()
            let reader = try TreeReader(snapshot: store, previous: state.lastReader)
            let snapshot = Snapshot(reader: reader, mark: try CommitMark.read(store), usage: usage)
            state.lastReader = reader
            state.snapshot = snapshot
            if !state.endsTurn {
                state.endsTurn = true
                loop.endOfTurn { [self] in endTurn() }
            }
            return snapshot
        } catch {
            throw .store(error)
        }
    }

    private func endTurn() {
        let isDone: Void? = state.withLockIfAvailable { state in
            state.endsTurn = false
            guard state.snapshot != nil else { return }
            state.snapshot = nil
            state.store?.endSnapshot()
        }
        // Another thread is closing the file.
        if isDone == nil { loop.post { [self] in endTurn() } }
    }

    // MARK: Rules and the file

    /// Uses these rules from now on.
    func use(_ rules: RulesInForce) { state.withLock { if !$0.isClosed { $0.rules = rules } } }

    /// Opens a connection, unless the file was closed since one was requested. Call on another thread; meanwhile the loop's reads are declined.
    func open(_ storage: any StorageEngine, namespace: String, opening: UInt64) {
        state.withLock { state in
            guard state.opening == opening, state.store == nil else { return }
            do throws(StoreError) {
                let store = try storage.openReader(namespace: namespace)
                store.neverWait()
                try Self.warm(store)
                // A small cache: there may be many of these connections.
                store.isFrugal = true
                state.store = store
            } catch {
                state.declined = 0
            }
        }
    }

    /// Parses the schema and prepares the statements, so that the loop does not have to.
    private static func warm(_ store: any SnapshotStore) throws(StoreError) {
        try store.beginSnapshot()
        defer { store.endSnapshot() }
        _ = try CommitMark.read(store)
        let reader = try TreeReader(snapshot: store)
        _ = try reader.leaf(at: Path([]).key)
        _ = try reader.exists(at: Path([]).key)
    }

    /// Closes the file, and forgets the rules, until it gets new ones or for good. Call from any thread.
    func close(forGood: Bool) {
        state.withLock { state in
            letGo(&state)
            state.rules = nil
            state.isClosed = state.isClosed || forGood
        }
    }

    private func letGo(_ state: inout State) {
        if state.snapshot != nil { state.store?.endSnapshot() }
        state.snapshot = nil
        state.lastReader = nil
        state.store = nil
        state.declined = 0
        state.opening += 1
    }

    /// The counts of its reads.
    var figures: ReaderFigures { state.withLock { $0.figures } }
}

/// The number of a namespace's last commit. Only the writer changes it.
final class CommitNumber: Sendable {
    /// Twice the number; one more while the next transaction is being committed, and other connections may see it at any moment.
    private let state = Atomic<UInt64>(0)

    /// The number, which grows before the commit is answered.
    var value: UInt64 { state.load(ordering: .acquiring) >> 1 }

    /// Whether no state after that of `number` can have been seen.
    func isValue(_ number: UInt64) -> Bool { state.load(ordering: .acquiring) == number << 1 }

    func begin() { state.store(value << 1 | 1, ordering: .sequentiallyConsistent) }

    func finish(_ number: UInt64) { state.store(number << 1, ordering: .releasing) }
}
