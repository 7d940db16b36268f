import FuzzSupport
import Testing
import Tree

@Suite struct PushIDTests {
    /// Answers with the same bits for ever.
    private struct Constant: RandomNumberGenerator {
        var bits: UInt64
        mutating func next() -> UInt64 { bits }
    }

    @Test func keysHaveTwentyCharacters() {
        var pushID = PushID()
        let key = pushID.next(now: 1_700_000_000_000)
        #expect(key.utf8.count == 20 && key.hasPrefix("-NjEtLV-") && Path.isValid(key: key))
        #expect(key.wholeMatch(of: /[-0-9A-Z_a-z]{20}/) != nil)
    }

    @Test func theTimeIsInFront() {
        var zero = Constant(bits: 0)
        var pushID = PushID()
        #expect(pushID.next(now: 0, using: &zero) == "--------------------")
        #expect(pushID.next(now: 1, using: &zero) == "-------0------------")
        #expect(pushID.next(now: 64, using: &zero) == "------0-------------")
    }

    @Test func withinAMillisecondTheyCountOn() {
        var pushID = PushID()
        var random = Constant(bits: .max)
        #expect(pushID.next(now: 5, using: &random) == "-------4zzzzzzzzzzzz")
        // All random bits are used up: the key goes on where the next millisecond begins.
        #expect(pushID.next(now: 5, using: &random) == "-------5------------")
        #expect(pushID.next(now: 5, using: &random) == "-------5-----------0")
        #expect(pushID.next(now: 6, using: &random) == "-------5-----------1")
        #expect(pushID.next(now: 7, using: &random) == "-------6zzzzzzzzzzzz")
    }

    @Test func keysRiseWhateverTheClockDoes() {
        var pushID = PushID()
        var random = SeededRandom(seed: 8)
        var last = ""
        for _ in 0..<20_000 {
            let key = pushID.next(now: 1_700_000_000_000 + Int64(random.below(50)) - 25, using: &random)
            #expect(KeyOrder.precedes(last, key))
            last = key
        }
    }
}
