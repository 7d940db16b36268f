import EventLoop

/// Measures the durations of successive steps.
struct LapTimer {
    private var last = EventLoop.monotonicNanoseconds()

    /// Milliseconds since the last lap.
    mutating func lap() -> Double {
        let now = EventLoop.monotonicNanoseconds()
        defer { last = now }
        return Double(now - last) / 1_000_000
    }
}
