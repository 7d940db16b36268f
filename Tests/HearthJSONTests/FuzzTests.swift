import FuzzSupport
import Testing

/// The corpus of `Tests/Fuzz/JSON`, and texts made of it by chance.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter FuzzTests` runs it again. `HEARTH_FUZZ_ROUNDS` sets how
/// many texts are made.
@Suite struct FuzzTests {
    private static let words = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d\\ude00", "\\ud800", "null", "true", "false", "0", "-", "-0", "1e", ".5",
        "1e308", "1e309", "9007199254740993", "18446744073709551615", "99999999999999999999", "\"@type\":", "\"\\u0040type\":", " ", "\n",
        "\"\":", "{\"a\":", "[[", "]]", "é", "😀", "\"a\":1,", "\"abcdefgh\"", "\u{0}", "\u{FEFF}", "0.1", "1.0", "E+5",
    ]

    @Test func everythingHolds() throws {
        let corpus = try FuzzCorpus.load("JSON/corpus")
        #expect(corpus.count > 40)
        let run = FuzzRun(corpus, words: Self.words, rounds: 5000)
        #expect(run.complaint { Self.complaint($0) } == nil)
    }

    /// Every text of up to three of these characters.
    @Test func everythingHoldsForAllShortTexts() {
        let alphabet = Array("[]{},:\"\\ 0-1.eu\u{1}".utf8) + [0xC3, 0xA9]
        var texts: [[UInt8]] = [[]]
        for _ in 0..<3 {
            texts = texts.flatMap { text in alphabet.map { text + [$0] } }
            for text in texts {
                guard let complaint = Self.complaint(text) else { continue }
                Issue.record("\(complaint) \(text) \(String(decoding: text, as: UTF8.self))")
                return
            }
        }
    }

    private static func complaint(_ text: [UInt8]) -> String? {
        let broken = Properties.broken(by: text)
        return broken.isEmpty ? nil : broken.joined(separator: "; ")
    }
}
