/// The times of retries after failures: with growing delays and random variation (spec functions 8.6).
struct RetrySchedule: Sendable {
    /// The shortest delay before the second attempt.
    var firstMilliseconds: Int64 = 10_000
    /// The longest delay between two attempts.
    var mostMilliseconds: Int64 = 600_000
    /// The age after which an event is not retried; nil for the default of the function's generation.
    var ageMilliseconds: Int64?

    /// The delay after attempt number `attempt`, from 1. It doubles with each attempt, plus a random part of up to a half. Near the limit, the
    /// random part is the last quarter of the limit.
    func delay(afterAttempt attempt: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        let first = max(1, min(firstMilliseconds, mostMilliseconds))
        let doublings = min(max(0, attempt - 1), 40)
        let grown = first.multipliedReportingOverflow(by: 1 << Int64(doublings))
        let wanted = grown.overflow ? mostMilliseconds : grown.partialValue
        let low = max(first, min(wanted, mostMilliseconds - mostMilliseconds / 4))
        return Int64.random(in: low...max(low, min(low + low / 2, mostMilliseconds)), using: &generator)
    }

    /// How long an event is retried by default: 7 days for the first generation, 24 hours for the second.
    func ageMilliseconds(generation: Int) -> Int64 { ageMilliseconds ?? (generation == 1 ? 7 : 1) * 24 * 3600 * 1000 }
}
