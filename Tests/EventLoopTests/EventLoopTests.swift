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
        #expect(try await loop.offload { loop.isCurrent } == false)
        await #expect(throws: Failure.self) { try await loop.offload { throw Failure() } }
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
