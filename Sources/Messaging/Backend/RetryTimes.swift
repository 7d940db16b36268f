/// When a message is offered to a push service again: after what the service asks for, else after 1, 2, 4, ... up to 60 seconds,
/// each times a half to one and a half (spec messaging 2.6).
struct RetryTimes: Sendable {
    private var attempt = 0

    static let waitMillisecondsMax: UInt64 = 60_000

    /// The wait before the next attempt.
    ///
    /// - Parameter asked: seconds that the service asked for.
    mutating func next(asked: Int?) -> UInt64 {
        let base = min(Self.waitMillisecondsMax, 1000 << UInt64(min(attempt, 10)))
        attempt += 1
        if let asked { return UInt64(max(0, min(asked, 86_400))) * 1000 }
        return UInt64(Double(base) * Double.random(in: 0.5...1.5))
    }
}
