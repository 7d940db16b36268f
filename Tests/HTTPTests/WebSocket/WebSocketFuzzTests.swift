import HearthBytes
import FuzzSupport
import Testing

@testable import HTTP

/// Mutated frames, fed straight to a reader. See `Tests/Fuzz/WebSocket/README.md`.
@Suite struct WebSocketFuzzTests {
    private static let words = ["\u{81}\u{85}", "\u{1}\u{81}", "\u{0}\u{80}", "\u{88}\u{82}", "\u{89}\u{80}", "\0\0\0\0", "hello"]
    private static let messageBytesMax = 300

    @Test func framesMeanTheSameHoweverTheyAreCut() throws {
        let corpus = try FuzzCorpus.load("WebSocket/corpus")
        #expect(corpus.count >= 15)
        let run = FuzzRun(corpus, words: Self.words, rounds: 5000)
        let complaint = run.complaint { input, random in
            let whole = Self.read([input])
            let pieces = Self.read(Self.cut(input, &random))
            if whole != pieces { return "cut it means something else: \(whole) and \(pieces)" }
            return whole.contains { $0.count > Self.messageBytesMax + 16 } ? "a message is longer than the limit" : nil
        }
        #expect(complaint == nil)
    }

    /// The events of a reader, in words; the last is the reason why it stopped, if it did.
    private static func read(_ pieces: [[UInt8]]) -> [String] {
        var limits = WebSocketLimits()
        limits.messageBytesMax = messageBytesMax
        limits.fragmentsMax = 8
        var reader = WebSocketReader(limits: limits)
        var told: [String] = []
        var isClosed = false
        for piece in pieces where !isClosed {
            do throws(WebSocketFault) {
                try piece.withUnsafeBufferPointer { bytes throws(WebSocketFault) in
                    try reader.read(bytes) { event, payload in
                        if case .close = event { isClosed = true }
                        told.append("\(event) \(payload.string())")
                        return !isClosed
                    }
                }
            } catch {
                told.append("fault \(error.code)")
                return told
            }
        }
        return told
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
