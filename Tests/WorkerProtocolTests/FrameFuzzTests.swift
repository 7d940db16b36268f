import HearthBytes
import FuzzSupport
import Testing

@testable import WorkerProtocol

/// For all bytes in any pieces, the reader gives the same frames or the same refusal, and keeps at most one frame.
@Suite("FrameFuzz")
struct FrameFuzzTests {
    @Test("corpus and seeded mutations mean the same whole and in pieces")
    func isIndependentOfCuts() throws {
        let corpus = try FuzzCorpus.load("Frames/corpus")
        #expect(corpus.count >= 10)
        let run = FuzzRun(corpus, words: ["\0\0\0\0"], bytesMax: 8192, rounds: 20_000)
        let complaint = run.complaint { bytes, random in
            let whole = Self.outcome(of: bytes, cutBy: { bytes.count })
            let pieces = Self.outcome(of: bytes, cutBy: { Int.random(in: 1...40, using: &random) })
            return whole == pieces ? nil : "other frames in pieces"
        }
        #expect(complaint == nil)
    }

    struct Outcome: Equatable {
        var frames: [FrameTests.Received] = []
        var error: FrameError?
    }

    /// Frames before an error count only as far as both ways have seen them, which is all: errors show with their frame.
    static func outcome(of bytes: [UInt8], cutBy step: () -> Int) -> Outcome {
        var outcome = Outcome()
        var reader = FrameReader()
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + step())
            do throws(FrameError) {
                try reader.read(bytes.span.extracting(start..<end)) {
                    outcome.frames.append(FrameTests.Received(header: $0, head: $1.array(), body: $2.array()))
                }
            } catch {
                outcome.error = error
                return outcome
            }
            #expect(reader.pendingBytes <= end)
            start = end
        }
        return outcome
    }
}
