/// The delays before attempts to send to a push service: the delay that the service asks for, or else 1, 2, 4, ... up to 60 seconds, each
/// multiplied by a random factor from 0.5 to 1.5 (spec messaging 2.6).
struct RetryTimes: Sendable {
    private var attempt = 0

    static let waitMillisecondsMax: UInt64 = 60_000
    private static let askedSecondsMax = 86_400

    /// Returns the delay before the next attempt.
    ///
    /// - Parameter asked: seconds that the service asked for.
    mutating func next(asked: Int?) -> UInt64 {
        defer { attempt += 1 }
        return Self.wait(attempt: attempt, asked: asked)
    }

    /// The delay after `attempt` earlier attempts. A requested delay of 0 counts as none.
    static func wait(attempt: Int, asked: Int? = nil) -> UInt64 {
        if let asked, asked > 0 { return UInt64(min(asked, askedSecondsMax)) * 1000 }
        let base = min(waitMillisecondsMax, 1000 << UInt64(min(max(0, attempt), 10)))
        return UInt64(Double(base) * Double.random(in: 0.5...1.5))
    }
}
