import Bytes
import Glibc
import Testing

@testable import WorkerProtocol

/// Whatever arrives, however it is cut: the reader gives the same frames or the same refusal, and keeps no more than a frame.
@Suite("FrameFuzz")
struct FrameFuzzTests {
    @Test("corpus and seeded mutations mean the same whole and in pieces")
    func isIndependentOfCuts() throws {
        let corpus = try Self.corpus()
        #expect(corpus.count >= 10)
        let rounds = Self.number("HEARTH_FUZZ_ROUNDS") ?? 20_000
        let seed = UInt64(Self.number("HEARTH_FUZZ_SEED") ?? Int.random(in: 1...1_000_000_000))
        var random = SeededGenerator(seed: seed)
        for round in 0..<rounds {
            var bytes = corpus[round % corpus.count]
            if round >= corpus.count { Self.mutate(&bytes, using: &random) }
            let whole = Self.outcome(of: bytes, cutBy: { bytes.count })
            let pieces = Self.outcome(of: bytes, cutBy: { Int.random(in: 1...40, using: &random) })
            #expect(whole == pieces, "seed \(seed), round \(round)")
            if whole != pieces { return }
        }
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

    static func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard !bytes.isEmpty else { return }
            let position = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.removeSubrange(position..<min(bytes.count, position + Int.random(in: 1...32, using: &random)))
            case 3: bytes.insert(contentsOf: bytes[position..<min(bytes.count, position + 32)], at: position)
            default: bytes += bytes
            }
            if bytes.count > 8192 { bytes.removeLast(bytes.count - 8192) }
        }
    }

    static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    static func corpus() throws -> [[UInt8]] {
        let folder = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let path = "/\(folder)/Fuzz/Frames/corpus"
        let directory = try #require(opendir(path))
        defer { closedir(directory) }
        var files: [[UInt8]] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
            guard name.hasSuffix(".bin"), let file = fopen("\(path)/\(name)", "rb") else { continue }
            var room = [UInt8](repeating: 0, count: 1 << 16)
            files.append(Array(room.prefix(fread(&room, 1, room.count, file))))
            fclose(file)
        }
        return files
    }
}
