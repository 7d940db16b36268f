import Testing

@testable import Tokens

/// One spelling for each text of bytes.
@Suite struct Base64URLTests {
    @Test func readsWhatIsWritten() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 41 &+ length) }
            #expect(Base64URL.decode(ArraySlice(base64URL(bytes).utf8)) == bytes)
        }
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AAB", "AA==", "A+", "A/", "A A", "AA\n", "é", "AA."])
    func refusesTheRest(text: String) {
        #expect(Base64URL.decode(ArraySlice(text.utf8)) == nil)
    }

    @Test func eachPairHasOneMeaning() {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        var seen: Set<[UInt8]> = []
        for first in letters {
            for second in letters {
                guard let bytes = Base64URL.decode(ArraySlice("\(first)\(second)".utf8)) else { continue }
                #expect(seen.insert(bytes).inserted)
            }
        }
        #expect(seen.count == 256)
    }
}
