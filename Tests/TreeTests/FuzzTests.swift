import FuzzSupport
import Testing

/// The corpus of `Tests/Fuzz/Tree`, and texts made of it by chance.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter TreeTests.FuzzTests` runs it again.
/// `HEARTH_FUZZ_ROUNDS` sets how many texts are made.
@Suite struct FuzzTests {
    private static let words = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "/", "//", "null", "true", "false", "0", "-", "-0", "1e", ".5", "1e308", "1e309", "1.0",
        "9223372036854775807", "9223372036854775808", "\".value\":", "\".priority\":", "\".sv\":", "\"timestamp\"", "{\".sv\":\"timestamp\"}",
        "{\".sv\":{\"increment\":1}}", "\"increment\":", "\"a\":", "\"a\":1,", "\"b/c\":", "a/b", "/.priority", ".priority", "\"\":", "$", "#", ".",
        "%2F", "%41", "%", "%C3%A9", "\\u0041", "\\u0000", "\\ud83d\\ude00", "\\ud800", " ", "\n", "é", "e\u{301}", "😀", "\u{FFFD}", "\u{7F}",
        "\u{1}", "\u{FEFF}", "01", "2147483648", "[[[[[[[[", "{\"a\":{\"b\":", "null,null,",
    ]

    @Test func everythingHolds() throws {
        let corpus = try FuzzCorpus.load("Tree/corpus")
        #expect(corpus.count > 30)
        let run = FuzzRun(corpus, words: Self.words, rounds: 5000)
        #expect(run.complaint { Self.complaint($0) } == nil)
    }

    /// Every text of up to three of these characters.
    @Test func everythingHoldsForAllShortTexts() {
        let alphabet = Array("[]{},:\"\\ 0-1.e/%$\u{1}".utf8) + [0xC3, 0xA9]
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
