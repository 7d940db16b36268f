import Glibc

/// How long something takes.
struct Stopwatch {
    private let begin = Stopwatch.now

    /// Seconds since it was made.
    var seconds: Double { Double(Stopwatch.now - begin) / 1e9 }

    /// Seconds for people: `12 ms`, `4.2 s`, `2 min 5 s`.
    static func text(_ seconds: Double) -> String {
        if seconds < 0.9995 { return "\(Int((seconds * 1000).rounded())) ms" }
        let tenths = Int((seconds * 10).rounded())
        if tenths < 600 { return "\(tenths / 10).\(tenths % 10) s" }
        let whole = Int(seconds.rounded())
        return "\(whole / 60) min \(whole % 60) s"
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// How long ago something was.
enum Age {
    /// Such as `3 minutes ago`; empty where the text is no time (RFC 3339, in UTC).
    static func text(_ time: String, now: Int = Int(Glibc.time(nil))) -> String {
        // A date, T, a time; what follows the seconds is a fraction and Z.
        let fields = time.prefix(19).split { "-T:".contains($0) }.compactMap { Int32($0) }
        guard fields.count == 6 else { return "" }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (fields[0] - 1900, fields[1] - 1, fields[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (fields[3], fields[4], fields[5])
        let seconds = max(0, now - timegm(&parts))
        switch seconds {
        case ..<60: return counted(seconds, "second")
        case ..<3600: return counted(seconds / 60, "minute")
        case ..<86400: return counted(seconds / 3600, "hour")
        default: return counted(seconds / 86400, "day")
        }
    }

    private static func counted(_ count: Int, _ unit: String) -> String { "\(count) \(unit)\(count == 1 ? "" : "s") ago" }
}
