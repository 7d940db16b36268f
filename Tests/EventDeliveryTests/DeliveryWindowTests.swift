import EventLoop
import Testing
import Tree

@testable import EventDelivery
@testable import RealtimeDatabase

/// The events in memory while many events wait; the wait of one path does not delay others.
@Suite("Delivery window", .serialized)
struct DeliveryWindowTests {
    @Test("of many events few are in memory")
    func boundsMemory() throws {
        let bench = try DeliveryBench(DeliveryBench.settings { $0.loadedCountMax = 16 })
        try bench.outbox.raise((0..<3000).map { ("f", "/\($0)") })
        try bench.runUntilDone()
        #expect(bench.target.succeeded.count == 3000)
        #expect(bench.target.mostOpen <= 16)
    }

    @Test("what was in the outbox at the start is delivered in order, with what comes meanwhile")
    func startsWithPending() throws {
        let bench = try DeliveryBench(DeliveryBench.settings { $0.loadedCountMax = 16 })
        bench.targets["f"]?.answer = { _ in nil }
        try bench.outbox.raise((0..<500).map { ("f", "/\($0 % 3)") })
        try bench.restart()
        bench.target.answer = { _ in .succeeded }
        try bench.outbox.raise((0..<500).map { ("f", "/\($0 % 3)") })
        try bench.runUntilDone()
        for events in Dictionary(grouping: bench.target.succeeded, by: \.path).values {
            #expect(events.map(\.sequence) == events.map(\.sequence).sorted())
        }
        #expect(Set(bench.target.succeeded.map(\.id)).count == 1000)
    }

    @Test("a path that fails again and again leaves the window to the others")
    func failingPathLetsOthersPass() throws {
        let bench = try DeliveryBench(
            DeliveryBench.settings {
                $0.loadedCountMax = 8
                $0.loadedOfPathMax = 4
                $0.retries = RetrySchedule(firstMilliseconds: 50, mostMilliseconds: 50)
            })
        let target = bench.target
        target.isRetried = true
        var isBroken = true
        target.answer = { $0.path.last == "bad" && isBroken ? .failed("internal: broken") : .succeeded }
        try bench.outbox.raise((0..<100).map { _ in ("f", "/bad") } + (0..<100).map { ("f", "/good\($0 % 10)") })
        try bench.run(until: { target.succeeded.count == 100 })
        #expect(target.succeeded.allSatisfy { $0.path.last != "bad" })
        isBroken = false
        try bench.runUntilDone()
        let bad = target.succeeded.filter { $0.path.last == "bad" }
        #expect(bad.map(\.sequence) == Array(1...100))
    }

    @Test("reading ahead ends when too many events are held back")
    func boundsHeldEvents() throws {
        let bench = try DeliveryBench(
            DeliveryBench.settings {
                $0.loadedCountMax = 8
                $0.heldCountMax = 20
            })
        let target = bench.target
        target.isRetried = true
        var isBroken = true
        target.answer = { _ in isBroken ? .failed("internal: broken") : .succeeded }
        try bench.outbox.raise((0..<200).map { ("f", "/\($0)") })
        try bench.run(until: { target.started.count > 100 })
        // Only the first ones are tried, over and over.
        #expect(Set(target.started.map(\.path)).count <= 40)
        isBroken = false
        try bench.runUntilDone()
        #expect(target.succeeded.count == 200)
    }

    @Test("one function's trouble is not another's")
    func functionsAreApart() throws {
        let bench = try DeliveryBench(functions: ["f", "broken"])
        bench.targets["broken"]?.answer = { _ in .refused(afterMilliseconds: 1) }
        try bench.outbox.raise((0..<1000).map { ($0 % 2 == 0 ? "f" : "broken", "/\($0)") })
        try bench.run(until: { bench.target.succeeded.count == 500 })
        bench.targets["broken"]?.answer = { _ in .succeeded }
        try bench.runUntilDone()
    }
}
