import Bytes
import Glibc
import Testing
import Tree

@testable import RealtimeDatabase

/// Whatever a row holds: it is refused, or it is an event that is written and read again as the same one.
@Suite("OutboxRowFuzz")
struct OutboxRowFuzzTests {
    @Test("corpus and seeded mutations are refused, or mean what they are written as again")
    func isStable() throws {
        let corpus = try Self.corpus()
        #expect(corpus.count >= 15)
        let rounds = Self.number("HEARTH_FUZZ_ROUNDS") ?? 50_000
        let seed = UInt64(Self.number("HEARTH_FUZZ_SEED") ?? Int.random(in: 1...1_000_000_000))
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        for round in 0..<rounds {
            var row = corpus[round % corpus.count]
            if round >= corpus.count { Self.mutate(&row, using: &random) }
            guard let event = Self.read(row) else { continue }
            accepted += 1
            let again = Self.read(event.row())
            #expect(again == event, "seed \(seed), round \(round)")
            guard again == event, Self.isDeadLetterStable(event) else {
                Issue.record("seed \(seed), round \(round)")
                return
            }
        }
        #expect(accepted > 0)
    }

    private static let key = EventKey(function: "f", sequence: 7)

    private static func read(_ row: [UInt8]) -> OutboxEvent? { try? OutboxEvent(row: row.span, key: key, namespace: "demo") }

    private static func isDeadLetterStable(_ event: OutboxEvent) -> Bool {
        let letter = DeadLetter(event: event, reason: .expired, time: event.time)
        return (try? DeadLetter(row: letter.row().span, sequence: event.sequence, namespace: "demo")) == letter
    }

    @Test("keys of rows are in the order of functions and sequences")
    func keys() {
        let keys = ["", "a", "ab", "b"].flatMap { function in
            [0, 1, 255, 256, 1 << 40, UInt64.max].map { EventKey(function: function, sequence: $0) }
        }
        let bytes = keys.map(\.bytes)
        for index in bytes.indices.dropFirst() { #expect(bytes[index - 1].lexicographicallyPrecedes(bytes[index])) }
        #expect(bytes.map { EventKey($0.span) } == keys)
        for broken in [[], [0], Array("function".utf8), [UInt8](repeating: 1, count: 9)] as [[UInt8]] {
            #expect(EventKey(broken.span) == nil)
        }
    }

    private static func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard !bytes.isEmpty else { return }
            let position = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.removeSubrange(position..<min(bytes.count, position + Int.random(in: 1...16, using: &random)))
            case 3: bytes.insert(contentsOf: bytes[position..<min(bytes.count, position + 16)], at: position)
            default: bytes[position] = UInt8.random(in: 0...4, using: &random)
            }
        }
    }

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    private static func corpus() throws -> [[UInt8]] {
        let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/\(folder)/Fuzz/Outbox/corpus"
        let directory = try #require(opendir(path))
        defer { closedir(directory) }
        var files: [[UInt8]] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
            guard name.hasSuffix(".bin"), let file = fopen("\(path)/\(name)", "rb") else { continue }
            var room = [UInt8](repeating: 0, count: 1 << 16)
            let count = fread(&room, 1, room.count, file)
            files.append(Array(room[..<count]))
            fclose(file)
        }
        return files
    }
}
