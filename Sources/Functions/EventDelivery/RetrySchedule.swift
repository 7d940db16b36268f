/// When a failed event is tried again: later each time, and not all at once (spec functions 8.6).
struct RetrySchedule: Sendable {
    /// The least time to the second attempt.
    var firstMilliseconds: Int64 = 10_000
    /// The longest time between two attempts.
    var mostMilliseconds: Int64 = 600_000
    /// How old an event may become; nil for what its function's generation gives it.
    var ageMilliseconds: Int64?

    /// How long to wait after the attempt of this number, from 1: twice as long each time, and up to a half more by chance. At
    /// the limit it is the last quarter that is left to chance.
    func delay(afterAttempt attempt: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        let first = max(1, min(firstMilliseconds, mostMilliseconds))
        let doublings = min(max(0, attempt - 1), 40)
        let grown = first.multipliedReportingOverflow(by: 1 << Int64(doublings))
        let wanted = grown.overflow ? mostMilliseconds : grown.partialValue
        let low = max(first, min(wanted, mostMilliseconds - mostMilliseconds / 4))
        return Int64.random(in: low...max(low, min(low + low / 2, mostMilliseconds)), using: &generator)
    }

    /// How long an event of a function of this generation is tried: 24 hours, of the first generation 7 days.
    func ageMilliseconds(generation: Int) -> Int64 { ageMilliseconds ?? (generation == 1 ? 7 : 1) * 24 * 3600 * 1000 }
}
