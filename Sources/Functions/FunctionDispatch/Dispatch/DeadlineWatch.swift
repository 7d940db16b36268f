import EventLoop

/// Calls a function when something is due. A single timer serves all invocations: it is set to the earliest deadline that was noted, and
/// `expire` returns the next one. So an invocation that is answered in time costs one comparison.
final class DeadlineWatch {
    private let loop: EventLoop
    private var timer: Timer?
    private var nextLook = UInt64.max

    /// - Parameter expire: fails the invocations that are due at the given time, and returns when to call it again.
    init(loop: EventLoop, expire: @escaping (UInt64) -> UInt64) {
        self.loop = loop
        timer = Timer(loop: loop) { [unowned self] in
            nextLook = .max
            note(expire(self.loop.nowMilliseconds))
        }
    }

    /// Schedules a call of `expire` at `milliseconds`, unless an earlier one is scheduled.
    @inline(__always)
    func note(_ milliseconds: UInt64) {
        if milliseconds < nextLook { schedule(milliseconds) }
    }

    private func schedule(_ milliseconds: UInt64) {
        nextLook = milliseconds
        let now = loop.nowMilliseconds
        // At most one call in 5 ms.
        timer?.start(afterMilliseconds: max(5, milliseconds > now ? milliseconds - now : 0))
    }

    func stop() { timer = nil }
}
