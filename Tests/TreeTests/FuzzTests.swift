import Foundation
import Testing

/// The corpus of `Tests/Fuzz/Tree`, and texts made of it by chance.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter TreeTests.FuzzTests` runs it again.
/// `HEARTH_FUZZ_ROUNDS` sets how many texts are made.
@Suite struct FuzzTests {
    static func setting(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } }

    static func corpus() throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fuzz/Tree/corpus").standardizedFileURL
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.sorted { $0.path < $1.path }.map { try Array(Data(contentsOf: $0)) }
    }

    @Test func everythingHoldsForTheCorpus() throws {
        let corpus = try Self.corpus()
        #expect(corpus.count > 30)
        for text in corpus { check(text) }
    }

    @Test func everythingHoldsForSeededTexts() throws {
        let seed = Self.setting("HEARTH_FUZZ_SEED") ?? UInt64(Date().timeIntervalSince1970)
        var mutator = Mutator(random: SeededRandom(seed: seed), corpus: try Self.corpus())
        for _ in 0..<(Self.setting("HEARTH_FUZZ_ROUNDS") ?? 5000) {
            guard check(mutator.next(), "HEARTH_FUZZ_SEED=\(seed)") else { return }
        }
    }

    /// Every text of up to three of these characters.
    @Test func everythingHoldsForAllShortTexts() {
        let alphabet = Array("[]{},:\"\\ 0-1.e/%$\u{1}".utf8) + [0xC3, 0xA9]
        var texts: [[UInt8]] = [[]]
        for _ in 0..<3 {
            texts = texts.flatMap { text in alphabet.map { text + [$0] } }
            for text in texts {
                guard check(text) else { return }
            }
        }
    }

    /// Each text of the corpus cut off at every byte.
    @Test func everythingHoldsForEveryPrefix() throws {
        for text in try Self.corpus() where text.count <= 300 {
            for length in 0..<text.count {
                guard check(Array(text[..<length])) else { return }
            }
        }
    }

    @discardableResult
    private func check(_ text: [UInt8], _ note: String = "") -> Bool {
        let broken = Properties.broken(by: text)
        guard !broken.isEmpty else { return true }
        Issue.record("\(broken.joined(separator: "; ")) \(note) \(text) \(String(decoding: text, as: UTF8.self))")
        return false
    }
}
