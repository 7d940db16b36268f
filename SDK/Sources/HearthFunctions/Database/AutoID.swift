import Glibc
internal import Synchronization

/// Makes keys that sort in the order of their making: eight characters of time, twelve at random (spec database 4).
struct AutoID {
    /// In the order of ASCII, so that texts sort as the numbers do.
    private static let digits = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
    private static let shared = Mutex(AutoID())

    private var milliseconds: Int64 = 0
    private var random: [UInt8] = []

    /// A key that sorts after every one that this process made before.
    static func next() -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        return shared.withLock { $0.next(now: now) }
    }

    /// The key after the last one, at a time that may have stood still or gone back.
    mutating func next(now: Int64) -> String {
        if now > milliseconds || random.isEmpty {
            milliseconds = now
            random = (0..<12).map { _ in UInt8.random(in: 0..<64) }
        } else if !increment() {
            // All of this millisecond's keys after the first are used: the next millisecond's follow them.
            milliseconds += 1
        }
        let time = stride(from: 42, through: 0, by: -6).map { UInt8(truncatingIfNeeded: milliseconds >> $0) & 63 }
        return String(decoding: (time + random).map { Self.digits[Int($0)] }, as: UTF8.self)
    }

    /// Adds one to the random part. False when it has gone round to the first.
    private mutating func increment() -> Bool {
        for index in random.indices.reversed() {
            random[index] = (random[index] + 1) & 63
            if random[index] != 0 { return true }
        }
        return false
    }
}
