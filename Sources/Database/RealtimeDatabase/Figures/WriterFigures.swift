public import Metrics

/// The metrics of a namespace's writer: plain numbers, used on its thread only.
public struct WriterFigures: Sendable {
    /// The kind of write.
    public enum Operation: Int, CaseIterable, Sendable {
        case set, update, setPriority
    }

    /// The outcome of a write.
    public enum Outcome: Int, CaseIterable, Sendable {
        /// The write is durable.
        case committed
        /// The node had another etag than required.
        case conflict
        /// The rules or a limit did not allow the write.
        case refused
        /// The store could not be written to.
        case failed
    }

    private var writes = InlineArray<12, Int>(repeating: 0)
    /// The writes of the transaction that is not durable yet.
    private var pending = InlineArray<12, Int>(repeating: 0)
    private var pendingCount = 0

    /// The numbers of writes in transactions.
    public private(set) var batches = SizeHistogram()
    /// The durations of commits.
    public private(set) var commits = DurationHistogram()
    /// The number of listeners.
    public internal(set) var listeners = 0
    /// The number of events that wait for their functions.
    public internal(set) var waitingEvents = 0
    /// The number of stored dead letters.
    public internal(set) var deadLetters = 0
    /// The size of the namespace on the disk, or in memory.
    public internal(set) var storedBytes = 0

    /// Creates metrics without any writes.
    public init() {}

    /// The number of writes by kind and outcome.
    public func count(_ operation: Operation, _ outcome: Outcome) -> Int { writes[Self.place(operation, outcome)] }

    /// Adds a write to the current transaction, or one that changed nothing.
    mutating func add(_ operation: Operation, _ outcome: Outcome) {
        pending[Self.place(operation, outcome)] += 1
        if outcome == .committed { pendingCount += 1 }
    }

    /// Adds a write that was not attempted.
    mutating func addFailed(_ operation: Operation) { writes[Self.place(operation, .failed)] += 1 }

    /// Counts the writes of the transaction, and the duration of its commit if there was anything to commit.
    mutating func didCommit(nanoseconds: UInt64?) {
        if let nanoseconds {
            commits.record(nanoseconds: nanoseconds)
            batches.record(pendingCount)
        }
        for index in pending.indices { writes[index] += pending[index] }
        forgetPending()
    }

    /// Counts all writes of the transaction, which was rolled back, as failed.
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

    /// Adds the metrics of another namespace.
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
