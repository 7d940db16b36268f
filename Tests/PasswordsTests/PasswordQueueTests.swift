import Glibc
import Synchronization
import Testing

@testable import Passwords

@Suite struct PasswordQueueTests {
    /// Counts the jobs that run at a time.
    private final class Gauge: Sendable {
        private let state = Mutex((running: 0, most: 0, done: 0))

        var most: Int { state.withLock { $0.most } }
        var done: Int { state.withLock { $0.done } }
        var running: Int { state.withLock { $0.running } }

        func run(microseconds: UInt32) {
            state.withLock {
                $0.running += 1
                $0.most = max($0.most, $0.running)
            }
            usleep(microseconds)
            state.withLock {
                $0.running -= 1
                $0.done += 1
            }
        }
    }

    /// A job that runs until it is let go.
    private final class Latch: Sendable {
        private let holds = Atomic(true)
        private let started = Atomic(false)
        private let refusals = Atomic(0)

        var hasStarted: Bool { started.load(ordering: .sequentiallyConsistent) }
        var refused: Int { refusals.load(ordering: .sequentiallyConsistent) }

        func release() { holds.store(false, ordering: .sequentiallyConsistent) }
        func refuse() { refusals.add(1, ordering: .sequentiallyConsistent) }

        func run() {
            started.store(true, ordering: .sequentiallyConsistent)
            while holds.load(ordering: .sequentiallyConsistent) { usleep(1000) }
        }
    }

    @Test func atMostSoManyAtATime() async {
        let queue = PasswordQueue(threadsMax: 3, waitingMax: 1000, waitingPerClientMax: 1000)
        let gauge = Gauge()
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...200 {
                group.addTask {
                    (try? await queue.run {
                        gauge.run(microseconds: 500)
                        return number
                    }) ?? 0
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 200 * 201 / 2)
        #expect(gauge.most <= 3)
        #expect(gauge.done == 200)
    }

    /// With one thread and room for two, the fourth job is refused while the first runs, and accepted when it has ended.
    @Test func tooManyAreRefused() async throws {
        let queue = PasswordQueue(threadsMax: 1, waitingMax: 2)
        let latch = Latch()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.run { latch.run() } }
            while !latch.hasStarted { await Task.yield() }
            for _ in 0..<5 {
                group.addTask {
                    do throws(PasswordFailure) { try await queue.run {} } catch { latch.refuse() }
                }
            }
            while latch.refused < 3 { await Task.yield() }
            latch.release()
            await group.waitForAll()
        }
        #expect(latch.refused == 3)
        #expect(try await queue.run { 7 } == 7)
    }

    /// One client fills its part of the queue, and another still gets in.
    @Test func oneClientDoesNotFillTheQueue() async throws {
        let queue = PasswordQueue(threadsMax: 1, waitingMax: 10, waitingPerClientMax: 2)
        let latch = Latch()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.run { latch.run() } }
            while !latch.hasStarted { await Task.yield() }
            for _ in 0..<5 {
                group.addTask {
                    do throws(PasswordFailure) { try await queue.run(for: "greedy") {} } catch { latch.refuse() }
                }
            }
            while latch.refused < 3 { await Task.yield() }
            group.addTask {
                do throws(PasswordFailure) { try await queue.run(for: "other") {} } catch { latch.refuse() }
            }
            latch.release()
            await group.waitForAll()
        }
        #expect(latch.refused == 3)
    }

    @Test func threadsHaveLowPriority() async throws {
        let queue = PasswordQueue(threadsMax: 1)
        let mine = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        let theirs = try await queue.run { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
        #expect(theirs == min(mine + 10, 19))
        #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) == mine)
    }
}
