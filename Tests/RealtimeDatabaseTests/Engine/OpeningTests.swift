import EventLoop
import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// Namespaces come, cannot come, and go.
@Suite struct OpeningTests {
    // MARK: Names

    @Test func namesThatCannotBe() throws {
        let run = try EngineRun(MemoryStorage())
        for name in ["", "A", "a.b", "a/b", "..", "ä", String(repeating: "a", count: 101)] {
            #expect(throws: DatabaseError.self) { try run.database.namespace(name) }
        }
        #expect(try run.database.names() == [])
        #expect(try run.database.namespace("made").name == "made")
        #expect(try run.database.names() == ["made"])
    }

    @Test func whatIsNotThereIsFoundAndNotMade() throws {
        let run = try EngineRun(MemoryStorage())
        #expect(throws: DatabaseError.self) { try run.database.find("absent", isKnown: false) }
        #expect(try run.database.find("absent", isKnown: true).namespace == nil)
        #expect(try run.database.find("test", isKnown: false).namespace == nil)
        #expect(try run.database.names() == [])
        _ = try run.database.namespace("test")
        #expect(try run.database.find("test", isKnown: false).namespace?.name == "test")
    }

    @Test func namesThatMayNotBe() throws {
        let run = try EngineRun(MemoryStorage(), allowed: ["second"])
        #expect(kind { try run.database.namespace("third") } == .unknownNamespace)
        #expect(throws: DatabaseError.self) { try run.database.find("third", isKnown: true) }
        #expect(try run.database.find("second", isKnown: false).namespace == nil)
        #expect(try run.database.namespace("second").name == "second")
        #expect(try run.database.namespace("test").name == "test")
    }

    @Test func atMostSoMany() throws {
        var limits = DatabaseLimits()
        limits.namespacesMax = 3
        let run = try EngineRun(MemoryStorage(), limits: limits)
        let used = try ["a", "b", "c"].map { try run.database.namespace($0) }
        #expect(kind { try run.database.namespace("d") } == .unavailable)
        #expect(try run.database.namespace("a").name == "a")
        withExtendedLifetime(used) {}
    }

    private func kind(_ body: () throws -> Namespace) -> DatabaseError.Kind? {
        do { _ = try body() } catch { return (error as? DatabaseError)?.kind }
        return nil
    }

    @Test func storedOnesAreOpened() async throws {
        let storage = MemoryStorage()
        for name in ["a", "b"] { _ = try storage.openWriter(namespace: name) }
        let run = try EngineRun(storage)
        #expect(run.database.openStored().isEmpty)
        #expect(try run.database.names() == ["a", "b"])
        #expect(try await run.json() == "null")
    }

    // MARK: Storage that cannot be opened

    @Test(arguments: EngineUnderTest.allCases, [StoreError.Kind.full, .readOnly, .busy, .io, .corrupt])
    func itIsTriedAgain(_ engine: EngineUnderTest, _ failure: StoreError.Kind) async throws {
        try await engine.run { run, storage in
            storage.fail(.openWriter, with: failure)
            let wanted = DatabaseError(StoreError(failure, "")).kind
            #expect(try await run.read(ReadRequest(.root, principal: .admin)).error?.kind == wanted)
            #expect(try await run.put("/a", "1").error?.kind == wanted)
            #expect(try await run.use(#"{"rules":{}}"#)?.kind == wanted)
            #expect(try await run.read(ReadRequest(.root, principal: .admin)).error?.kind == wanted)
            storage.mend()
            while try await run.put("/a", "1").commit == nil { await Task.yield() }
            #expect(try await run.json() == #"{"a":1}"#)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aReadBringsItBackToo(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, storage in
            storage.fail(.openWriter)
            #expect(try await run.read(ReadRequest(.root, principal: .admin)).error?.kind == .storageUnavailable)
            storage.mend()
            while try await run.read(ReadRequest(.root, principal: .admin)).error != nil { await Task.yield() }
        }
    }

    @Test(arguments: EngineUnderTest.allCases, [FailingStorage.Step.openReader, .snapshot])
    func readsThatFailAreAnswered(_ engine: EngineUnderTest, _ step: FailingStorage.Step) async throws {
        try await engine.run { run, storage in
            storage.fail(step, with: .io)
            for _ in 0..<3 {
                let outcome = try await run.read(ReadRequest(.root, principal: .admin))
                #expect(outcome.error?.kind == .internal)
            }
            #expect(try await run.put("/a", "1").commit == 1)
            storage.mend()
            #expect(try await run.json() == #"{"a":1}"#)
        }
    }

    // MARK: The end

    @Test(arguments: EngineUnderTest.allCases)
    func whatIsAskedWhileItStopsIsAnsweredOnce(_ engine: EngineUnderTest) async throws {
        for _ in 0..<5 {
            try await engine.run { run, storage in
                let namespace = try run.namespace()
                let outcomes = Notes<(Int, UInt64?)>()
                let count = 2000
                await withTaskGroup { group in
                    for number in 0..<count {
                        group.addTask {
                            let commit: UInt64? = await run.answer { loop, done in
                                guard let request = try? WriteRequest.put("/k\(number)", "1") else { return }
                                namespace.write(request, on: loop) { done($0.commit) }
                            }
                            outcomes.add((number, commit))
                        }
                        group.addTask {
                            _ = await run.answer { loop, done in namespace.read(ReadRequest(.root, principal: .admin), on: loop, completion: done) }
                        }
                        if number == count / 2 { group.addTask { run.database.stop() } }
                    }
                }
                #expect(outcomes.all.count == count)
                #expect(try await run.put("/late", "1").error?.kind == .unavailable)
                #expect(try await run.read(ReadRequest(.root, principal: .admin)).error?.kind == .unavailable)
                #expect(try await run.use(#"{"rules":{}}"#)?.kind == .unavailable)
                // All acknowledged writes are there, and nothing else.
                let again = try EngineRun(storage)
                let kept = try Draft(parsing: Array(try await again.json().utf8).span).node
                #expect(kept.leafCount == outcomes.all.filter { $0.1 != nil }.count)
                for (number, commit) in outcomes.all { #expect(kept.child("k\(number)").isEmpty == (commit == nil)) }
            }
        }
    }

    @Test func nothingIsOpenedAfterwards() async throws {
        let run = try EngineRun(MemoryStorage())
        try await run.put("/a", "1")
        run.database.stop()
        #expect(kind { try run.database.namespace("other") } == .unavailable)
        run.database.stop()
    }
}
