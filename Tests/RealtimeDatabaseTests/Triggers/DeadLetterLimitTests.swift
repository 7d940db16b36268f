import Testing
import Tree

@testable import RealtimeDatabase

@Suite("How many dead letters are kept")
struct DeadLetterLimitTests {
    /// An outbox whose events are given up.
    final class Bench {
        let store: CountingStore
        var outbox: Outbox

        init() throws {
            store = CountingStore(try MemoryStorage().openWriter(namespace: "demo"))
            outbox = try Outbox(store, namespace: "demo")
        }

        func transaction<R>(_ body: () throws -> R) throws -> R {
            try store.begin()
            let result = try body()
            try outbox.willCommit()
            try store.commit()
            _ = outbox.didCommit()
            return result
        }

        /// Simulates a start.
        func reopen() throws { outbox = try Outbox(store, namespace: "demo") }

        /// An event that waits.
        func raise(_ id: String, payload: String = "{}") throws -> EventKey {
            try outbox.append(
                OutboxEvent(
                    sequence: 0, id: id, namespace: "demo", function: "f", kind: .written, path: Path([id]), params: [], payload: Array(payload.utf8),
                    time: 1, origin: .admin, chain: EventChain(), progress: DeliveryProgress(since: 1)))
            return try #require(try outbox.page(of: "f", after: 0, limit: .max, bytesMax: .max).events.last).key
        }

        /// - Returns: the number of dropped letters.
        @discardableResult
        func giveUp(_ ids: [String], payload: String = "{}", _ limits: DeadLetterLimits) throws -> Int {
            try transaction {
                try ids.reduce(0) { dropped, id in
                    let key = try raise(id, payload: payload)
                    return dropped + (try outbox.bury(key, DeliveryProgress(since: 1), reason: .failed, now: 2, limits: limits))
                }
            }
        }

        var kept: [String] {
            get throws { try outbox.deadLetters(limit: .max).letters.map(\.event.id) }
        }
    }

    private static func limits(count: Int = .max, bytes: Int = .max) -> DeadLetterLimits {
        var limits = DeadLetterLimits()
        limits.countMax = count
        limits.bytesMax = bytes
        return limits
    }

    private static func names(_ range: Range<Int>) -> [String] { range.map { "e\($0)" } }

    @Test("the oldest make room, and it is remembered how many did")
    func count() throws {
        let bench = try Bench()
        #expect(try bench.giveUp(Self.names(0..<3), Self.limits(count: 3)) == 0)
        #expect(try bench.giveUp(Self.names(3..<5), Self.limits(count: 3)) == 2)
        #expect(try bench.kept == ["e2", "e3", "e4"])
        #expect(bench.outbox.counts.deadLetters == 3 && bench.outbox.counts.dropped == 2)
        #expect(try bench.outbox.deadLetters(limit: 10).dropped == 2)
        let counts = bench.outbox.counts
        try bench.reopen()
        #expect(bench.outbox.counts == counts)
    }

    @Test("their size is bounded too, but one may be larger")
    func bytes() throws {
        let bench = try Bench()
        let payload = String(repeating: "x", count: 1000)
        try bench.giveUp(["e0"], payload: payload, Self.limits())
        let size = bench.outbox.counts.deadLetterBytes
        #expect(size > 1000)
        try bench.giveUp(Self.names(1..<5), payload: payload, Self.limits(bytes: 3 * size))
        #expect(try bench.kept == ["e2", "e3", "e4"])
        #expect(bench.outbox.counts.deadLetterBytes == 3 * size)
        try bench.giveUp(["e5"], payload: payload + payload, Self.limits(bytes: 3 * size))
        #expect(try bench.kept == ["e4", "e5"])
        try bench.giveUp(["e6"], payload: payload + payload, Self.limits(bytes: 1))
        #expect(try bench.kept == ["e6"])
        let last = try #require(try bench.outbox.deadLetters(limit: 1).letters.first)
        _ = try bench.transaction { try bench.outbox.deleteDeadLetter(last.event.sequence) }
        #expect(bench.outbox.counts.deadLetters == 0 && bench.outbox.counts.deadLetterBytes == 0)
    }

    @Test("an event that waited for long is no older than those that were given up before it")
    func order() throws {
        let bench = try Bench()
        let early = try bench.transaction { try bench.raise("early") }
        try bench.giveUp(Self.names(0..<3), Self.limits(count: 3))
        _ = try bench.transaction {
            try bench.outbox.bury(early, DeliveryProgress(since: 1), reason: .expired, now: 9, limits: Self.limits(count: 3))
        }
        #expect(try bench.kept == ["e1", "e2", "early"])
    }

    @Test("far too many go little by little, whatever one transaction adds")
    func lowerLimit() throws {
        let bench = try Bench()
        try bench.giveUp(Self.names(0..<100), Self.limits())
        #expect(try bench.giveUp(["e100"], Self.limits(count: 3)) == 16)
        #expect(try bench.kept == Self.names(16..<101))
        try bench.giveUp(Self.names(101..<110), Self.limits(count: 3))
        #expect(try bench.kept == Self.names(107..<110))
    }

    @Test("what it costs does not depend on how many there are")
    func cost() throws {
        let bench = try Bench()
        try bench.giveUp(Self.names(0..<10), Self.limits(count: 10))
        func costOfOne(_ count: Int) throws -> (operations: Int, rows: Int) {
            try bench.transaction {
                let key = try bench.raise("one")
                return try bench.store.counting {
                    _ = try bench.outbox.bury(key, DeliveryProgress(since: 1), reason: .failed, now: 2, limits: Self.limits(count: count))
                }
            }
        }
        let few = try costOfOne(10)
        try bench.giveUp(Self.names(10..<2000), Self.limits(count: 2000))
        let many = try costOfOne(2000)
        #expect(few == many && many.rows == 2)
    }

    @Test("a store of before is counted once")
    func oldCounts() throws {
        let bench = try Bench()
        try bench.giveUp(Self.names(0..<5), Self.limits())
        let counts = bench.outbox.counts
        try bench.store.begin()
        let old = EventKey.bytes(of: 0) + EventKey.bytes(of: 5)
        try bench.store.put(Array("outbox.counts".utf8), old.span, in: .meta)
        try bench.store.commit()
        try bench.reopen()
        #expect(bench.outbox.counts == counts)
    }
}
