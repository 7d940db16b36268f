import EventLoop
import FuzzSupport
import Glibc
import Testing
import Tree

@testable import RealtimeDatabase

/// Requests from several loops while namespaces are closed for lack of memory and for idleness. `HEARTH_FUZZ_SEED` sets the seed.
@Suite struct RestingRaceTests {
    private static let askers = 4
    private static let names = 16
    private static let steps = 150

    /// The writes that were acknowledged to each client, by namespace.
    private typealias Known = [String: Int]

    @Test(arguments: EngineUnderTest.allCases)
    func nothingIsRefusedLostOrOlderThanItWas(_ engine: EngineUnderTest) async throws {
        let seed = getenv("HEARTH_FUZZ_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...1_000_000_000)
        var limits = DatabaseLimits()
        // A namespace in use, and one that has just been released.
        limits.namespacesMax = 2 * Self.askers + 1
        try await engine.run(limits: limits) { run, _ in
            let ends = Notes<Int>()
            let known = try await withThrowingTaskGroup { group in
                group.addTask { () -> (Int, Known)? in
                    var random = SeededRandom(seed: seed)
                    while ends.all.count < Self.askers {
                        run.database.closeIdle(on: run.loop)
                        try await Self.pause(&random)
                    }
                    return nil
                }
                for asker in 0..<Self.askers {
                    group.addTask {
                        defer { ends.add(asker) }
                        return (asker, try await Self.ask(run, asker, SeededRandom(seed: seed &+ UInt64(asker) &+ 1), seed))
                    }
                }
                var known: [Int: Known] = [:]
                while let result = try await group.next() {
                    if let result { known[result.0] = result.1 }
                }
                return known
            }
            for (asker, values) in known {
                for (name, value) in values { #expect(try await run.json("/t\(asker)", in: name) == "\(value)", "seed \(seed)") }
            }
            try await run.rest()
        }
    }

    private static func ask(_ run: EngineRun, _ asker: Int, _ seeded: SeededRandom, _ seed: UInt64) async throws -> Known {
        var random = seeded
        var known: Known = [:]
        let thread = try LoopThread()
        defer { thread.join() }
        for step in 0..<steps {
            let name = "n\(Int.random(in: 0..<names, using: &random))"
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let outcome = try await run.put("/t\(asker)", "\(step)", in: name, on: thread.loop)
                #expect(outcome.commit != nil, "seed \(seed): \(outcome)")
                known[name] = step
            case 4..<7:
                let json = try await run.json("/t\(asker)", in: name, on: thread.loop)
                #expect(json == known[name].map { "\($0)" } ?? "null", "seed \(seed)")
            default: try await listen(run, name, "/t\(asker)", step, thread.loop, seed)
                known[name] = step
            }
            try await pause(&random)
        }
        return known
    }

    /// Listens, writes, and hears of it before the writer's own answer.
    private static func listen(_ run: EngineRun, _ name: String, _ path: String, _ step: Int, _ loop: EventLoop, _ seed: UInt64) async throws {
        let heard = Notes<String>()
        let request = try WriteRequest.put(path, "\(step)")
        let place = try Path(parsing: path)
        let commit: UInt64? = try await withCheckedThrowingContinuation { continuation in
            loop.post { [database = run.database] in
                do throws(DatabaseError) {
                    let namespace = try database.namespace(name)
                    namespace.listen(place, on: loop) { listening in
                        namespace.write(request, on: loop) { outcome in
                            try? listening.get().end()
                            continuation.resume(returning: outcome.commit)
                        }
                    } news: {
                        heard.add(ListenerTests.describe($0))
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(commit.map { "put \(path) \(step) \($0)" } == heard.all.first, "seed \(seed)")
    }

    private static func pause(_ random: inout SeededRandom) async throws {
        let microseconds = Int.random(in: 0..<3000, using: &random)
        if microseconds > 500 { try await Task.sleep(for: .microseconds(microseconds)) }
    }
}
