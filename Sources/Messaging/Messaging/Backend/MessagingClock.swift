import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The clock for all expirations: of messages, registrations, access tokens. Tests set it forward.
public final class MessagingClock: Sendable {
    private let offset = Atomic<Int64>(0)
    /// The time at which it was stopped; 0 while it runs.
    private let stopped = Atomic<Int64>(0)

    /// A clock that shows the system's time.
    public init() {}

    /// Milliseconds since 1970.
    public var now: Int64 {
        let stopped = stopped.load(ordering: .relaxed)
        return (stopped > 0 ? stopped : Self.calendar()) + offset.load(ordering: .relaxed)
    }

    private static func calendar() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Sets it forward, or back for a negative number.
    func advance(milliseconds: Int64) { offset.add(milliseconds, ordering: .relaxed) }

    /// Stops the clock, or lets it run again.
    func stop(_ isStopped: Bool) { stopped.store(isStopped ? Self.calendar() : 0, ordering: .relaxed) }

    /// Sets it to the system's time.
    func reset() {
        offset.store(0, ordering: .relaxed)
        stopped.store(0, ordering: .relaxed)
    }
}
