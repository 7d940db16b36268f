import EventLoop

/// How long an operation waits, and how long it takes. Nanoseconds of `CLOCK_MONOTONIC`.
struct OperationTimer: Sendable {
    private let asked = EventLoop.monotonicNanoseconds()
    private var begun: UInt64?
    private var paused: UInt64?
    /// How long nothing was done since it began.
    private var idle: UInt64 = 0

    /// The wait is over.
    mutating func begin() { begun = EventLoop.monotonicNanoseconds() }

    /// Nothing is done for the operation from now on.
    mutating func pause() { paused = EventLoop.monotonicNanoseconds() }

    /// It goes on.
    mutating func resume() {
        guard let paused else { return }
        idle += EventLoop.monotonicNanoseconds() - paused
        self.paused = nil
    }

    /// How long it waited; nil for what waits for nothing.
    var waited: UInt64? { begun.map { $0 - asked } }

    /// How long it takes, up to now.
    var elapsed: UInt64 { EventLoop.monotonicNanoseconds() - (begun ?? asked) - idle }
}
