import Testing

@testable import RealtimeDatabase

@Suite("What clients hold for long")
struct SeatsTests {
    @Test("each key has so many seats, and gets one back when it ends or is let go of")
    func counts() {
        let seats = Seats<String>(countMax: 2)
        var first = seats.take("a")
        let second = seats.take("a")
        #expect(first != nil && second != nil && seats.take("a") == nil)
        let other = seats.take("b")
        #expect(other != nil)
        first = nil
        #expect(first == nil)
        let third = seats.take("a")
        #expect(third != nil && seats.take("a") == nil)
        // Ending it twice gives one seat back.
        second?.end()
        second?.end()
        let fourth = seats.take("a")
        #expect(fourth != nil && seats.take("a") == nil)
        withExtendedLifetime((second, third, other)) {}
    }
}
