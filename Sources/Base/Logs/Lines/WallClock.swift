import Glibc

/// A date and time in UTC.
package struct WallClock: Sendable {
    private var seconds: time_t
    private var microseconds: Int

    package static func now() -> WallClock {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallClock(seconds: time.tv_sec, microseconds: time.tv_nsec / 1000)
    }

    private init(seconds: time_t, microseconds: Int) {
        self.seconds = seconds
        self.microseconds = microseconds
    }

    /// A time since 1970.
    package init(unixMilliseconds: Int64) {
        self.init(seconds: time_t(unixMilliseconds / 1000), microseconds: Int(unixMilliseconds % 1000) * 1000)
    }

    /// Milliseconds since 1970.
    package var unixMilliseconds: Int64 { Int64(seconds) * 1000 + Int64(microseconds / 1000) }

    /// Microseconds since 1970.
    package var unixMicroseconds: Int64 { Int64(seconds) * 1_000_000 + Int64(microseconds) }

    /// Seconds since 1970.
    package static var unixSeconds: Int64 { Int64(now().seconds) }

    /// The date and time as `2026-01-31T12:00:00.000Z` (RFC 3339).
    package var rfc3339: String {
        let time = fields
        let date = "\(time.tm_year + 1900)-\(Self.two(time.tm_mon + 1))-\(Self.two(time.tm_mday))"
        return "\(date)T\(timeOfDay)Z"
    }

    /// The time as `12:00:00.000`.
    var timeOfDay: String {
        let time = fields
        let fraction = "\(microseconds / 1000 + 1000)".dropFirst()
        return "\(Self.two(time.tm_hour)):\(Self.two(time.tm_min)):\(Self.two(time.tm_sec)).\(fraction)"
    }

    private var fields: tm {
        var time = tm()
        var seconds = seconds
        gmtime_r(&seconds, &time)
        return time
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
