import Testing

@testable import EventLoop

/// Runs `body` as a task of a loop with a thread of its own.
private func onLoop(_ body: @escaping @Sendable (EventLoop) async -> Void) async throws {
    let thread = try LoopThread()
    defer { thread.join() }
    let loop = thread.loop
    await withCheckedContinuation { done in
        loop.post {
            loop.task {
                await body(loop)
                done.resume()
            }
        }
    }
}

@Suite("Tasks of a loop")
struct LoopTaskTests {
    @Test("a task stays on its loop across everything that it waits for")
    func stays() async throws {
        try await onLoop { loop in
            #expect(loop.isCurrent)
            #expect(await loop.offload { loop.isCurrent } == false)
            #expect(loop.isCurrent)
            await loop.sleep(milliseconds: 1)
            #expect(loop.isCurrent)
            await Task.yield()
            #expect(loop.isCurrent)
        }
    }

    @Test("a task begins after the code that starts it")
    func begins() async throws {
        try await onLoop { loop in
            var seen: [String] = []
            let task = loop.task { seen.append("task") }
            seen.append("starter")
            await task.value
            #expect(seen == ["starter", "task"])
        }
    }

    @Test("acts on many items run at the same time, and answer in order")
    func concurrently() async throws {
        try await onLoop { loop in
            var running = 0
            var most = 0
            let answers = await loop.concurrently([3, 1, 2]) { item in
                running += 1
                most = max(most, running)
                // The first item ends last.
                for _ in 0..<item * 10 { await Task.yield() }
                running -= 1
                return "\(item) \(loop.isCurrent)"
            }
            #expect(answers == ["3 true", "1 true", "2 true"])
            #expect(most == 3)
            #expect(await loop.concurrently([Int]()) { $0 } == [])
        }
    }

    @Test("offloaded work throws its own type of error")
    func typedErrors() async throws {
        struct Refusal: Error, Equatable { var number: Int }
        try await onLoop { loop in
            do throws(Refusal) {
                try await loop.offload { () throws(Refusal) in throw Refusal(number: 3) }
            } catch {
                #expect(error == Refusal(number: 3))
                #expect(loop.isCurrent)
            }
        }
    }
}

@Suite("Turns")
struct LoopTurnsTests {
    /// Acts that end when they are told to.
    private final class Acts {
        var begun: [String] = []
        private var ends: [String: CheckedContinuation<Void, Never>] = [:]

        func run(_ name: String) async {
            begun.append(name)
            await withCheckedContinuation { ends[name] = $0 }
        }

        func end(_ name: String) { ends.removeValue(forKey: name)?.resume() }
    }

    /// Lets the tasks of the loop run until they wait.
    private static func settle() async { for _ in 0..<20 { await Task.yield() } }

    @Test("one act alone follows the other, in order, also after one that fails")
    func alone() async throws {
        struct Failure: Error {}
        try await onLoop { loop in
            let (turns, acts) = (LoopTurns(), Acts())
            loop.task { await turns.alone { await acts.run("a") } }
            loop.task {
                do throws(Failure) {
                    try await turns.alone { () async throws(Failure) in
                        acts.begun.append("b")
                        throw Failure()
                    }
                } catch {
                    acts.begun.append("failed")
                }
            }
            loop.task { await turns.alone { await acts.run("c") } }
            await Self.settle()
            #expect(acts.begun == ["a"])
            acts.end("a")
            await Self.settle()
            #expect(acts.begun.prefix(2) == ["a", "b"])
            #expect(Set(acts.begun.dropFirst(2)) == ["failed", "c"])
            acts.end("c")
            await Self.settle()
        }
    }

    @Test("acts together do not run during one alone, and none of them overtakes it")
    func together() async throws {
        try await onLoop { loop in
            let (turns, acts) = (LoopTurns(), Acts())
            loop.task { await turns.together { await acts.run("a") } }
            loop.task { await turns.together { await acts.run("b") } }
            loop.task { await turns.alone { await acts.run("alone") } }
            loop.task { await turns.together { await acts.run("c") } }
            await Self.settle()
            #expect(acts.begun == ["a", "b"])
            acts.end("b")
            await Self.settle()
            #expect(acts.begun == ["a", "b"])
            acts.end("a")
            await Self.settle()
            #expect(acts.begun == ["a", "b", "alone"])
            acts.end("alone")
            await Self.settle()
            #expect(acts.begun == ["a", "b", "alone", "c"])
            acts.end("c")
            await Self.settle()
        }
    }

    @Test("an act answers")
    func answers() async throws {
        try await onLoop { _ in
            let turns = LoopTurns()
            #expect(await turns.alone { 1 } + turns.together { 2 } == 3)
        }
    }
}
