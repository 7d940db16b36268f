import EventLoop
import FuzzSupport
import Testing

@testable import HTTP

/// Mutated frames, fed straight to a reader. See `Tests/Fuzz/WebSocket/README.md`.
@Suite struct WebSocketFuzzTests {
    private static let words = [
        "\u{81}\u{85}", "\u{1}\u{81}", "\u{0}\u{80}", "\u{88}\u{82}", "\u{89}\u{80}", "\0\0\0\0", "hello", "\u{C1}", "\0\0\u{FF}\u{FF}",
    ]
    private static let messageBytesMax = 300

    @Test(arguments: [false, true])
    func framesMeanTheSameHoweverTheyAreCut(mayBeCompressed: Bool) throws {
        let corpus = try FuzzCorpus.load("WebSocket/corpus")
        #expect(corpus.count >= 25)
        let compression = mayBeCompressed ? SharedCompression(loop: try EventLoop()) : nil
        let run = FuzzRun(corpus, words: Self.words, rounds: 5000)
        let complaint = run.complaint { input, random in
            let whole = Self.read([input], compression)
            let pieces = Self.read(Self.cut(input, &random), compression)
            if whole != pieces { return "cut it means something else: \(whole) and \(pieces)" }
            // A byte that is not UTF-8 has three bytes in the text of an event.
            return whole.contains { $0.utf8.count > 3 * Self.messageBytesMax + 16 } ? "a message is longer than the limit" : nil
        }
        #expect(complaint == nil)
    }

    private static func read(_ pieces: [[UInt8]], _ compression: SharedCompression?) -> [String] {
        var limits = WebSocketLimits()
        limits.messageBytesMax = messageBytesMax
        limits.fragmentsMax = 8
        return ClientFrames.meaning(of: pieces, limits: limits, compression: compression)
    }

    private static func cut(_ bytes: [UInt8], _ random: inout SeededRandom) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + random.below(random.pick([1, 3, 20])))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}
