import HearthBytes
import Testing

/// One spelling for each text of bytes.
@Suite struct Base64Tests {
    /// RFC 4648 section 10.
    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy")])
    func writesTheVectorsOfTheRFC(_ text: String, _ letters: String) {
        #expect(Base64.text(Array(text.utf8)) == letters)
        #expect(Base64URL.text(Array(text.utf8)) == letters.filter { $0 != "=" })
    }

    @Test func theLastLettersDependOnWhereTheyStand() {
        #expect(Base64.text([0xFB, 0xEF, 0xFF]) == "++//")
        #expect(Base64URL.text([0xFB, 0xEF, 0xFF]) == "--__")
    }

    @Test func digits() {
        #expect(Hexadecimal.text([0x00, 0x9A, 0xFF]) == "009aff")
        #expect("0189abcdefABCDEF".utf8.allSatisfy(Hexadecimal.isDigit))
        #expect(!"ghG/:@`".utf8.contains(where: Hexadecimal.isDigit))
    }

    @Test func readsWhatIsWritten() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 41 &+ length) }
            #expect(Base64URL.bytes(Base64URL.text(bytes)) == bytes)
        }
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AAB", "AA==", "A+", "A/", "A A", "AA\n", "é", "AA."])
    func refusesTheRest(text: String) {
        #expect(Base64URL.bytes(text) == nil)
    }

    @Test func eachPairHasOneMeaning() {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        var seen: Set<[UInt8]> = []
        for first in letters {
            for second in letters {
                guard let bytes = Base64URL.bytes("\(first)\(second)") else { continue }
                #expect(seen.insert(bytes).inserted)
            }
        }
        #expect(seen.count == 256)
    }
}
