public import Metrics
import Synchronization

/// Metrics of calls of Google's service.
public struct GoogleFigures: Sendable {
    private var answers = InlineArray<6, Int>(repeating: 0)
    /// The durations of calls, without the time before their turn.
    public private(set) var durations = DurationHistogram()
    /// Calls that were repeated.
    public private(set) var retries = 0
    /// Calls that wait for their turn.
    public internal(set) var waiting = 0

    /// Figures of no calls.
    public init() {}

    /// The labels of outcomes: the class of the status, or `none` if there was no answer.
    public static let codes = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"]

    /// The number of calls with the outcome at this index of ``codes``.
    public func count(code index: Int) -> Int { answers[index] }

    /// - Parameter status: the status of the answer; nil if there was none.
    mutating func add(status: Int?, nanoseconds: UInt64) {
        answers[min(max((status ?? 0) / 100, 0), 5)] += 1
        durations.record(nanoseconds: nanoseconds)
    }

    mutating func addRetry() { retries += 1 }
}

/// Counts calls. Can be used from any thread.
final class GoogleCounter: Sendable {
    private let counted = Mutex(GoogleFigures())

    var figures: GoogleFigures { counted.withLock { $0 } }

    func add(status: Int?, nanoseconds: UInt64) { counted.withLock { $0.add(status: status, nanoseconds: nanoseconds) } }
    func addRetry() { counted.withLock { $0.addRetry() } }
}
