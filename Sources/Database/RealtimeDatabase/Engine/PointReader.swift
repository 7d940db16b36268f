import EventLoop
import HearthBytes
import Rules
import Store
import Synchronization
import Tree

/// Reads single values of a namespace on the loop of the connection that asks, without a reader's thread (docs/decisions/readers.md).
///
/// There is one for each loop, so that loops do not wait for each other. The lock is for other threads that close the file or change the rules.
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
        var rules: RuleSet?
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
        var commit: UInt64
        /// The value of ``CommitCount`` before it was taken.
        var count: UInt64
        /// The loop's thread, before it was taken.
        var usage: ThreadUsage
    }

    /// The number of reads after which a connection is opened.
    private static let declinedMax = 64
    /// The most bytes of a value. Larger ones would hold up the loop.
    private static let bytesMax = 64 << 10

    private let loop: EventLoop
    private let commits: CommitCount
    private let pause: ReadPause
    private let state: Mutex<State>

    init(loop: EventLoop, rules: RuleSet?, commits: CommitCount, pause: ReadPause) {
        self.loop = loop
        self.commits = commits
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
        _ request: ReadRequest, _ rules: RuleSet, _ store: any SnapshotStore, _ state: inout State
    ) throws(ReadError) -> ReadOutcome? {
        let snapshot = try snapshot(store, &state)
        state.scratch.clear(keepingAtMost: Self.bytesMax)
        do throws(StoreError) {
            guard try snapshot.reader.appendLeaf(at: request.path.key, to: &state.scratch) else { return nil }
        } catch {
            throw .store(error)
        }
        guard state.scratch.count <= min(Self.bytesMax, request.bytesMax) else { return nil }
        let verdict = try request.verdict(of: rules, in: snapshot.reader)
        guard verdict.isAllowed else { return .refused(.permissionDenied(verdict.trace)) }
        return .value(json: state.scratch.array(), etag: nil, commit: snapshot.commit)
    }

    /// The snapshot of this turn, if nothing was committed since; otherwise a new one. A request must see each commit that was answered before
    /// the request was sent, and the answer may have gone out on another loop during this turn.
    private func snapshot(_ store: any SnapshotStore, _ state: inout State) throws(ReadError) -> Snapshot {
        let count = commits.value
        if let snapshot = state.snapshot {
            if snapshot.count == count { return snapshot }
            state.snapshot = nil
            store.endSnapshot()
        }
        let usage = ThreadUsage.current
        do throws(StoreError) {
            try store.beginSnapshot()
            let reader = try TreeReader(snapshot: store, previous: state.lastReader)
            let commit = try store.get(MetaKey.commit, in: .meta) { MetaKey.number($0) } ?? 0
            let snapshot = Snapshot(reader: reader, commit: commit, count: count, usage: usage)
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
        state.withLock { state in
            state.endsTurn = false
            guard state.snapshot != nil else { return }
            state.snapshot = nil
            state.store?.endSnapshot()
        }
    }

    // MARK: Rules and the file

    /// Uses these rules from now on.
    func use(_ rules: RuleSet) { state.withLock { if !$0.isClosed { $0.rules = rules } } }

    /// Opens a connection, unless the file was closed since one was requested. Call on another thread; meanwhile the loop's reads are declined.
    func open(_ storage: any StorageEngine, namespace: String, opening: UInt64) {
        state.withLock { state in
            guard state.opening == opening, state.store == nil else { return }
            do throws(StoreError) { state.store = try storage.openReader(namespace: namespace) } catch { state.declined = 0 }
        }
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

/// Counts the commits of a namespace, before they are answered.
final class CommitCount: Sendable {
    private let count = Atomic<UInt64>(0)

    var value: UInt64 { count.load(ordering: .acquiring) }

    func add() { count.add(1, ordering: .releasing) }
}
