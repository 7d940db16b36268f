public import Metrics

/// What the writer of a namespace counts: plain numbers, on its thread only.
public struct WriterFigures: Sendable {
    /// What was asked for.
    public enum Operation: Int, CaseIterable, Sendable {
        case set, update, setPriority

        init(_ operation: WriteRequest.Operation) {
            self =
                switch operation {
                case .set: .set
                case .update: .update
                case .setPriority: .setPriority
                }
        }
    }

    /// What came of it.
    public enum Outcome: Int, CaseIterable, Sendable {
        /// It is durable.
        case committed
        /// The node had another etag.
        case conflict
        /// The rules, or a limit, were against it.
        case refused
        /// The store could not be written to.
        case failed
    }

    private var writes = InlineArray<12, Int>(repeating: 0)
    /// Those of the transaction that is not durable yet.
    private var pending = InlineArray<12, Int>(repeating: 0)
    private var pendingCount = 0

    /// How many writes shared a transaction.
    public private(set) var batches = SizeHistogram()
    /// How long transactions took to become durable.
    public private(set) var commits = DurationHistogram()
    /// Who is told of changes.
    public internal(set) var listeners = 0
    /// Events that wait for their functions.
    public internal(set) var waitingEvents = 0
    /// Dead letters that are kept.
    public internal(set) var deadLetters = 0
    /// What the namespace takes on the disk, or in memory.
    public internal(set) var storedBytes = 0

    /// Nothing was done yet.
    public init() {}

    /// How many writes of a kind came to this.
    public func count(_ operation: Operation, _ outcome: Outcome) -> Int { writes[Self.place(operation, outcome)] }

    /// A write that this turn's transaction is to make durable, or that changed nothing.
    mutating func add(_ operation: WriteRequest.Operation, _ outcome: WriteOutcome) {
        let outcome: Outcome =
            switch outcome {
            case .committed: .committed
            case .conflict: .conflict
            case .refused: .refused
            }
        pending[Self.place(Operation(operation), outcome)] += 1
        if outcome == .committed { pendingCount += 1 }
    }

    /// A write that was not even tried.
    mutating func addFailed(_ operation: WriteRequest.Operation) { writes[Self.place(Operation(operation), .failed)] += 1 }

    /// The transaction has ended, durable after so many nanoseconds, or with nothing to make durable.
    mutating func didCommit(nanoseconds: UInt64?) {
        if let nanoseconds {
            commits.record(nanoseconds: nanoseconds)
            batches.record(pendingCount)
        }
        for index in pending.indices { writes[index] += pending[index] }
        forgetPending()
    }

    /// The transaction was taken back, with every write in it.
    mutating func didFail() {
        for operation in Operation.allCases {
            for outcome in Outcome.allCases { writes[Self.place(operation, .failed)] += pending[Self.place(operation, outcome)] }
        }
        forgetPending()
    }

    private mutating func forgetPending() {
        pending = InlineArray(repeating: 0)
        pendingCount = 0
    }

    /// Adds another namespace's.
    public mutating func merge(_ other: WriterFigures) {
        for index in writes.indices { writes[index] += other.writes[index] }
        batches.merge(other.batches)
        commits.merge(other.commits)
        listeners += other.listeners
        waitingEvents += other.waitingEvents
        deadLetters += other.deadLetters
        storedBytes += other.storedBytes
    }

    private static func place(_ operation: Operation, _ outcome: Outcome) -> Int { operation.rawValue * 4 + outcome.rawValue }
}
