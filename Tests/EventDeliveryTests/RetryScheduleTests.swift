import Testing

@testable import EventDelivery

@Suite("Retry schedule")
struct RetryScheduleTests {
    @Test("each wait is about twice as long as the one before, from 10 seconds to 10 minutes")
    func grows() {
        var generator = SystemRandomNumberGenerator()
        let schedule = RetrySchedule()
        let ranges: [ClosedRange<Int64>] = [
            10_000...15_000, 20_000...30_000, 40_000...60_000, 80_000...120_000, 160_000...240_000, 320_000...480_000, 450_000...600_000,
        ]
        for _ in 0..<200 {
            for (index, range) in ranges.enumerated() { #expect(range.contains(schedule.delay(afterAttempt: index + 1, using: &generator))) }
            for attempt in [8, 100, Int.max] { #expect((450_000...600_000).contains(schedule.delay(afterAttempt: attempt, using: &generator))) }
        }
    }

    @Test("chance spreads the waits")
    func spreads() {
        var generator = SystemRandomNumberGenerator()
        let waits = (0..<100).map { _ in RetrySchedule().delay(afterAttempt: 9, using: &generator) }
        #expect(Set(waits).count > 50)
    }

    @Test("small and strange settings stay within themselves", arguments: [(1, 1), (1, 3), (5, 1), (0, 0), (7, 7)] as [(Int64, Int64)])
    func bounds(_ settings: (Int64, Int64)) {
        var generator = SystemRandomNumberGenerator()
        let schedule = RetrySchedule(firstMilliseconds: settings.0, mostMilliseconds: settings.1)
        for attempt in 1...70 { #expect((1...max(1, settings.1)).contains(schedule.delay(afterAttempt: attempt, using: &generator))) }
    }

    @Test("an event is tried for a day, of the first generation for a week, or as long as configured")
    func ages() {
        #expect(RetrySchedule().ageMilliseconds(generation: 2) == 86_400_000)
        #expect(RetrySchedule().ageMilliseconds(generation: 1) == 7 * 86_400_000)
        #expect(RetrySchedule(ageMilliseconds: 5).ageMilliseconds(generation: 1) == 5)
    }
}
