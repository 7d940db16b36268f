import Configuration
import EventDelivery
import RealtimeDatabase
import Synchronization
import Testing
import Tree

@testable import Schedules

@Suite("The engine of schedules", .serialized)
struct EngineTests {
    @Test("a function runs once at each due time")
    func runs() throws {
        let bench = try ScheduleBench()
        let function = try bench.declare("f", "*/5 * * * *")
        #expect(bench.engine.list().map(\.nextDue) == [ScheduleBench.start + 300])
        for minute in [4, 5, 5, 6, 10, 15] { try bench.advance(toMinute: minute) }
        #expect(function.minutes == [5, 10, 15])
        #expect(function.started.map(\.id) == [300, 600, 900].map { (seconds: Int64) in "f-\(ScheduleBench.start + seconds)" })
        let status = try #require(bench.engine.list().first)
        #expect(status.lastDue == ScheduleBench.start + 900 && status.nextDue == ScheduleBench.start + 1200)
        #expect(status.lastError == nil && status.lastEnd != nil && !status.isRunning && !status.isPaused)
        #expect(bench.engine.figures.begun == 3 && bench.engine.figures.active == 1 && bench.engine.figures.missed == 0)
    }

    @Test("due times of several functions come in their order")
    func order() throws {
        let bench = try ScheduleBench()
        let triggers = (0..<40).map { ("f\($0)", ScheduleTrigger(schedule: "\($0) * * * *", timeZone: "UTC")) }
        try bench.declare(Dictionary(uniqueKeysWithValues: triggers))
        for minute in 1..<130 { try bench.advance(toMinute: minute) }
        for number in 0..<40 {
            let expected = [0, 60, 120].map { $0 + number }.filter { (1..<130).contains($0) }
            #expect(bench.targets["f\(number)"]?.minutes == expected, "f\(number)")
        }
    }

    @Test("a run that was begun and not settled is made again after a crash, a settled one never")
    func crash() throws {
        let bench = try ScheduleBench()
        let function = try bench.declare("f", "*/5 * * * *")
        function.answer = { _ in nil }
        try bench.advance(toMinute: 5)
        #expect(function.minutes == [5] && bench.engine.list().first?.isRunning == true)
        try bench.restart()
        let second = try #require(bench.targets["f"])
        try bench.settle()
        #expect(second.minutes == [5] && second.started.first?.id == function.started.first?.id)
        try bench.restart()
        try bench.settle()
        #expect(bench.targets["f"]?.minutes == [])
        #expect(bench.engine.list().first?.isRunning == false)
        try bench.advance(toMinute: 10)
        #expect(bench.targets["f"]?.minutes == [10])
    }

    @Test("a clock that jumps forward makes due times missed ones")
    func clockJumps() throws {
        let bench = try ScheduleBench()
        let function = try bench.declare("f", "*/5 * * * *")
        try bench.advance(toMinute: 33)
        #expect(function.minutes == [30] && bench.log.lines.withLock { $0.count } == 1)
        try bench.advance(toMinute: 35)
        #expect(function.minutes == [30, 35])
    }

    @Test("a clock that is set back runs nothing twice")
    func clockSetBack() throws {
        let bench = try ScheduleBench()
        let function = try bench.declare("f", "*/5 * * * *")
        try bench.advance(toMinute: 5)
        try bench.advance(toMinute: 10)
        try bench.advance(toMinute: 3)
        try bench.advance(toMinute: 5)
        try bench.restart()
        for minute in [5, 9, 10, 12] { try bench.advance(toMinute: minute) }
        #expect(function.minutes == [5, 10] && bench.targets["f"]?.minutes == [])
        try bench.advance(toMinute: 15)
        #expect(bench.targets["f"]?.minutes == [15])
    }

    @Test(
        "missed due times run once, not at all, or each, and are told",
        arguments: [
            (ScheduleSettings.Missed.once, [30], 5, "the function runs once for them"),
            (.skip, [], 6, "the function does not run for them"),
            (.all, [5, 10, 15, 20, 25, 30], 0, "the function runs for each of them"),
        ])
    func missed(_ setting: ScheduleSettings.Missed, _ minutes: [Int], _ count: Int, _ sentence: String) throws {
        let bench = try ScheduleBench(setting)
        _ = try bench.declare("f", "*/5 * * * *", "Europe/Berlin")
        try bench.restart(afterMinutes: 32)
        for _ in 0..<8 {
            bench.engine.wake()
            try bench.settle()
        }
        #expect(bench.targets["f"]?.minutes == minutes)
        #expect(bench.engine.figures.missed == count)
        let lines = bench.log.lines.withLock { $0 }
        #expect(
            lines == [
                "due times have passed while the host was down or the function still ran; \(sentence) count=6 first=2026-03-02T01:05:00+01:00 "
                    + "function=f last=2026-03-02T01:30:00+01:00 setting=schedules.missed \(setting.rawValue)"
            ])
        try bench.restart(afterMinutes: 1)
        #expect(bench.targets["f"]?.minutes == [])
        try bench.advance(toMinute: 35)
        #expect(bench.targets["f"]?.minutes == [35])
    }

    @Test("a due time of the last minute is late, not missed", arguments: [ScheduleSettings.Missed.once, .skip, .all])
    func late(_ setting: ScheduleSettings.Missed) throws {
        let bench = try ScheduleBench(setting)
        _ = try bench.declare("f", "30 * * * *")
        bench.now += 29 * 60_000 + 30_000
        try bench.restart(afterMinutes: 1)
        bench.engine.wake()
        try bench.settle()
        #expect(bench.targets["f"]?.minutes == [30])
        #expect(bench.log.lines.withLock { $0 } == [])
    }

    @Test("at most a thousand missed runs are caught up, the newest ones")
    func caughtUp() throws {
        let bench = try ScheduleBench(.all)
        _ = try bench.declare("f", "* * * * *")
        try bench.restart(afterMinutes: 5000)
        bench.engine.wake()
        try bench.settle()
        #expect(bench.targets["f"]?.minutes.first == 4001)
        #expect(bench.log.lines.withLock { $0.first?.contains("count=100 or more") } == true)
    }

    @Test("many functions that missed something make few lines")
    func fewLines() throws {
        let bench = try ScheduleBench()
        let triggers = (0..<400).map { ("f\($0)", ScheduleTrigger(schedule: "0 * * * *", timeZone: "UTC")) }
        try bench.declare(Dictionary(uniqueKeysWithValues: triggers))
        try bench.restart(afterMinutes: 200)
        for _ in 0..<10 {
            bench.engine.wake()
            try bench.settle()
        }
        #expect(bench.targets.values.allSatisfy { $0.minutes == [180] })
        let lines = bench.log.lines.withLock { $0 }
        #expect(lines.count == 21 && lines.last?.contains("functions=380") == true)
    }

    @Test("due times that pass during a run wait for its end")
    func overlap() throws {
        let bench = try ScheduleBench()
        let function = try bench.declare("f", "*/5 * * * *")
        function.answer = { _ in nil }
        try bench.advance(toMinute: 5)
        for minute in [10, 15, 17] { try bench.advance(toMinute: minute) }
        #expect(function.minutes == [5])
        function.finish(.succeeded)
        try bench.settle()
        bench.engine.wake()
        try bench.settle()
        #expect(function.minutes == [5, 15])
        #expect(bench.log.lines.withLock { $0.count } == 1)
    }

    @Test("an interval counts from the end of the run")
    func interval() throws {
        let bench = try ScheduleBench()
        let function = try bench.declare("f", "every 10 minutes")
        function.answer = { _ in nil }
        try bench.advance(toMinute: 10)
        bench.now += 4 * 60_000
        function.finish(.succeeded)
        try bench.settle()
        try bench.advance(toMinute: 20)
        #expect(function.minutes == [10])
        try bench.restart(afterMinutes: 3)
        #expect(bench.targets["f"]?.minutes == [])
        try bench.advance(toMinute: 24)
        #expect(bench.targets["f"]?.minutes == [24])
    }

    @Test("failed runs are repeated as the schedule says, then are dead letters")
    func retries() throws {
        let bench = try ScheduleBench()
        let retry = BackoffRetry(count: 2, minBackoffSeconds: 0.01, maxBackoffSeconds: 0.02, maxDoublings: 1)
        // An interval, because the delivery has the machine's clock, on which other due times have passed.
        let function = try bench.declare("f", "every 12 hours", retry: retry)
        function.answer = { $0.progress.attempts < 2 ? .failed("aborted: not yet") : .succeeded }
        try bench.advance(toMinute: 720)
        try bench.run { function.started.count == 3 }
        try bench.settle()
        #expect(function.started.map(\.progress.attempts) == [0, 1, 2] && Set(function.started.map(\.id)).count == 1)
        #expect(try bench.deadLetters().isEmpty && bench.engine.list().first?.lastError == nil)
        function.answer = { _ in .failed("internal: always") }
        try bench.advance(toMinute: 720 + 1440)
        try bench.run { function.started.count == 6 && bench.engine.list().first?.isRunning == false }
        try bench.settle()
        let letters = try bench.deadLetters()
        #expect(letters.map(\.reason) == [.failed] && letters.first?.event.progress.attempts == 3)
        #expect(bench.engine.list().first?.lastError == "internal: always")
        try bench.restart()
        #expect(bench.engine.list().first?.lastError == "internal: always")
    }

    @Test("the next due time ends the repetitions")
    func nextDueEndsRetries() throws {
        let declaration = try ScheduleDeclaration(
            ScheduleTrigger(schedule: "*/5 * * * *", timeZone: "UTC", retry: BackoffRetry(count: 5, minBackoffSeconds: 100)), zones: TimeZones())
        let due = ScheduleBench.start * 1000
        let event = OutboxEvent(
            byHand: "f", namespace: Outbox.schedules, function: "f", kind: .scheduled, path: Path(["f"]), params: [], payload: [], time: due,
            origin: .admin)
        var progress = DeliveryProgress(since: due)
        progress.attempts = 1
        #expect(declaration.retry(of: event, after: progress, now: due) == .after(milliseconds: 100_000))
        #expect(declaration.retry(of: event, after: progress, now: due + 199_000) == .after(milliseconds: 100_000))
        #expect(declaration.retry(of: event, after: progress, now: due + 200_000) == .giveUp(.expired))
    }

    @Test("waits grow as those of Cloud Scheduler")
    func backoff() {
        let retry = BackoffRetry(count: 5, minBackoffSeconds: 10, maxBackoffSeconds: 300, maxDoublings: 3)
        #expect((1...8).map { retry.backoffMilliseconds(beforeRepetition: $0) / 1000 } == [10, 20, 40, 80, 160, 240, 300, 300])
        #expect(BackoffRetry().backoffMilliseconds(beforeRepetition: 1) == 5000)
        #expect(BackoffRetry(minBackoffSeconds: 1, maxDoublings: 0).backoffMilliseconds(beforeRepetition: 3) == 3000)
        #expect(!BackoffRetry().goesOn(failures: 1, milliseconds: 0))
        #expect(BackoffRetry(count: 2).goesOn(failures: 2, milliseconds: 1 << 40) && !BackoffRetry(count: 2).goesOn(failures: 3, milliseconds: 0))
        let both = BackoffRetry(count: 1, maxSeconds: 60)
        #expect(both.goesOn(failures: 9, milliseconds: 59_999) && both.goesOn(failures: 1, milliseconds: 90_000))
        #expect(!both.goesOn(failures: 2, milliseconds: 60_000))
    }

    @Test("a paused schedule runs nothing until it is resumed, also after a restart, and catches nothing up")
    func pauses() async throws {
        let bench = try ScheduleBench()
        let function = try bench.declare("f", "*/5 * * * *")
        try bench.perform { try await $0.setPaused(true, "f") }
        try bench.advance(toMinute: 12)
        try bench.restart(afterMinutes: 8)
        try bench.advance(toMinute: 20)
        #expect(function.minutes == [] && bench.targets["f"]?.minutes == [] && bench.engine.list().first?.isPaused == true)
        #expect(bench.engine.figures.paused == 1 && bench.engine.figures.active == 0)
        try bench.perform { try await $0.setPaused(false, "f") }
        #expect(bench.engine.list().first?.nextDue == ScheduleBench.start + 1500)
        try bench.advance(toMinute: 25)
        #expect(bench.targets["f"]?.minutes == [25])
        #expect(bench.log.lines.withLock { $0 } == [])
        #expect(throws: ScheduleEngine.Refusal.unknown) { try bench.perform { try await $0.setPaused(true, "g") } }
    }

    @Test("a run by hand is stored, repeated and settled, and leaves due times as they are")
    func byHand() throws {
        let bench = try ScheduleBench()
        let function = try bench.declare("f", "*/5 * * * *")
        try bench.perform { try await $0.setPaused(true, "f") }
        let outcome = try bench.perform { try await $0.run("f", waits: true).outcome }
        #expect(outcome == .succeeded && function.started.first?.id.hasPrefix("by-hand-") == true)
        function.answer = { _ in .failed("aborted: no") }
        #expect(try bench.perform { try await $0.run("f", waits: true).outcome } == .failed("aborted: no"))
        try bench.settle()
        #expect(bench.engine.list().first?.lastDue == nil && bench.engine.list().first?.lastError == "aborted: no")
        #expect(try bench.deadLetters().count == 1)
        function.answer = { _ in nil }
        #expect(try bench.perform { try await $0.run("f", waits: false).outcome } == .begun)
        try bench.restart()
        try bench.settle()
        #expect(bench.targets["f"]?.started.count == 1)
        #expect(throws: ScheduleEngine.Refusal.unknown) { try bench.perform { try await $0.run("g", waits: true) } }
    }

    @Test("another schedule counts from its declaration; a function that cannot run keeps its state, a deleted one does not")
    func changes() throws {
        let bench = try ScheduleBench()
        _ = try bench.declare("f", "*/5 * * * *")
        try bench.advance(toMinute: 7)
        let changed = try bench.declare("f", "*/2 * * * *")
        #expect(bench.engine.list().first?.nextDue == ScheduleBench.start + 480)
        try bench.advance(toMinute: 8)
        #expect(changed.minutes == [8])
        try bench.perform { try await $0.setPaused(true, "f") }
        // The plugin cannot be loaded.
        try bench.declare([:], waiting: ["f"])
        #expect(bench.engine.list().map(\.schedule) == [nil] && bench.engine.list().first?.isPaused == true)
        #expect(throws: ScheduleEngine.Refusal.cannotRun) { try bench.perform { try await $0.run("f", waits: true) } }
        try bench.declare([:], isComplete: false)
        _ = try bench.declare("f", "*/2 * * * *")
        #expect(bench.engine.list().first?.isPaused == true && bench.engine.list().first?.lastDue == ScheduleBench.start + 480)
        try bench.declare([:])
        #expect(bench.engine.list().isEmpty)
        _ = try bench.declare("f", "*/2 * * * *")
        #expect(bench.engine.list().first?.isPaused == false && bench.engine.list().first?.lastDue == nil)
    }

    @Test("ten thousand schedules that are due together all run once")
    func many() throws {
        let bench = try ScheduleBench()
        let triggers = (0..<10_000).map { ("f\($0)", ScheduleTrigger(schedule: "0 * * * *", timeZone: "Europe/Berlin")) }
        try bench.declare(Dictionary(uniqueKeysWithValues: triggers))
        bench.now += 3_600_000
        bench.engine.wake()
        try bench.run { bench.targets.values.allSatisfy { $0.started.count == 1 } }
        try bench.settle()
        #expect(bench.engine.figures.begun == 10_000 && bench.engine.heap.count <= 20_064)
        #expect(bench.engine.list().allSatisfy { !$0.isRunning && $0.nextDue == ScheduleBench.start + 7200 })
    }
}

@Suite("The heap of due times")
struct DueHeapTests {
    @Test("elements come in the order of their times")
    func order() {
        var generator = SystemRandomNumberGenerator()
        var heap = DueHeap<Int>()
        var times: [Int64] = []
        for number in 0..<2000 {
            let time = Int64.random(in: 0..<500, using: &generator)
            times.append(time)
            heap.add(number, at: time)
            if number % 3 == 0, let first = heap.removeFirst() {
                #expect(first.time == times.min())
                times.remove(at: times.firstIndex(of: first.time) ?? 0)
            }
        }
        heap.keep { time, _ in time % 2 == 0 }
        times = times.filter { $0 % 2 == 0 }.sorted()
        var found: [Int64] = []
        while let (time, _) = heap.removeFirst() { found.append(time) }
        #expect(found == times && heap.first == nil)
    }
}
