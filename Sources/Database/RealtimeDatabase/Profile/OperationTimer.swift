import EventLoop

/// Measures how long an operation waits and how long it takes, in nanoseconds of `CLOCK_MONOTONIC`.
package struct OperationTimer: Sendable {
    private let asked = EventLoop.monotonicNanoseconds()
    private var begun: UInt64?
    private var paused: UInt64?
    /// The total time of pauses since the operation began.
    private var idle: UInt64 = 0

    /// Ends the wait.
    mutating func begin() { begun = EventLoop.monotonicNanoseconds() }

    /// Begins a pause of the operation.
    mutating func pause() { paused = EventLoop.monotonicNanoseconds() }

    /// Ends the pause.
    mutating func resume() {
        guard let paused else { return }
        idle += EventLoop.monotonicNanoseconds() - paused
        self.paused = nil
    }

    /// The duration of the wait; nil for operations that do not wait.
    var waited: UInt64? { begun.map { $0 - asked } }

    /// The duration until now, without wait and pauses.
    var elapsed: UInt64 { EventLoop.monotonicNanoseconds() - (begun ?? asked) - idle }
}
