import EventLoop
import Testing
import Tree

@testable import RealtimeDatabase

@Suite("turns of clients")
struct FairQueueTests {
    private let greedy = address("192.0.2.1")
    private let modest = address("192.0.2.2")

    private static func address(_ text: String) -> NetworkAddress { NetworkAddress(text) ?? .unspecified }

    private func isTaken(_ number: Int, _ client: NetworkAddress, _ queue: inout FairQueue<Int>) {
        let isTaken = queue.add(number, of: client)
        #expect(isTaken)
    }

    private func isRefused(_ client: NetworkAddress, _ queue: inout FairQueue<Int>) {
        let isTaken = queue.add(-1, of: client)
        #expect(!isTaken)
    }

    @Test("clients have their turns one after the other, each in its own order")
    func takesTurns() {
        var queue = FairQueue<Int>()
        for number in 0..<4 { isTaken(number, greedy, &queue) }
        for number in 10..<12 { isTaken(number, modest, &queue) }
        let first = queue.next()
        #expect(first == 0)
        isTaken(12, modest, &queue)
        let all = queue.takeAll()
        #expect(all == [10, 1, 11, 2, 12, 3])
        let none = queue.next()
        #expect(queue.count == 0 && none == nil)
    }

    @Test("so many of one client may wait, and of all together")
    func isBounded() {
        var queue = FairQueue<Int>()
        for number in 0..<FairQueue<Int>.perClientMax { isTaken(number, greedy, &queue) }
        isRefused(greedy, &queue)
        // Functions have no address, and are many.
        for number in queue.count..<FairQueue<Int>.countMax { isTaken(number, .unspecified, &queue) }
        isRefused(modest, &queue)
        isRefused(.unspecified, &queue)
        let first = queue.next()
        #expect(first == 0)
        isTaken(-1, modest, &queue)
        let all = queue.takeAll()
        #expect(all.count == FairQueue<Int>.countMax)
    }

    @Test("many turns keep their order")
    func goesOnForLong() {
        var queue = FairQueue<Int>()
        var seen: [NetworkAddress: Int] = [:]
        var sent: [NetworkAddress: Int] = [:]
        for round in 0..<5000 {
            let client = round % 3 == 0 ? modest : greedy
            sent[client, default: 0] += 1
            isTaken(sent[client, default: 0] * 2 + (client == modest ? 1 : 0), client, &queue)
            guard round % 2 == 0 || queue.count > 40, let next = queue.next() else { continue }
            let from = next % 2 == 1 ? modest : greedy
            #expect(next / 2 == seen[from, default: 0] + 1)
            seen[from, default: 0] += 1
        }
    }
}

@Suite("scans that end early")
struct ScanGuardTests {
    @Test("they end when they are cancelled, in haste, or late; and not once they are over")
    func ends() {
        func rows(_ scan: ScanGuard) -> Int { (1...10_000).first { _ in !scan.goesOn() } ?? 0 }
        let (cancellation, haste) = (Cancellation(), Cancellation())
        #expect(rows(ScanGuard(cancellation, haste: haste, deadline: 0)) == 0)
        let late = ScanGuard(cancellation, haste: haste, deadline: 1)
        #expect(rows(late) == 256 && late.failure?.kind == .timedOut)
        let over = ScanGuard(cancellation, haste: haste, deadline: 1)
        over.isOver = true
        #expect(rows(over) == 0)
        haste.isSet = true
        #expect(rows(ScanGuard(nil, haste: haste, deadline: 0)) == 256)
        cancellation.isSet = true
        let cancelled = ScanGuard(cancellation, haste: Cancellation(), deadline: 0)
        #expect(rows(cancelled) == 256 && cancelled.failure?.kind == .unavailable)
    }

    private func key(_ path: String) -> PathKey { Path(path.split(separator: "/").map { String($0) }).key }

    private func change(_ cache: HashCache, _ paths: [String], base: String = "", to state: UInt64) {
        cache.willChange(paths.map { key($0) }, base: key(base), state: state)
    }

    @Test("a hash that took many rows is kept until its subtree changes")
    func keepsHashes() {
        let cache = HashCache()
        #expect(cache.etag(at: key("a"), in: 7) == nil)
        cache.keep(EntityTag("small"), at: key("a"), in: 7, rows: 10)
        cache.keep(EntityTag("large"), at: key("b/c"), in: 7, rows: 1000)
        #expect(cache.etag(at: key("a"), in: 7) == nil)
        #expect([6, 7, 8, nil].map { cache.etag(at: key("b/c"), in: $0)?.text } == [nil, "large", "large", "large"])
        change(cache, ["b/d", "bc", "a"], to: 8)
        #expect(cache.etag(at: key("b/c"), in: nil)?.text == "large")
        for path in ["b/c/d", "b/c", "b"] {
            change(cache, [path], to: 9)
            #expect(cache.etag(at: key("b/c"), in: nil) == nil, "\(path)")
            cache.keep(EntityTag("again"), at: key("b/c"), in: 9, rows: 1000)
        }
        #expect(cache.etag(at: key("b/c"), in: 9)?.text == "again")
    }

    @Test("a hash of a state that has changed meanwhile is not kept")
    func forgetsLateHashes() {
        let cache = HashCache()
        change(cache, ["c"], to: 6)
        #expect(cache.etag(at: key("c"), in: 5) == nil)
        cache.keep(EntityTag("early"), at: key("c"), in: 5, rows: 1000)
        #expect(cache.etag(at: key("c"), in: nil) == nil, "changes are remembered only once a hash was asked for")
        change(cache, ["a/b"], to: 8)
        cache.keep(EntityTag("late"), at: key("a"), in: 7, rows: 1000)
        cache.keep(EntityTag("other"), at: key("c"), in: 7, rows: 1000)
        #expect(cache.etag(at: key("a"), in: nil) == nil && cache.etag(at: key("c"), in: nil)?.text == "other")
        change(cache, (0..<100).map { "d/\($0)" }, base: "d", to: 9)
        cache.keep(EntityTag("late"), at: key("d/1000"), in: 8, rows: 1000)
        #expect(cache.etag(at: key("d/1000"), in: nil) == nil, "many changes count as one of what they have in common")
        for state in 10..<6000 { change(cache, ["e"], to: UInt64(state)) }
        cache.keep(EntityTag("old"), at: key("f"), in: 9, rows: 1000)
        #expect(cache.etag(at: key("f"), in: nil) == nil, "the changes since are not remembered")
    }
}
