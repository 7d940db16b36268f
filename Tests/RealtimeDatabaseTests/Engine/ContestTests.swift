import DequeModule
import EventLoop
import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// The turns of clients whose transactions fail because of each other. Each test is one turn of the writer's loop, so that no time passes in it.
@Suite struct ContestTests {
    private final class Client: Sendable {}

    private let first = Client(), second = Client()

    /// Calls `body` on the writer's thread, and returns what it has found to be wrong.
    private func faults(_ body: @escaping @Sendable (Steps) throws -> Void) async throws -> [String] {
        let run = try EngineRun(MemoryStorage())
        let namespace = try run.namespace()
        return await run.answer { loop, done in
            let done = LoopBound(done, loop: loop)
            namespace.onWriter { writer in
                let steps = Steps(writer)
                do { try body(steps) } catch { steps.faults.append("\(error)") }
                let faults = steps.faults
                loop.post { done.value(faults) }
            }
        }
    }

    private final class Steps {
        let writer: NamespaceWriter
        var faults: [String] = []

        init(_ writer: NamespaceWriter) { self.writer = writer }

        func request(_ client: Client, _ path: String = "/a") throws -> WriteRequest {
            var request = try WriteRequest.put(path, "1")
            request.ifMatch = "wrong"
            request.contender = ObjectIdentifier(client)
            return request
        }

        func fail(_ client: Client, times: Int = 1, at path: String = "/a") throws {
            for _ in 0..<times { writer.didContend(try request(client, path), .conflict(value: [], etag: "")) }
        }

        var contest: Contest? { writer.contests[Path(["a"]).key] }

        func expect(_ client: Client?, _ what: String) {
            if contest?.holder != client.map({ ObjectIdentifier($0) }) { faults.append(what) }
        }

        func expect(_ isTrue: Bool, _ what: String) {
            if !isTrue { faults.append(what) }
        }
    }

    @Test func aClientThatHasFailedHasATurn() async throws {
        let faults = try await faults { [first, second] steps in
            try steps.fail(first, times: Contest.conflictsMax - 1)
            steps.expect(nil, "a turn before the last failure")
            try steps.fail(first)
            steps.expect(first, "no turn")
            var performed = 0
            steps.writer.enterContest(try steps.request(second)) { performed += 1 }
            steps.expect(performed == 0, "others do not wait")
            steps.writer.enterContest(try steps.request(first)) { performed += 1 }
            steps.writer.enterContest(try steps.request(second, "/b")) { performed += 1 }
            steps.expect(performed == 2, "the client itself, or another node, waits")
            steps.writer.didContend(try steps.request(first), .committed(WriteReceipt(commit: 1, value: nil, etag: nil)))
            steps.expect(nil, "the turn does not end with success")
        }
        #expect(faults == [])
    }

    @Test func aTurnThatIsNotUsedCostsThirtyFailures() async throws {
        let faults = try await faults { [first, second] steps in
            try steps.fail(first, times: Contest.conflictsMax + Contest.failuresMax)
            steps.expect(nil, "the turn goes on after the most failures")
            try steps.fail(first, times: Contest.unusedPenalty - 1)
            steps.expect(nil, "the next turn comes too early")
            try steps.fail(second, times: Contest.conflictsMax)
            steps.expect(second, "another client has no turn")
        }
        #expect(faults == [])
    }

    @Test func noTransactionWaitsWithoutEnd() async throws {
        let faults = try await faults { [first, second] steps in
            try steps.fail(first, times: Contest.conflictsMax)
            var performed = false
            steps.writer.enterContest(try steps.request(second)) { performed = true }
            let key = Path(["a"]).key
            let patience = (steps.contest?.waiting.first?.deadline ?? 0) - steps.writer.loop.nowMilliseconds
            steps.expect(patience == Contest.patienceMilliseconds, "\(patience) ms")
            steps.writer.checkContests()
            steps.expect(!performed, "performed too early")
            steps.writer.contests[key]?.waiting[0].deadline = 0
            steps.writer.checkContests()
            steps.expect(performed, "not performed when its time is over")
            steps.expect(first, "the turn has ended")
            steps.writer.contests[key]?.until = 0
            steps.writer.checkContests()
            steps.expect(nil, "the turn does not end with its time")
        }
        #expect(faults == [])
    }

    @Test func nodesWithTurnsAreBounded() async throws {
        let faults = try await faults { [first] steps in
            for number in 0..<Contest.nodesMax + 10 { try steps.fail(first, at: "/n/k\(number)") }
            steps.expect(steps.writer.contests.count == Contest.nodesMax, "\(steps.writer.contests.count) nodes")
            var performed = false
            steps.writer.enterContest(try steps.request(first, "/n/k\(Contest.nodesMax + 9)")) { performed = true }
            steps.expect(performed, "a node beyond waits")
        }
        #expect(faults == [])
    }
}
