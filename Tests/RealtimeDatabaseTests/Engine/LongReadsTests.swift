import Testing

@testable import EventLoop
@testable import RealtimeDatabase

@Suite("Who reads long answers")
struct LongReadsTests {
    @Test("a client has so many seats, and gets one back when it leaves")
    func counts() {
        let reads = LongReads(perClientMax: 2)
        let (a, b) = (NetworkAddress(bits: 1), NetworkAddress(bits: 2))
        var first = reads.enter(a)
        let second = reads.enter(a)
        #expect(first != nil && second != nil && reads.enter(a) == nil)
        #expect(reads.enter(b) != nil)
        first = nil
        #expect(first == nil && reads.enter(a) != nil)
    }
}
