import EventLoop
import Synchronization

/// A flag that cancels an operation. Can be used from any thread.
public final class Cancellation: Sendable {
    private let flag = Atomic(false)

    /// Creates a flag that is not set.
    public init() {}

    /// Whether it was cancelled.
    public var isSet: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }
}

/// Ends the scan of many rows if its result is no longer needed, if it takes too long, or if the namespace must release its files. Belongs
/// to one thread.
final class ScanGuard {
    /// The reasons to end a scan.
    enum End {
        /// The result is no longer needed.
        case cancelled
        /// The namespace must release its files.
        case hurried
        /// The scan takes too long.
        case tooSlow
    }

    private let cancellation: Cancellation?
    private let haste: Cancellation
    private let deadline: UInt64
    /// The number of visited rows.
    private(set) var rows = 0
    /// The reason why the scan was ended; nil if it was not.
    private(set) var end: End?
    /// Whether the guard is switched off, because the rest of a long answer has other limits.
    var isOver = false

    /// - Parameters:
    ///   - haste: the flag of the namespace.
    ///   - deadline: in nanoseconds of `CLOCK_MONOTONIC`; 0 for none.
    init(_ cancellation: Cancellation?, haste: Cancellation, deadline: UInt64) {
        self.cancellation = cancellation
        self.haste = haste
        self.deadline = deadline
    }

    /// Counts a row. Returns whether to continue.
    @inline(__always)
    func goesOn() -> Bool {
        rows &+= 1
        return rows & 0xFF != 0 || look()
    }

    private func look() -> Bool {
        if isOver { return true }
        if cancellation?.isSet == true {
            end = .cancelled
        } else if haste.isSet {
            end = .hurried
        } else if deadline != 0, EventLoop.monotonicNanoseconds() >= deadline {
            end = .tooSlow
        }
        return end == nil
    }
}
