import AdminProtocol
import Metrics

/// What is counted of one version of one function. Plain numbers, on the dispatcher's loop only.
package final class FunctionFigures: @unchecked Sendable {
    // Unchecked: both names are constant, and the numbers are touched on the dispatcher's loop only.

    package let function: String
    package let version: Int
    /// Invocations that have begun, those that wait included.
    private(set) var begun: UInt64 = 0
    /// Invocations that are not over.
    package private(set) var inFlight = 0
    /// From an invocation's admission until it is over.
    package private(set) var durations = DurationHistogram()
    /// How long those waited that had to wait for an instance; all others did not wait at all.
    private(set) var waits = DurationHistogram()
    /// How long those waited for which no instance was there yet.
    package private(set) var coldStarts = DurationHistogram()
    /// How many had to wait, and how many were refused without having waited.
    private var parked: UInt64 = 0
    private var refusedAtOnce: UInt64 = 0
    private var outcomes = InlineArray<23, Int>(repeating: 0)

    init(function: String, version: Int) {
        self.function = function
        self.version = version
    }

    package func count(_ outcome: InvocationOutcome) -> Int { outcomes[outcome.index] }

    @inline(__always)
    func begin() {
        begun &+= 1
        inFlight &+= 1
    }

    @inline(__always)
    func end(_ outcome: InvocationOutcome, nanoseconds: UInt64) {
        inFlight &-= 1
        outcomes[outcome.index] &+= 1
        durations.record(nanoseconds: nanoseconds)
    }

    func park() { parked &+= 1 }
    func refuseAtOnce() { refusedAtOnce &+= 1 }

    /// The waits of all that got an instance.
    package var allWaits: DurationHistogram {
        var all = waits
        all.record(immediate: begun - parked - refusedAtOnce)
        return all
    }

    func waited(nanoseconds: UInt64, isColdStart: Bool) {
        waits.record(nanoseconds: nanoseconds)
        if isColdStart { coldStarts.record(nanoseconds: nanoseconds) }
    }
}

/// What came of an invocation: a code of the callable protocol, or the class of an HTTP answer's status.
package struct InvocationOutcome {
    fileprivate let index: Int

    init(_ code: FunctionErrorCode) { index = code.rawValue }

    /// - Parameter statusClass: the first digit of a status.
    init(statusClass: Int) { index = FunctionErrorCode.allCases.count + min(max(statusClass, 0), 5) }

    /// As the label `code` says it: `ok`, `not-found`, `4xx`.
    package var name: String {
        let codes = FunctionErrorCode.allCases
        return index < codes.count ? codes[index].name : "\(index - codes.count)xx"
    }

    /// Whether it is told of also where it never happened, so that rates can be drawn from the beginning.
    package var isAlwaysTold: Bool { index == FunctionErrorCode.ok.rawValue || index == FunctionErrorCode.internal.rawValue }

    package static let all: [InvocationOutcome] =
        FunctionErrorCode.allCases.map { InvocationOutcome($0) } + (1...5).map { InvocationOutcome(statusClass: $0) }
}

/// The figures of every function's versions. They are kept when a version goes, since it may come back; but not without end.
package struct FunctionFigureBook {
    private struct Key: Hashable {
        var function: String
        var version: Int
    }

    private static let countMax = 2000
    private var figures: [Key: FunctionFigures] = [:]

    /// The figures of a version, which are new where it is.
    mutating func figures(of function: String, version: Int) -> FunctionFigures {
        let key = Key(function: function, version: version)
        if let known = figures[key] { return known }
        if figures.count >= Self.countMax { forgetUnused() }
        let new = FunctionFigures(function: function, version: version)
        figures[key] = new
        return new
    }

    /// Those that nobody counts in any more are forgotten.
    private mutating func forgetUnused() {
        for key in Array(figures.keys) {
            guard var last = figures.removeValue(forKey: key) else { continue }
            if !isKnownUniquelyReferenced(&last) { figures[key] = last }
        }
    }

    /// All of them, in order.
    package var all: [FunctionFigures] { figures.values.sorted { ($0.function, $0.version) < ($1.function, $1.version) } }
}
