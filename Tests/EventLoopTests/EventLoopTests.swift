import Synchronization
import Testing

@testable import EventLoop

@Suite("EventLoop")
struct EventLoopTests {
    @Test("work from other threads runs on the loop, in order")
    func runsPostedWork() async throws {
        let thread = try LoopThread()
        defer { thread.join() }
        let seen = Mutex<[Int]>([])
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            for number in 0..<1000 {
                thread.loop.post {
                    thread.loop.preconditionCurrent()
                    seen.withLock { $0.append(number) }
                    if number == 999 { done.resume() }
                }
            }
        }
        #expect(seen.withLock { $0 } == Array(0..<1000))
    }

    @Test("a task with the loop's preference never leaves its thread")
    func keepsTasks() async throws {
        let thread = try LoopThread()
        defer { thread.join() }
        let loop = thread.loop
        await withTaskExecutorPreference(loop) {
            #expect(loop.isCurrent)
            await Task.yield()
            #expect(loop.isCurrent)
            let values = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<10 { group.addTask { loop.isCurrent } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(values == Array(repeating: true, count: 10))
        }
    }

    @Test("blocking work runs elsewhere, and its result and errors come back")
    func offloads() async throws {
        struct Failure: Error {}
        let thread = try LoopThread()
        defer { thread.join() }
        let loop = thread.loop
        #expect(await loop.offload { loop.isCurrent } == false)
        await #expect(throws: Failure.self) { try await loop.offload { throw Failure() } }
    }

    @Test("many threads wake a loop that sleeps in between, and nothing they send is forgotten")
    func wakesForEverybody() async throws {
        let thread = try LoopThread()
        defer { thread.join() }
        let loop = thread.loop
        let seen = Tally()
        for _ in 0..<50 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        // Each goes on only when the loop has run what it sent: a forgotten wake-up would hang here.
                        for _ in 0..<5 {
                            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                                loop.post {
                                    seen.count.add(1, ordering: .relaxed)
                                    done.resume()
                                }
                            }
                        }
                    }
                }
            }
        }
        #expect(seen.count.load(ordering: .relaxed) == 1000)
    }

    @Test("more blocking work than the pool has threads is done, each piece once")
    func offloadsMuch() async throws {
        let thread = try LoopThread()
        defer { thread.join() }
        let loop = thread.loop
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 { group.addTask { try await loop.offload { number } } }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(results == Set(0..<200))
    }

    @Test("work that always makes more work does not keep timers waiting")
    func isFair() async throws {
        let thread = try LoopThread()
        defer { thread.join() }
        let loop = thread.loop
        let isOver = Atomic(false)
        let again = Repeater(loop: loop) { isOver.load(ordering: .relaxed) }
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            loop.post {
                let box = TimerBox()
                box.timer = Timer(loop: loop) {
                    isOver.store(true, ordering: .relaxed)
                    box.timer = nil
                    done.resume()
                }
                box.timer?.start(afterMilliseconds: 5)
                again.run()
            }
        }
    }

    @Test("errors carry libuv's name and text")
    func describesErrors() throws {
        let loop = try EventLoop()
        let first = try Listener.tcp(loop: loop, host: "127.0.0.1", port: 0) { _ in }
        do {
            _ = try Listener.tcp(loop: loop, host: "127.0.0.1", port: first.port) { _ in }
            Issue.record("two listeners on one port")
        } catch {
            #expect(error.name == "EADDRINUSE")
            #expect(error.description == "bind 127.0.0.1:\(first.port): address already in use (EADDRINUSE)")
        }
    }
}

/// A number that threads add to.
private final class Tally: Sendable {
    let count = Atomic(0)
}

/// Posts itself again until it is told to stop.
private final class Repeater: Sendable {
    let loop: EventLoop
    let isOver: @Sendable () -> Bool

    init(loop: EventLoop, isOver: @escaping @Sendable () -> Bool) {
        self.loop = loop
        self.isOver = isOver
    }

    func run() {
        if !isOver() { loop.post { self.run() } }
    }
}

private final class TimerBox {
    var timer: Timer?
}
