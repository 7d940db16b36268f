import HearthBytes
import FuzzSupport
import Testing
import Tree

@testable import RealtimeDatabase

/// Every row is refused, or is an event that survives writing and reading.
@Suite("OutboxRowFuzz")
struct OutboxRowFuzzTests {
    @Test("corpus and seeded mutations are refused, or mean what they are written as again")
    func isStable() throws {
        let corpus = try FuzzCorpus.load("Outbox/corpus")
        #expect(corpus.count >= 15)
        let run = FuzzRun(corpus, words: ["\0", "\u{1}", "\u{7F}"], rounds: 50_000)
        var accepted = 0
        let complaint = run.complaint { row in
            guard let event = Self.read(row) else { return nil }
            accepted += 1
            guard Self.read(event.row()) == event else { return "another event when it is written" }
            return Self.isDeadLetterStable(event) ? nil : "another dead letter when it is written"
        }
        #expect(complaint == nil)
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
}
