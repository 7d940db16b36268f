import EventLoop
import Store
import Testing
import Tree

@testable import EventDelivery
@testable import FunctionDispatch
@testable import RealtimeDatabase

@Suite("Trigger delivery", .serialized)
struct TriggerDeliveryTests {
    @Test("events of one path come in the order of their writes, others side by side")
    func ordersPaths() throws {
        let bench = try DeliveryBench()
        let target = bench.target
        target.answer = { _ in nil }
        try bench.outbox.raise((0..<400).map { ("f", "/p\($0 % 20)") })
        var generator = SystemRandomNumberGenerator()
        while target.succeeded.count < 400 {
            try bench.run(until: { !target.open.isEmpty })
            guard !target.open.isEmpty else { return }
            target.finish(Int.random(in: 0..<target.open.count, using: &generator), .succeeded)
        }
        #expect(target.mostOpen == 20)
        for (path, events) in Dictionary(grouping: target.succeeded, by: \.path) {
            #expect(events.count == 20 && events.map(\.sequence) == events.map(\.sequence).sorted(), "\(path)")
        }
        try bench.runUntilDone()
    }

    @Test("a function that asks for it is given a failed event again, under the same id")
    func retries() throws {
        let bench = try DeliveryBench()
        let target = bench.target
        target.isRetried = true
        target.answer = { $0.path.last == "bad" && $0.progress.attempts < 3 ? .failed("unavailable: not yet") : .succeeded }
        try bench.outbox.raise([("f", "/bad"), ("f", "/bad"), ("f", "/good")])
        try bench.runUntilDone()
        let bad = target.started.filter { $0.path.last == "bad" }
        #expect(bad.prefix(4).map(\.id) == ["id-1", "id-1", "id-1", "id-1"])
        #expect(bad.prefix(4).map(\.progress.attempts) == [0, 1, 2, 3])
        #expect(bad.dropFirst(4).first?.id == "id-2")
        #expect(target.succeeded.first?.path.last == "good")
        #expect(try bench.outbox.deadLetters().isEmpty)
    }

    @Test("nothing is kept of a namespace whose events are delivered")
    func forgets() throws {
        let bench = try DeliveryBench()
        for round in 1...3 {
            try bench.outbox.raise((0..<20).map { ("f", "/p\($0)") })
            try bench.run(until: { bench.target.succeeded.count == 20 * round && bench.delivery.namespaces.isEmpty })
            #expect(bench.delivery.namespaces.isEmpty)
            #expect(try bench.outbox.pending().isEmpty)
        }
        #expect(bench.target.started.count == 60)
    }

    @Test("without retries one failure makes a dead letter, and the path goes on")
    func buries() throws {
        let bench = try DeliveryBench()
        bench.target.answer = { $0.id == "id-1" ? .failed("not-found: nobody") : .succeeded }
        try bench.outbox.raise([("f", "/a"), ("f", "/a")])
        try bench.runUntilDone()
        let letters = try bench.outbox.deadLetters()
        #expect(letters.map(\.event.id) == ["id-1"] && letters.first?.reason == .failed)
        #expect(letters.first?.event.progress.attempts == 1 && letters.first?.event.progress.lastError == "not-found: nobody")
        #expect(bench.target.succeeded.map(\.id) == ["id-2"])
    }

    @Test("retries end when the event is too old")
    func expires() throws {
        let bench = try DeliveryBench(DeliveryBench.settings { $0.retries.ageMilliseconds = 30 })
        bench.target.isRetried = true
        bench.target.answer = { _ in .failed("internal: always") }
        try bench.outbox.raise([("f", "/a")])
        try bench.runUntilDone()
        let letter = try #require(try bench.outbox.deadLetters().first)
        #expect(letter.reason == .expired && letter.event.progress.attempts >= 2)
    }

    @Test("what a worker's end interrupts is tried again, also without retries, but not for ever")
    func interrupts() throws {
        let bench = try DeliveryBench()
        bench.target.answer = { event in
            event.path.last == "once" && event.progress.interruptions > 0 ? .succeeded : .interrupted("the worker ended")
        }
        try bench.outbox.raise([("f", "/once"), ("f", "/always")])
        try bench.runUntilDone()
        #expect(bench.target.succeeded.map(\.id) == ["id-1"])
        let letters = try bench.outbox.deadLetters()
        #expect(letters.map(\.event.id) == ["id-2"] && letters.first?.reason == .interrupted)
        #expect(letters.first?.event.progress.interruptions == bench.settings.interruptionsMax)
        #expect(bench.target.started.count { $0.path.last == "always" } == bench.settings.interruptionsMax)
    }

    @Test("a pool that takes nothing is asked again, and no attempt is counted")
    func waitsForPool() throws {
        let bench = try DeliveryBench()
        var refusals = 20
        bench.target.answer = { _ in
            refusals -= 1
            return refusals >= 0 ? .refused(afterMilliseconds: 1) : .succeeded
        }
        try bench.outbox.raise((0..<5).map { ("f", "/\($0)") })
        try bench.runUntilDone()
        #expect(bench.target.succeeded.map(\.progress.attempts) == [0, 0, 0, 0, 0])
        #expect(try bench.outbox.deadLetters().isEmpty)
    }

    @Test("a function has no more events at a time than its instances can take")
    func limitsAttempts() throws {
        let bench = try DeliveryBench()
        bench.target.attemptsMax = 3
        try bench.outbox.raise((0..<50).map { ("f", "/\($0)") })
        try bench.runUntilDone()
        #expect(bench.target.mostOpen == 3)
    }

    @Test("events of functions that could not be loaded wait, of functions that are gone become dead letters")
    func missingFunctions() throws {
        let bench = try DeliveryBench(functions: [])
        bench.publish(isComplete: false)
        try bench.outbox.raise([("f", "/a"), ("gone", "/a"), ("gone", "/b")])
        for _ in 0..<20 { bench.loop.runOnce() }
        #expect(try bench.outbox.pending().count == 3)
        bench.targets["f"] = TestTarget(bench.loop)
        bench.publish(isComplete: true)
        try bench.runUntilDone()
        #expect(bench.target.succeeded.map(\.id) == ["id-1"])
        #expect(try bench.outbox.deadLetters().map(\.event.id) == ["id-2", "id-3"])
        #expect(try bench.outbox.deadLetters().allSatisfy { $0.reason == .functionMissing })
    }

    @Test("events of a function that is deployed and cannot run now wait, also when all others are known")
    func waitingFunctions() throws {
        let bench = try DeliveryBench(functions: [])
        bench.publish(waiting: ["f"])
        try bench.outbox.raise([("f", "/a"), ("gone", "/a")])
        for _ in 0..<2000 where try bench.outbox.pending() != ["id-1"] { bench.loop.runOnce() }
        #expect(try bench.outbox.pending() == ["id-1"])
        bench.targets["f"] = TestTarget(bench.loop)
        bench.publish()
        try bench.runUntilDone()
        #expect(bench.target.succeeded.map(\.id) == ["id-1"])
    }

    @Test("a chain that is too long ends as a dead letter")
    func endsLoops() throws {
        let bench = try DeliveryBench(DeliveryBench.settings { $0.chainDepthMax = 3 })
        var raised = 1
        let outbox = bench.outbox
        bench.target.answer = { event in
            raised += 1
            try? outbox.raise([("f", "/a")], chain: event.chainOfEffects)
            return .succeeded
        }
        try bench.outbox.raise([("f", "/a")])
        try bench.runUntilDone()
        // The first has no chain, and so there are four in a row.
        #expect(bench.target.succeeded.map(\.chain.depth) == [0, 1, 2, 3])
        let letter = try #require(try bench.outbox.deadLetters().first)
        #expect(letter.reason == .chainTooLong && letter.event.chain.depth == 4)
        #expect(letter.event.chain.links.map(\.event) == ["id-1", "id-2", "id-3", "id-4"])
    }

    @Test("a dead letter that is replayed runs its function")
    func replays() throws {
        let bench = try DeliveryBench()
        bench.target.answer = { _ in .failed("internal: broken") }
        try bench.outbox.raise([("f", "/a")])
        try bench.runUntilDone()
        let sequence = try #require(try bench.outbox.deadLetters().first).event.sequence
        bench.target.answer = { _ in .succeeded }
        bench.outbox.withOutbox(on: bench.loop) { outbox throws(StoreError) in try outbox.replay(sequence, now: 0) } completion: { _ in }
        try bench.run(until: { bench.target.succeeded.map(\.id) == ["id-1"] })
        try bench.runUntilDone()
        #expect(try bench.outbox.deadLetters().isEmpty)
    }

    @Test("a failing store holds events up and loses none")
    func survivesStore() throws {
        let bench = try DeliveryBench(DeliveryBench.settings { $0.loadedCountMax = 10 })
        try bench.outbox.raise((0..<300).map { ("f", "/\($0 % 7)") })
        bench.outbox.failures = 30
        try bench.runUntilDone()
        #expect(Set(bench.target.succeeded.map(\.id)).count == 300)
    }

    @Test("stopping starts nothing more, and what was answered is noted before the end")
    func stops() throws {
        let bench = try DeliveryBench()
        bench.target.answer = { _ in nil }
        try bench.outbox.raise([("f", "/a"), ("f", "/a"), ("f", "/b")])
        try bench.run(until: { bench.target.open.count == 2 })
        bench.delivery.stop()
        bench.target.finish(0, .succeeded)
        bench.target.finish(0, .stopped)
        var isFinished = false
        bench.delivery.finish { isFinished = true }
        try bench.run(until: { isFinished })
        #expect(bench.target.started.count == 2)
        #expect(Set(try bench.outbox.pending()) == ["id-2", "id-3"])
    }
}
