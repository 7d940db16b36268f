import Glibc

/// The clock of the boundary: nanoseconds of `CLOCK_MONOTONIC`.
enum MonotonicTime {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// How long it is until `time`; negative when it has passed.
    static func duration(until time: UInt64) -> Duration {
        .nanoseconds(Int64(bitPattern: time &- now))
    }
}
