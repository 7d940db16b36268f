import EventLoop
import Synchronization

/// The readers of a namespace: one for reads that take no time worth speaking of, and, from the first need on, one for those that may look
/// at many rows. Each has its own thread.
final class NamespaceReaders: Sendable {
    struct Lane: Sendable {
        let thread: NamespaceThread
        let reader: LoopBound<NamespaceReader>

        func post(_ body: @escaping @Sendable (NamespaceReader) -> Void) {
            thread.post { [reader] in body(reader.value) }
        }
    }

    private enum Slow {
        case notNeeded
        case open(Lane)
        case stopped
    }

    let quick: Lane
    /// Ends long scans while the namespace lets go of its files.
    let haste = Cancellation()
    private let slow = Mutex(Slow.notNeeded)
    private let makeSlow: @Sendable () throws(LoopError) -> Lane

    /// - Parameter askForRules: has the writer tell all of them.
    init(storage: any StorageEngine, settings: NamespaceSettings, askForRules: @escaping @Sendable () -> Void) throws(LoopError) {
        let haste = haste
        let make: @Sendable () throws(LoopError) -> Lane = { () throws(LoopError) in
            let thread = try NamespaceThread()
            let reader = LoopBound(NamespaceReader(thread: thread, storage: storage, settings: settings, haste: haste), loop: thread.loop)
            // No use of the namespace: one that nobody wants any more can be closed as soon as it has started.
            thread.post { reader.value.askForRules = askForRules }
            return Lane(thread: thread, reader: reader)
        }
        makeSlow = make
        quick = try make()
    }

    /// The reader for reads that may take long: the other one where there is no thread for it.
    var slowLane: Lane {
        slow.withLock { slow in
            switch slow {
            case .open(let lane): return lane
            case .stopped: return quick
            case .notNeeded:
                guard let lane = try? makeSlow() else { return quick }
                slow = .open(lane)
                return lane
            }
        }
    }

    private var open: [Lane] {
        slow.withLock { slow in
            if case .open(let lane) = slow { return [quick, lane] }
            return [quick]
        }
    }

    /// Does `body` on each reader's thread, behind everything that was asked of it before, and then `completion` on the last one's.
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

        /// Whether this was the last one.
        func hit() -> Bool { left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
    }

    /// Ends the threads, after `body` was done on each of them.
    func end(_ body: @escaping @Sendable (NamespaceReader) -> Void) {
        haste.isSet = true
        let lanes = open
        slow.withLock { $0 = .stopped }
        for lane in lanes {
            lane.post(body)
            lane.thread.end()
        }
    }
}
