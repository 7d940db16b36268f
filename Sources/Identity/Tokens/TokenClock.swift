import Glibc

/// Where this room reads the time: whole seconds since 1970, as tokens carry them. Tests bring their own.
public struct TokenClock: Sendable {
    private let read: @Sendable () -> Int

    /// A clock that `read` stands for; called from any thread.
    public init(_ read: @escaping @Sendable () -> Int) { self.read = read }

    /// Whole seconds since 1970.
    public func now() -> Int { read() }

    /// The machine's clock.
    public static let system = TokenClock {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec
    }
}
