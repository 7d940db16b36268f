import Glibc

/// A moment that an event has, in milliseconds since 1970.
struct EventTime {
    var milliseconds: Int64

    static func now() -> EventTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return EventTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// `2026-01-31T12:00:00.000Z`.
    var rfc3339: String {
        // Rounded down, also before 1970.
        let fraction = (milliseconds % 1000 + 1000) % 1000
        var seconds = time_t((milliseconds - fraction) / 1000)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        let date = "\(fields.tm_year + 1900)-\(Self.two(fields.tm_mon + 1))-\(Self.two(fields.tm_mday))"
        let time = "\(Self.two(fields.tm_hour)):\(Self.two(fields.tm_min)):\(Self.two(fields.tm_sec))"
        return "\(date)T\(time).\("\(fraction + 1000)".dropFirst())Z"
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
