import Glibc

/// A progress line for long operations. On a terminal only.
final class Progress {
    private let title: String
    private let total: Int?
    private let isShown: Bool
    private let begin: UInt64
    private var lastShown: UInt64 = 0

    private static let intervalNanoseconds: UInt64 = 100_000_000
    /// The delay before the line is shown.
    private static let patienceNanoseconds: UInt64 = 300_000_000

    /// - Parameter total: bytes in total, if known.
    init(_ title: String, total: Int?) {
        self.title = title
        self.total = total
        isShown = Terminal.showsProgress
        begin = Self.now
    }

    /// Shows the number of finished bytes, at a limited rate.
    func update(_ bytes: Int) {
        guard isShown else { return }
        let now = Self.now
        guard now - begin > Self.patienceNanoseconds, now - lastShown > Self.intervalNanoseconds else { return }
        lastShown = now
        Terminal.showProgress(line(bytes))
    }

    /// Removes the line.
    func end() {
        if isShown, lastShown > 0 { Terminal.endProgress() }
    }

    /// Seconds since the start.
    var seconds: Double { Double(Self.now - begin) / 1e9 }

    private func line(_ bytes: Int) -> String {
        let rate = Double(bytes) / max(seconds, 0.001)
        guard let total, total > 0 else { return "\(title)  \(ByteCount.text(bytes))  \(ByteCount.text(Int(rate)))/s" }
        let share = min(1, Double(bytes) / Double(total))
        let left = rate > 0 ? Int(Double(total - bytes) / rate) : 0
        let figures =
            "\(Int(share * 100))%  \(ByteCount.text(bytes)) of \(ByteCount.text(total))  \(ByteCount.text(Int(rate)))/s  "
            + "\(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left"
        let width = min(30, Terminal.columns - title.count - figures.count - 7)
        guard width >= 5 else { return "\(title)  \(figures)" }
        let filled = Int(share * Double(width))
        return "\(title)  [\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))]  \(figures)"
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Formats byte counts: at most three digits before the point, and one after it.
enum ByteCount {
    static func text(_ bytes: Int) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var value = Double(bytes)
        var unit = 0
        while value >= 999.95, unit < 4 {
            value /= 1000
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(["B", "kB", "MB", "GB", "TB"][unit])"
    }
}

/// Measures a duration.
struct Stopwatch {
    private let begin = Stopwatch.now

    /// Seconds since its creation.
    var seconds: Double { Double(Stopwatch.now - begin) / 1e9 }

    /// Formats seconds: `12 ms`, `4.2 s`, `2 min 5 s`.
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

/// Formats the age of a time.
enum Age {
    /// Such as `3 minutes ago`; empty if the text is not a time (RFC 3339, in UTC).
    static func text(_ time: String, now: Int = Int(Glibc.time(nil))) -> String {
        // Date, T, time; a fraction and Z follow the seconds.
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
