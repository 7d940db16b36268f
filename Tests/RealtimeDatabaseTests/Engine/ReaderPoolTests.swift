import EventLoop
import Testing
import Tree

@testable import RealtimeDatabase

/// Several readers of a namespace.
@Suite struct ReaderPoolTests {
    private static func limits(_ readersMax: Int) -> DatabaseLimits {
        var limits = DatabaseLimits()
        limits.readersMax = readersMax
        return limits
    }

    private static let quick = ReadRequest(Path(["a"]), principal: .admin)
    private static let slow = ReadRequest(Path(["a"]), .shallow(limit: nil, startAfter: nil), principal: .admin)

    @Test(arguments: EngineUnderTest.allCases)
    func thereAreAsManyAsAreNeeded(_ engine: EngineUnderTest) async throws {
        try await engine.run(limits: Self.limits(4)) { run, _ in
            try await run.put("/a", "1")
            let readers = try run.namespace().open.readers
            for _ in 0..<50 { #expect(try await run.read(Self.quick).json == "1") }
            #expect(readers.count == 1)
            for _ in 0..<50 { #expect(try await run.read(Self.slow).json == "1") }
            #expect(readers.count == 2)
        }
    }

    /// Each reader that exists is blocked; further reads are answered by others, up to the limit.
    @Test(arguments: EngineUnderTest.allCases, [true, false])
    func othersHelpABlockedOne(_ engine: EngineUnderTest, _ isSlow: Bool) async throws {
        try await engine.run(limits: Self.limits(2)) { run, _ in
            try await run.put("/a", "1")
            let namespace = try run.namespace()
            if isSlow { _ = try await run.read(Self.slow) }
            let gate = Gate()
            let count = namespace.open.readers.count
            namespace.onEachReader({ _ in gate.pass() }, completion: {})
            let answers = Notes<String>()
            run.loop.post { [loop = run.loop] in
                for _ in 0..<40 { namespace.read(isSlow ? Self.slow : Self.quick, on: loop) { answers.add($0.json) } }
            }
            // Slow reads wait for any reader that is free, quick ones for the one that was chosen.
            let early = try await answers.all(atLeast: isSlow ? 40 : 20)
            #expect(namespace.open.readers.count == count + 1)
            for _ in 0..<count { gate.open() }
            #expect(try await answers.all(atLeast: 40) == Array(repeating: "1", count: 40))
            #expect(early.allSatisfy { $0 == "1" })
        }
    }

    /// A read that is asked for after a write was acknowledged sees it, whichever reader does it.
    @Test(arguments: EngineUnderTest.allCases)
    func readsSeeWhatWasAcknowledged(_ engine: EngineUnderTest) async throws {
        try await engine.run(limits: Self.limits(4)) { run, _ in
            try await withThrowingTaskGroup { group in
                for client in 0..<48 {
                    group.addTask {
                        for step in 0..<40 {
                            try await run.put("/c\(client)", "\(step)")
                            let kind: ReadRequest.Kind = (client + step) % 3 == 0 ? .query(Query(order: .key)) : .value
                            let json = try await run.read(ReadRequest(Path(["c\(client)"]), kind, principal: .admin)).json
                            #expect(json == (kind.isValue ? "\(step)" : "null"))
                            var tagged = ReadRequest(Path(["c\(client)"]), principal: .admin)
                            tagged.wantsETag = true
                            #expect(try await run.read(tagged).json == "\(step)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let readers = try run.namespace().open.readers
            #expect(readers.count <= 8)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func theEndRefusesWhatWaits(_ engine: EngineUnderTest) async throws {
        try await engine.run(limits: Self.limits(3)) { run, _ in
            try await run.put("/a", "1")
            let namespace = try run.namespace()
            let answers = Notes<String>()
            await run.answer { loop, done in
                for _ in 0..<100 { namespace.read(Self.slow, on: loop) { answers.add($0.error == nil ? "read" : "refused") } }
                done(())
            }
            run.database.stop()
            #expect(try await answers.all(atLeast: 100).count == 100)
            #expect(await run.answer { loop, done in namespace.read(Self.slow, on: loop, completion: done) }.error?.kind == .unavailable)
        }
    }
}

extension ReadRequest.Kind {
    fileprivate var isValue: Bool {
        if case .value = self { true } else { false }
    }
}
