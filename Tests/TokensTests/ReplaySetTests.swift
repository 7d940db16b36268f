import Testing

@testable import Tokens

/// Tokens that count once.
@Suite struct ReplaySetTests {
    private func token(_ number: Int) -> [UInt8] { Array("token \(number)".utf8) }

    @Test func theSecondUseIsSeen() {
        let set = ReplaySet(clock: FakeClock().clock)
        #expect(!set.consume(token(1), expires: noon + 60))
        #expect(!set.consume(token(2), expires: noon + 60))
        #expect(set.consume(token(1), expires: noon + 60))
        #expect(set.consume(token(2), expires: noon + 60))
    }

    @Test func oneOfManyAtOnceIsTheFirst() async {
        let set = ReplaySet(clock: FakeClock().clock)
        let token = token(1)
        let firsts = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { !set.consume(token, expires: noon + 60) } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(firsts == 1)
    }

    @Test func isForgottenAfterItHasExpired() {
        let clock = FakeClock()
        let set = ReplaySet(clock: clock.clock)
        #expect(!set.consume(token(1), expires: noon + 60))
        clock.advance(60 + TokenRules.clockSkewSecondsMax - 1)
        #expect(set.consume(token(1), expires: noon + 60))
        clock.advance(120)
        #expect(!set.consume(token(2), expires: noon + 10_000))
        #expect(set.count == 1)
    }

    @Test func isBounded() {
        let set = ReplaySet(tokensMax: 100, clock: FakeClock().clock)
        for number in 0..<1000 { #expect(!set.consume(token(number), expires: noon + 10_000 - number)) }
        #expect(set.count == 100)
        // What goes first is what expires first.
        #expect(set.consume(token(0), expires: noon + 10_000))
    }
}
