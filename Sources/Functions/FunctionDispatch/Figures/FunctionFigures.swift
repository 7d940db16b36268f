import AdminProtocol
import Metrics
import Synchronization

/// Metrics of one version of a function. Each loop of the host counts separately; readers get the sum.
package final class FunctionFigures: Sendable {
    package let function: String
    package let version: Int
    private let lanes: [Lane]

    /// The counts of one loop. Only that loop and an occasional reader take the lock.
    private final class Lane: Sendable {
        let counts = Mutex(Counts())
    }

    /// The counts.
    package struct Counts: Sendable {
        /// Invocations that arrived, including those that wait or were refused.
        fileprivate(set) var begun: UInt64 = 0
        /// Invocations that have not ended.
        package fileprivate(set) var inFlight = 0
        /// Times from the admission of an invocation to its end.
        package fileprivate(set) var durations = DurationHistogram()
        /// Waiting times of invocations that had to wait for an instance.
        fileprivate(set) var waits = DurationHistogram()
        /// Waiting times of invocations that had to wait because no instance had been started.
        package fileprivate(set) var coldStarts = DurationHistogram()
        /// The numbers of invocations that had to wait, and that were refused without waiting.
        fileprivate var parked: UInt64 = 0
        fileprivate var refusedAtOnce: UInt64 = 0
        fileprivate var outcomes = InlineArray<23, Int>(repeating: 0)

        /// The number of invocations with this outcome.
        package func count(_ outcome: InvocationOutcome) -> Int { outcomes[outcome.index] }

        /// Waiting times of all invocations that got an instance, including those that did not wait.
        package var allWaits: DurationHistogram {
            var all = waits
            all.record(immediate: begun - parked - refusedAtOnce)
            return all
        }

        fileprivate mutating func add(_ other: Counts) {
            begun &+= other.begun
            inFlight &+= other.inFlight
            durations.merge(other.durations)
            waits.merge(other.waits)
            coldStarts.merge(other.coldStarts)
            parked &+= other.parked
            refusedAtOnce &+= other.refusedAtOnce
            for index in outcomes.indices { outcomes[index] &+= other.outcomes[index] }
        }
    }

    /// - Parameter laneCount: the number of loops that count.
    init(function: String, version: Int, laneCount: Int) {
        self.function = function
        self.version = version
        lanes = (0..<laneCount).map { _ in Lane() }
    }

    /// The sum of the counts of all loops.
    package var total: Counts {
        var total = Counts()
        for lane in lanes { total.add(lane.counts.withLock { $0 }) }
        return total
    }

    // MARK: Counting

    /// Counts an invocation that starts on loop number `lane`.
    @inline(__always)
    func begin(on lane: Int) {
        lanes[lane].counts.withLock {
            $0.begun &+= 1
            $0.inFlight &+= 1
        }
    }

    /// Undoes ``begin(on:)`` for an invocation that is started again on another loop.
    func takeBack(on lane: Int) {
        lanes[lane].counts.withLock {
            $0.begun &-= 1
            $0.inFlight &-= 1
        }
    }

    /// Counts an invocation that has ended.
    @inline(__always)
    func end(_ outcome: InvocationOutcome, nanoseconds: UInt64, on lane: Int) {
        lanes[lane].counts.withLock {
            $0.inFlight &-= 1
            $0.outcomes[outcome.index] &+= 1
            $0.durations.record(nanoseconds: nanoseconds)
        }
    }

    /// Counts an invocation that has to wait for an instance. Waiting invocations are on the dispatcher's loop.
    func park() { lanes[0].counts.withLock { $0.parked &+= 1 } }

    /// Counts an invocation that is refused without waiting.
    func refuseAtOnce() { lanes[0].counts.withLock { $0.refusedAtOnce &+= 1 } }

    /// Counts an invocation that waited and gets an instance.
    func waited(nanoseconds: UInt64, isColdStart: Bool) {
        lanes[0].counts.withLock {
            $0.waits.record(nanoseconds: nanoseconds)
            if isColdStart { $0.coldStarts.record(nanoseconds: nanoseconds) }
        }
    }
}

/// The outcome of an invocation: a code of the callable protocol, or the class of an HTTP status.
package struct InvocationOutcome {
    fileprivate let index: Int

    init(_ code: FunctionErrorCode) { index = code.rawValue }

    /// - Parameter statusClass: the first digit of a status.
    init(statusClass: Int) { index = FunctionErrorCode.allCases.count + min(max(statusClass, 0), 5) }

    /// The value of the label `code`: `ok`, `not-found`, `4xx`.
    package var name: String {
        let codes = FunctionErrorCode.allCases
        return index < codes.count ? codes[index].name : "\(index - codes.count)xx"
    }

    /// Whether metrics include this outcome even if it never occurred, so that rates can be computed from the start.
    package var isAlwaysTold: Bool { index == FunctionErrorCode.ok.rawValue || index == FunctionErrorCode.internal.rawValue }

    /// Whether the host or the function is at fault, not the caller: the codes whose status begins with 5.
    var isFault: Bool {
        let codes = FunctionErrorCode.allCases
        return index < codes.count ? codes[index] != .ok && codes[index].httpStatus >= 500 : index - codes.count == 5
    }

    package static let all: [InvocationOutcome] =
        FunctionErrorCode.allCases.map { InvocationOutcome($0) } + (1...5).map { InvocationOutcome(statusClass: $0) }
}

/// The figures of all versions of all functions. Kept, up to a limit, when a version is no longer deployed, because it may be deployed again.
package struct FunctionFigureBook {
    private struct Key: Hashable {
        var function: String
        var version: Int
    }

    /// The number of entries at which unused ones are removed next. It grows with those in use, so that adding many costs no more for each.
    private var countMax = 2000
    private var figures: [Key: FunctionFigures] = [:]
    /// The number of loops that count.
    var laneCount = 1

    /// The figures of a version. Creates them at first use.
    mutating func figures(of function: String, version: Int) -> FunctionFigures {
        let key = Key(function: function, version: version)
        if let known = figures[key] { return known }
        if figures.count >= countMax {
            forgetUnused()
            countMax = max(2000, 2 * figures.count)
        }
        let new = FunctionFigures(function: function, version: version, laneCount: laneCount)
        figures[key] = new
        return new
    }

    /// Removes the figures that no function counts in any more.
    private mutating func forgetUnused() {
        for key in Array(figures.keys) {
            guard var last = figures.removeValue(forKey: key) else { continue }
            if !isKnownUniquelyReferenced(&last) { figures[key] = last }
        }
    }

    /// All figures, sorted by function and version.
    package var all: [FunctionFigures] { figures.values.sorted { ($0.function, $0.version) < ($1.function, $1.version) } }
}
