import EventLoop
import Synchronization

/// Says that something need not be done any more. Can be used from any thread.
public final class Cancellation: Sendable {
    private let flag = Atomic(false)

    /// Not cancelled yet.
    public init() {}

    /// Whether it was cancelled.
    public var isSet: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }
}

/// Ends the scan of many rows where nobody waits for the result any more, where its time is over, or where the namespace must let go of its
/// files. Belongs to one thread.
final class ScanGuard {
    private let cancellation: Cancellation?
    private let haste: Cancellation
    private let deadline: UInt64
    /// Rows that were looked at.
    private(set) var rows = 0
    /// The reason why the scan was ended, if it was.
    private(set) var failure: DatabaseError?
    /// Whether the scan goes on without it: the rest of a long answer has other bounds.
    var isOver = false

    /// - Parameters:
    ///   - haste: the namespace's own.
    ///   - deadline: in nanoseconds of `CLOCK_MONOTONIC`; 0 for none.
    init(_ cancellation: Cancellation?, haste: Cancellation, deadline: UInt64) {
        self.cancellation = cancellation
        self.haste = haste
        self.deadline = deadline
    }

    /// Counts a row; whether to go on with the next one.
    @inline(__always)
    func goesOn() -> Bool {
        rows &+= 1
        return rows & 0xFF != 0 || look()
    }

    private func look() -> Bool {
        if isOver { return true }
        if cancellation?.isSet == true {
            failure = .cancelled
        } else if haste.isSet {
            failure = .changingHands
        } else if deadline != 0, EventLoop.monotonicNanoseconds() >= deadline {
            failure = .scanTooSlow
        }
        return failure == nil
    }
}

extension DatabaseError {
    /// Its client has gone.
    static let cancelled = DatabaseError(.unavailable, "The client does not wait any more: nothing was done.")
    /// Too many rows were to be looked at.
    static let scanTooSlow = DatabaseError(.timedOut, "The request took longer than it may.")
    /// Too many requests that may take long wait for their turn.
    static let tooManyWait = DatabaseError(
        .unavailable, "Too many queries, shallow reads or requests with an ETag wait for this database; try again")
}
