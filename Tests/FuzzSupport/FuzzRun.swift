import Glibc

/// Holds a property against texts: those of a corpus, each of them cut off at every byte, and texts made of them by chance.
///
/// `HEARTH_FUZZ_SEED` sets the seed, which a complaint names, and `HEARTH_FUZZ_ROUNDS` how many texts are made.
public struct FuzzRun {
    public let corpus: [[UInt8]]
    public let seed: UInt64
    public let rounds: Int
    private let words: [String]
    private let bytesMax: Int

    /// Texts up to this many bytes are cut off at every byte.
    private static let prefixedBytesMax = 300

    /// - Parameter rounds: how many texts are made unless the variable says otherwise.
    public init(_ corpus: [[UInt8]], words: [String], bytesMax: Int = 4096, rounds: Int) {
        self.corpus = corpus
        self.words = words
        self.bytesMax = bytesMax
        seed = Self.setting("HEARTH_FUZZ_SEED") ?? UInt64(time(nil))
        self.rounds = Self.setting("HEARTH_FUZZ_ROUNDS").map { Int($0) } ?? rounds
    }

    /// The problem of the first text that violates the property: in one sentence, with the command that repeats it.
    ///
    /// - Parameter property: returns the problem of a text; may use the random source that made the text.
    public func complaint(_ property: ([UInt8], inout SeededRandom) -> String?) -> String? {
        var mutator = Mutator(seed: seed, corpus: corpus, words: words, bytesMax: bytesMax)
        func check(_ text: [UInt8], _ origin: String) -> String? {
            property(text, &mutator.random).map { "\($0); \(origin), HEARTH_FUZZ_SEED=\(seed): \(text) \(String(decoding: text, as: UTF8.self))" }
        }
        for text in corpus {
            if let complaint = check(text, "in the corpus") { return complaint }
            guard text.count <= Self.prefixedBytesMax else { continue }
            for length in text.indices {
                if let complaint = check(Array(text[..<length]), "a prefix") { return complaint }
            }
        }
        for round in 0..<rounds {
            if let complaint = check(mutator.next(), "round \(round)") { return complaint }
        }
        return nil
    }

    /// The same for a property that needs no chance.
    public func complaint(_ property: ([UInt8]) -> String?) -> String? { complaint { text, _ in property(text) } }

    private static func setting(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}
