import EventLoop
import Store
import Testing
import Tree

@testable import EventDelivery
@testable import RealtimeDatabase

/// Attempts that run while a host is replaced by another process.
@Suite("Attempts across an upgrade", .serialized)
struct RunningAttemptsTests {
    /// A bench with one attempt that runs.
    private func running() throws -> DeliveryBench {
        let bench = try DeliveryBench()
        bench.target.answer = { _ in nil }
        try bench.outbox.raise([("f", "/a")])
        try bench.run(until: { bench.target.open.count == 1 })
        return bench
    }

    private func next(_ bench: DeliveryBench, adopting events: [RunningEvent]) throws -> (delivery: TriggerDelivery, target: TestTarget) {
        let target = TestTarget(bench.loop)
        let delivery = bench.another()
        delivery.attempts.adopt(events)
        bench.outbox.announce = { delivery.receive($0) }
        delivery.publish(["f": target], isComplete: true)
        if let pending = try bench.outbox.outbox.pending() { delivery.receive(pending) }
        return (delivery, target)
    }

    @Test("the new process waits for the result, and settles it", arguments: [true, false])
    func adopts(_ isEarly: Bool) throws {
        let bench = try running()
        bench.delivery.stop()
        let events = bench.delivery.attempts.handOver()
        #expect(events.map(\.key.function) == ["f"] && events.map(\.namespace) == ["demo"])
        if isEarly { bench.target.finish(0, .succeeded) }
        let (delivery, target) = try next(bench, adopting: events)
        for _ in 0..<20 { bench.loop.runOnce() }
        #expect(target.started.isEmpty && delivery.attempts.awaitsOthers)
        #expect(try bench.outbox.pending() == ["id-1"])
        bench.delivery.attempts.send { event, result in delivery.attempts.finish(event, result) }
        if !isEarly { bench.target.finish(0, .succeeded) }
        try bench.run(until: { try bench.outbox.pending().isEmpty })
        #expect(target.started.isEmpty && !delivery.attempts.awaitsOthers)
    }

    @Test("a result that arrives before the new process has read the event counts")
    func arrivesFirst() throws {
        let bench = try running()
        bench.delivery.stop()
        let events = bench.delivery.attempts.handOver()
        let delivery = bench.another()
        delivery.attempts.adopt(events)
        delivery.attempts.finish(events[0], .failed("aborted: no"))
        let target = TestTarget(bench.loop)
        bench.outbox.announce = { delivery.receive($0) }
        delivery.publish(["f": target], isComplete: true)
        if let pending = try bench.outbox.outbox.pending() { delivery.receive(pending) }
        try bench.run(until: { try bench.outbox.pending().isEmpty })
        #expect(target.started.isEmpty)
        #expect(try bench.outbox.deadLetters().map(\.event.progress.lastError) == ["aborted: no"])
    }

    @Test("when the old process ends, the new one makes the attempt")
    func abandons() throws {
        let bench = try running()
        bench.delivery.stop()
        let (delivery, target) = try next(bench, adopting: bench.delivery.attempts.handOver())
        for _ in 0..<10 { bench.loop.runOnce() }
        delivery.attempts.abandon()
        try bench.run(until: { try bench.outbox.pending().isEmpty })
        #expect(target.started.map(\.progress.interruptions) == [1])
    }

    @Test("a failed upgrade makes no attempt twice", arguments: [true, false])
    func takesBack(_ isHandedOver: Bool) throws {
        let bench = try running()
        bench.delivery.stop()
        if isHandedOver { _ = bench.delivery.attempts.handOver() }
        bench.delivery.resume()
        if let pending = try bench.outbox.outbox.pending() { bench.delivery.receive(pending) }
        for _ in 0..<20 { bench.loop.runOnce() }
        #expect(bench.target.started.count == 1)
        // A second upgrade, while the attempt still runs.
        bench.delivery.stop()
        let events = bench.delivery.attempts.handOver()
        #expect(events.count == 1)
        let (delivery, target) = try next(bench, adopting: events)
        bench.delivery.attempts.send { event, result in delivery.attempts.finish(event, result) }
        bench.target.finish(0, .succeeded)
        try bench.run(until: { try bench.outbox.pending().isEmpty })
        #expect(target.started.isEmpty && bench.target.started.count == 1)
    }

    @Test("a failed upgrade notices a result that came meanwhile")
    func takesBackResults() throws {
        let bench = try running()
        bench.delivery.stop()
        _ = bench.delivery.attempts.handOver()
        bench.target.finish(0, .succeeded)
        #expect(try bench.outbox.pending() == ["id-1"])
        bench.delivery.resume()
        if let pending = try bench.outbox.outbox.pending() { bench.delivery.receive(pending) }
        try bench.run(until: { try bench.outbox.pending().isEmpty })
        #expect(bench.target.started.count == 1)
    }
}
