import Glibc

/// A line that shows how far a long operation is. On a terminal only.
final class Progress {
    private let title: String
    private let total: Int?
    private let isShown: Bool
    private let begin: UInt64
    private var lastShown: UInt64 = 0

    private static let intervalNanoseconds: UInt64 = 100_000_000
    /// What is over before anybody would wonder needs no line.
    private static let patienceNanoseconds: UInt64 = 300_000_000

    /// - Parameter total: bytes in all, where that is known.
    init(_ title: String, total: Int?) {
        self.title = title
        self.total = total
        isShown = Terminal.showsProgress
        begin = Self.now
    }

    /// Shows that so many bytes are done, though not more often than an eye can follow.
    func update(_ bytes: Int) {
        guard isShown else { return }
        let now = Self.now
        guard now - begin > Self.patienceNanoseconds, now - lastShown > Self.intervalNanoseconds else { return }
        lastShown = now
        Terminal.showProgress(line(bytes))
    }

    /// Takes the line away.
    func end() {
        if isShown, lastShown > 0 { Terminal.endProgress() }
    }

    /// Seconds since the beginning.
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

/// Bytes for people: at most three digits before the point, and one behind it.
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
