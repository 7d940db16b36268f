import EventLoop

/// Looks for what is due. One timer for all invocations: it is set to the earliest deadline that was noted, and each look
/// finds the next one, so that an invocation that is answered in time costs one comparison.
final class DeadlineWatch {
    private let loop: EventLoop
    private var timer: Timer?
    private var nextLook = UInt64.max

    /// - Parameter expire: fails what is due at the given time, and says when to look again.
    init(loop: EventLoop, expire: @escaping (UInt64) -> UInt64) {
        self.loop = loop
        timer = Timer(loop: loop) { [unowned self] in
            nextLook = .max
            note(expire(self.loop.nowMilliseconds))
        }
    }

    /// Something is due at `milliseconds`.
    @inline(__always)
    func note(_ milliseconds: UInt64) {
        if milliseconds < nextLook { schedule(milliseconds) }
    }

    private func schedule(_ milliseconds: UInt64) {
        nextLook = milliseconds
        let now = loop.nowMilliseconds
        // Never more often than every 5 ms, whatever is due.
        timer?.start(afterMilliseconds: max(5, milliseconds > now ? milliseconds - now : 0))
    }

    func stop() { timer = nil }
}
