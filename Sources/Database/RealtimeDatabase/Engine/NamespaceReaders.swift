import EventLoop
import Synchronization

/// The readers of a namespace, each with a separate thread: quick readers for short reads, and slow readers for reads that may visit many rows.
/// One quick reader always exists. The others are started when they are needed, at most as many of each kind as there are cores
/// (docs/decisions/readers.md). Single values are read on the loops that ask for them, by a ``PointReader`` each.
final class NamespaceReaders: Sendable {
    /// One reader and its thread.
    final class Lane: Sendable {
        let thread: NamespaceThread
        let reader: LoopBound<NamespaceReader>
        /// The number of quick reads that have not begun.
        private let waiting = Atomic(0)
        /// Whether a slow reader is working on waiting reads.
        let isBusy = Atomic(false)

        fileprivate init(thread: NamespaceThread, reader: LoopBound<NamespaceReader>) {
            self.thread = thread
            self.reader = reader
        }

        func post(_ body: @escaping @Sendable (NamespaceReader) -> Void) {
            thread.post { [reader] in body(reader.value) }
        }

        fileprivate var load: Int { waiting.load(ordering: .relaxed) }

        fileprivate func postRead(_ body: @escaping @Sendable (NamespaceReader) -> Void) {
            waiting.add(1, ordering: .relaxed)
            thread.post { [self] in
                waiting.subtract(1, ordering: .relaxed)
                body(reader.value)
            }
        }
    }

    private struct Lanes {
        /// All quick readers except for the first one.
        var quick: [Lane] = []
        var slow: [Lane] = []
        var isStopped = false
    }

    private struct Points {
        var readers: [ObjectIdentifier: PointReader] = [:]
        var rules: RulesInForce?
        var isStopped = false
    }

    private let first: Lane
    /// Ends long scans when the namespace releases its files.
    let haste = Cancellation()
    /// Reads that wait for a slow reader.
    private let turns: ReadTurns
    private let lanes = Mutex(Lanes())
    private let countMax: Int
    private let makeLane: @Sendable () throws(LoopError) -> Lane
    private let points = Mutex(Points())
    private let newest: CommitNumber
    let pause: ReadPause

    /// The number of waiting reads above which another reader helps. Reads of one turn share a snapshot, and waking a thread costs more than a read.
    private static let loadMax = 16

    /// - Parameter askForRules: makes the writer send the rules to all readers.
    init(
        storage: any StorageEngine, settings: NamespaceSettings, newest: CommitNumber, hashes: HashCache, askForRules: @escaping @Sendable () -> Void
    ) throws(LoopError) {
        let haste = haste
        let turns = ReadTurns()
        let make: @Sendable () throws(LoopError) -> Lane = { () throws(LoopError) in
            let thread = try NamespaceThread()
            let reader = LoopBound(
                NamespaceReader(thread: thread, storage: storage, settings: settings, turns: turns, hashes: hashes, haste: haste),
                loop: thread.loop)
            // Without a lease, so that a namespace that is no longer needed can be closed as soon as it has started.
            thread.post { reader.value.askForRules = askForRules }
            return Lane(thread: thread, reader: reader)
        }
        makeLane = make
        countMax = settings.limits.readersMax
        self.turns = turns
        self.newest = newest
        pause = settings.readPause
        first = try make()
    }

    // MARK: Reading

    /// Calls `body` on the thread of a quick reader, soon.
    func read(_ body: @escaping @Sendable (NamespaceReader) -> Void) { quickLane.postRead(body) }

    /// The first quick reader; if many reads wait for it, the one with the fewest waiting reads.
    private var quickLane: Lane {
        if countMax == 1 || first.load < Self.loadMax { return first }
        return lanes.withLock { lanes in
            let least = lanes.quick.reduce(first) { $0.load <= $1.load ? $0 : $1 }
            guard least.load >= Self.loadMax, lanes.quick.count + 1 < countMax, !lanes.isStopped, let lane = try? makeLane() else { return least }
            lanes.quick.append(lane)
            return lane
        }
    }

    /// Makes a slow reader perform a read when it is its client's turn.
    func readInTurn(_ read: ReadTurns.QueuedRead) {
        if let refusal = turns.add(read) { return read.refuse(refusal) }
        guard let lane = idleLane else { return }
        lane.work(turns)
    }

    /// An idle slow reader, which is marked as busy. If not even one slow reader can be started, the quick one. Nil if all are busy: they check
    /// for waiting reads before they become idle.
    private var idleLane: Lane? {
        lanes.withLock { lanes in
            if let lane = lanes.slow.first(where: { $0.becomesBusy() }) { return lane }
            if lanes.slow.count < countMax, !lanes.isStopped, let lane = try? makeLane() {
                _ = lane.becomesBusy()
                lanes.slow.append(lane)
                return lane
            }
            guard lanes.slow.isEmpty else { return nil }
            return first.becomesBusy() ? first : nil
        }
    }

    // MARK: Reading on loops

    /// Reads a single value at once, on the calling loop. Nil if the read needs a thread.
    func readAtOnce(_ request: ReadRequest, on loop: EventLoop) -> ReadOutcome? {
        let point = points.withLock { points in
            if let reader = points.readers[ObjectIdentifier(loop)] { return reader }
            let reader = PointReader(loop: loop, rules: points.rules, newest: newest, pause: pause)
            points.readers[ObjectIdentifier(loop)] = reader
            return reader
        }
        switch point.read(request) {
        case .outcome(let outcome): return outcome
        case .declined: return nil
        case .needsConnection(let opening):
            first.post { $0.open(for: point, opening: opening) }
            return nil
        }
    }

    /// Closes the files that loops have open, until there are rules again or for good.
    func closePoints(forGood: Bool = false) {
        let readers = points.withLock { points in
            points.rules = nil
            points.isStopped = points.isStopped || forGood
            return Array(points.readers.values)
        }
        for reader in readers { reader.close(forGood: forGood) }
    }

    /// The counts of reads on loops.
    var pointFigures: ReaderFigures {
        points.withLock { Array($0.readers.values) }.reduce(into: ReaderFigures()) { $0.merge($1.figures) }
    }

    // MARK: All readers

    /// Passes on a message of the writer.
    func use(_ news: RulesNews) {
        switch news {
        case .inForce(let rules):
            let readers = points.withLock { points in
                if !points.isStopped { points.rules = rules }
                return Array(points.readers.values)
            }
            for reader in readers { reader.use(rules) }
        case .storeIsLost: closePoints()
        case .unknown: break
        }
        onEach { $0.use(news) }
    }

    private var open: [Lane] { lanes.withLock { [first] + $0.quick + $0.slow } }

    /// The number of readers.
    var count: Int { open.count }

    /// Calls `body` on each reader's thread, after its earlier work, and then `completion` on that of the last one.
    func onEach(_ body: @escaping @Sendable (NamespaceReader) -> Void, completion: @escaping @Sendable () -> Void = {}) {
        let lanes = open
        let left = Countdown(lanes.count)
        for lane in lanes {
            lane.post { reader in
                body(reader)
                if left.hit() { completion() }
            }
        }
    }

    private final class Countdown: Sendable {
        private let left: Atomic<Int>

        init(_ count: Int) { left = Atomic(count) }

        /// Counts down. Returns whether zero was reached.
        func hit() -> Bool { left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
    }

    /// Ends the threads, after calling `body` on each of them.
    func end(_ body: @escaping @Sendable (NamespaceReader) -> Void) {
        haste.isSet = true
        lanes.withLock { $0.isStopped = true }
        turns.stop()
        closePoints(forGood: true)
        for lane in open {
            lane.post(body)
            lane.thread.end()
        }
    }
}
