import Configuration
import EventDelivery
import Foundation
import FuzzSupport
import RealtimeDatabase
import SQLite
import Store
import Testing

@testable import TaskQueues

/// The store of tasks, by a clock that the test moves.
@Suite struct StoreTests {
    final class Bench {
        let folder: URL
        var now: Int64 = 1_772_409_600_000
        var limits = TaskLimits()
        private(set) var store: TaskStore!

        init(limits: TaskLimits = TaskLimits()) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "tasks-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            self.limits = limits
            try open()
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func open() throws {
            store = nil
            store = try TaskStore(path: folder.appending(path: "tasks.sqlite").path, limits: limits) { [unowned self] in now }
        }

        /// Runs `body` in a transaction.
        @discardableResult
        func change<Result>(_ body: (TaskStore) throws -> Result) throws -> Result {
            try store.transactions.begin()
            let result = try body(store)
            try store.willCommit()
            try store.transactions.commit()
            store.noteState()
            _ = store.outbox.didCommit()
            return result
        }

        func undo(_ body: (TaskStore) throws -> Void) throws {
            try store.transactions.begin()
            try body(store)
            store.transactions.rollback()
            try store.renew()
        }

        @discardableResult
        func enqueue(_ queue: String = "q", id: String? = nil, due: Int64? = nil, payload: String = "1") throws -> Result<EnqueuedTask, TaskRefusal> {
            var task = NewTask(queue: queue, id: id, payload: Array(payload.utf8))
            task.due = due
            return try change { try $0.enqueue(task) }
        }

        func due(_ queue: String = "q") throws -> [OutboxEvent] {
            try store.outbox.page(of: queue, after: 0, limit: 10_000, bytesMax: 1 << 30).events
        }
    }

    @Test func tasksThatAreDueAreInTheOutbox() throws {
        let bench = try Bench()
        let first = try bench.enqueue(payload: "{}").get()
        try bench.enqueue(id: "named")
        #expect(try bench.due().map(\.id) == [first.id, "named"])
        #expect(try bench.due()[0].payload == Array("{}".utf8) && bench.store.queues["q"]?.count == 2)
        #expect(try bench.store.firstDue() == nil)
        try bench.change { try $0.outbox.acknowledge(try bench.due()[0].key) }
        #expect(bench.store.queues["q"]?.count == 1)
    }

    @Test func othersComeToItInTheOrderOfTheirTimes() throws {
        let bench = try Bench()
        let late = try bench.enqueue(due: bench.now + 5000).get()
        let soon = try bench.enqueue(due: bench.now + 1000).get()
        #expect(try bench.due().isEmpty && bench.store.firstDue() == soon.due && bench.store.queues["q"]?.count == 2)
        bench.now += 999
        try bench.change { try $0.release() }
        #expect(try bench.due().isEmpty)
        bench.now += 1
        try bench.change { try $0.release() }
        #expect(try bench.due().map(\.id) == [soon.id] && bench.store.firstDue() == late.due)
        try bench.open()
        #expect(try bench.store.firstDue() == late.due && bench.store.queues["q"]?.count == 2)
        // The id leads to a task in both states.
        #expect(try bench.change { try $0.delete(soon.id, of: "q") } && bench.change { try $0.delete(late.id, of: "q") })
        #expect(try !bench.change { try $0.delete(soon.id, of: "q") } && bench.store.queues["q"]?.count == 0)
    }

    @Test func namesAreInUseForAnHourAfterTheEnd() throws {
        let bench = try Bench()
        try bench.enqueue(id: "a")
        bench.now += 7_200_000
        #expect(try bench.enqueue(id: "a") == .failure(.exists))
        try bench.change { try $0.outbox.acknowledge(try bench.due()[0].key) }
        bench.now += 3_599_999
        #expect(try bench.enqueue(id: "a") == .failure(.exists))
        #expect(try bench.enqueue("other", id: "a").get().id == "a")
        // Clocks that are set back a little free no name.
        bench.now -= 3_600_000
        #expect(try bench.enqueue(id: "a") == .failure(.exists))
        bench.now += 3_600_001
        #expect(try bench.enqueue(id: "a").get().id == "a")
    }

    @Test func aBusyQueueForgetsEndedNames() throws {
        let bench = try Bench()
        for hour in 0..<4 {
            for number in 0..<20 {
                try bench.enqueue(id: "n\(hour)-\(number)")
                for event in try bench.due() { try bench.change { try $0.outbox.acknowledge(event.key) } }
            }
            #expect(try bench.store.rows("SELECT count(*) FROM name", []) { $0.integer(at: 0) } == [20])
            bench.now += 3_600_000
        }
    }

    @Test func aReplayedTaskIsFoundByItsName() throws {
        let bench = try Bench()
        let made = try bench.enqueue().get().id
        try bench.enqueue(id: "named")
        for event in try bench.due() {
            try bench.change { try $0.outbox.bury(event.key, event.progress, reason: .failed, now: bench.now) }
        }
        for letter in try bench.store.outbox.deadLetters(after: 0, limit: 10, bytesMax: 1 << 20).letters {
            try bench.change { try $0.outbox.replay(letter.event.sequence, now: bench.now) }
        }
        bench.now += 7_200_000
        #expect(try bench.enqueue(id: "named") == .failure(.exists))
        for id in [made, "named"] { #expect(try bench.change { try $0.delete(id, of: "q") }) }
        #expect(try bench.due().isEmpty && bench.store.queues["q"]?.bytes == 0)
    }

    @Test func aPurgeTellsTheLastTask() throws {
        let bench = try Bench()
        try bench.enqueue()
        let last = try #require(try bench.due().last?.sequence)
        let purged = try bench.change { try $0.purge("q") }
        try bench.enqueue()
        let next = try #require(try bench.due().last?.sequence)
        #expect(purged.count == 1 && last <= purged.through && purged.through < next)
    }

    @Test func endedNamesAreForgotten() throws {
        let bench = try Bench()
        for number in 0..<250 { try bench.enqueue(id: "n\(number)") }
        for event in try bench.due() { try bench.change { try $0.outbox.acknowledge(event.key) } }
        bench.now += 3_600_000
        for left in [150, 50, 0] {
            try bench.change { try $0.release() }
            #expect(try bench.store.rows("SELECT count(*) FROM name", []) { $0.integer(at: 0) } == [Int64(left)])
        }
    }

    @Test func aQueueHasLimits() throws {
        var limits = TaskLimits()
        (limits.tasksMax, limits.bytesMax) = (3, 2000)
        let bench = try Bench(limits: limits)
        for _ in 0..<2 { try bench.enqueue() }
        try bench.enqueue(due: bench.now + 1000)
        #expect(try bench.enqueue() == .failure(.full))
        #expect(try bench.enqueue("other", payload: String(repeating: "1", count: 1900)).get().due == bench.now)
        #expect(try bench.enqueue("other", payload: String(repeating: "1", count: 200)) == .failure(.full))
        try bench.undo { try $0.outbox.acknowledge(try bench.due()[0].key) }
        #expect(try bench.enqueue() == .failure(.full))
        try bench.change { try $0.outbox.acknowledge(try bench.due()[0].key) }
        #expect(try bench.enqueue().get().due == bench.now)
    }

    @Test func longRetriesAreSetAside() throws {
        let bench = try Bench()
        let task = try bench.enqueue().get()
        let event = try bench.due()[0]
        var progress = event.progress
        (progress.attempts, progress.notBefore) = (1, bench.now + 60_000)
        try bench.change { try $0.outbox.setAside(event.key, progress) }
        #expect(try bench.due().isEmpty && bench.store.queues["q"]?.count == 1)
        #expect(try bench.store.list("q", limit: 9).map { [$0.id, "\($0.attempts)", "\($0.isLater)"] } == [[task.id, "1", "true"]])
        bench.now += 60_000
        try bench.change { try $0.release() }
        let again = try bench.due()[0]
        #expect(again.id == task.id && again.progress.attempts == 1 && again.sequence > event.sequence)
        #expect(try bench.change { try $0.delete(task.id, of: "q") } && bench.store.queues["q"]?.count == 0)
    }

    @Test func theEngineOfRetries() {
        var trigger = TaskQueueTrigger()
        var progress = DeliveryProgress(since: 0)
        progress.attempts = 1
        #expect(trigger.retry(after: &progress, now: 5000) == .after(milliseconds: 100) && progress.since == 5000)
        progress.attempts = 2
        #expect(trigger.retry(after: &progress, now: 6000) == .after(milliseconds: 200) && progress.since == 5000)
        progress.attempts = 3
        #expect(trigger.retry(after: &progress, now: 7000) == .giveUp(.failed))
        trigger.retry = BackoffRetry(count: 0, maxSeconds: 60, minBackoffSeconds: 10, maxBackoffSeconds: 300, maxDoublings: 1)
        #expect(trigger.retry(after: &progress, now: 64_000) == .later(milliseconds: 40_000))
        #expect(trigger.retry(after: &progress, now: 65_000) == .giveUp(.failed))
        trigger.retry.count = .max
        progress.attempts = 1_000_000
        #expect(trigger.retry(after: &progress, now: 1 << 40) == .later(milliseconds: 300_000))
    }

    /// Random acts, with crashes between them: nothing is lost, nothing that has ended comes again, and the numbers are right.
    @Test(arguments: UInt64(1)...6)
    func nothingIsLost(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let bench = try Bench()
        var (living, ended): (Set<String>, Set<String>) = ([], [])
        for round in 0..<400 {
            let queue = ["a", "b"][Int.random(in: 0...1, using: &random)]
            let full = { (id: String) in "\(queue)/\(id)" }
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                let id = Bool.random(using: &random) ? "n\(Int.random(in: 0..<40, using: &random))" : nil
                let due = Bool.random(using: &random) ? bench.now + Int64.random(in: -1000...9000, using: &random) : nil
                switch try bench.enqueue(queue, id: id, due: due) {
                case .success(let task):
                    #expect(!living.contains(full(task.id)) && !ended.contains(full(task.id)), "round \(round)")
                    living.insert(full(task.id))
                case .failure(let refusal): #expect(refusal == .exists && id.map { living.contains(full($0)) || ended.contains(full($0)) } == true)
                }
            case 4...5:
                guard let event = try bench.due(queue).randomElement(using: &random) else { continue }
                let isUndone = Bool.random(using: &random)
                let act = { (store: TaskStore) throws in try store.outbox.acknowledge(event.key) }
                if isUndone { try bench.undo(act) } else { try bench.change(act) }
                if !isUndone { (_, _) = (living.remove(full(event.id)), ended.insert(full(event.id))) }
            case 6:
                guard let event = try bench.due(queue).randomElement(using: &random) else { continue }
                var progress = event.progress
                progress.attempts += 1
                progress.notBefore = bench.now + 4000
                try bench.change { try $0.outbox.setAside(event.key, progress) }
            case 7:
                guard let name = living.filter({ $0.hasPrefix(queue) }).sorted().randomElement(using: &random) else { continue }
                #expect(try bench.change { try $0.delete(String(name.dropFirst(2)), of: queue) })
                (_, _) = (living.remove(name), ended.insert(name))
            case 8:
                bench.now += Int64.random(in: 1...3000, using: &random)
                try bench.change { try $0.release() }
            default: try bench.open()
            }
            let listed = try ["a", "b"].flatMap { queue in try bench.store.list(queue, limit: 10_000).map { "\(queue)/\($0.id)" } }
            #expect(Set(listed) == living && listed.count == living.count, "round \(round)")
            for queue in ["a", "b"] {
                #expect(bench.store.queues[queue]?.count ?? 0 == living.count { $0.hasPrefix(queue) }, "round \(round)")
                let sizes = try bench.store.rows("SELECT length(row) FROM later WHERE queue = ?1", [.text(queue)]) { Int($0.integer(at: 0)) }
                let bytes = try sizes.reduce(0, +) + bench.due(queue).reduce(0) { $0 + $1.stored.count }
                #expect(bench.store.queues[queue]?.bytes ?? 0 == bytes, "round \(round)")
            }
        }
        #expect(try bench.change { try $0.purge("a").count + $0.purge("b").count } == living.count)
        #expect(bench.store.queues.values.allSatisfy { $0.count == 0 && $0.bytes == 0 })
    }
}
