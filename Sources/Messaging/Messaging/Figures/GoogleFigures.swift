public import Metrics
import Synchronization

/// What is counted of calls of Google's service.
public struct GoogleFigures: Sendable {
    private var answers = InlineArray<6, Int>(repeating: 0)
    /// How long a call took, from its turn until its answer.
    public private(set) var durations = DurationHistogram()
    /// Calls that were made again.
    public private(set) var retries = 0
    /// Calls that wait for their turn.
    public internal(set) var waiting = 0

    /// Nothing was called yet.
    public init() {}

    /// The labels of what came of a call: the class of its status, or `none` where there was no answer.
    public static let codes = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"]

    /// How many calls were answered so, by the place of the label in ``codes``.
    public func count(code index: Int) -> Int { answers[index] }

    /// - Parameter status: nil where there was no answer.
    mutating func add(status: Int?, nanoseconds: UInt64) {
        answers[min(max((status ?? 0) / 100, 0), 5)] += 1
        durations.record(nanoseconds: nanoseconds)
    }

    mutating func addRetry() { retries += 1 }
}

/// Counts calls, whatever thread they are made on.
final class GoogleCounter: Sendable {
    private let counted = Mutex(GoogleFigures())

    var figures: GoogleFigures { counted.withLock { $0 } }

    func add(status: Int?, nanoseconds: UInt64) { counted.withLock { $0.add(status: status, nanoseconds: nanoseconds) } }
    func addRetry() { counted.withLock { $0.addRetry() } }
}
