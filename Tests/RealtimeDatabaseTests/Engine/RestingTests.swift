import EventLoop
import Rules
import Store
import Synchronization
import Testing
import Tree

@testable import RealtimeDatabase

/// Unused namespaces close, and open again on request.
@Suite struct RestingTests {
    private static let open = #"{"rules":{".read":true,".write":true}}"#
    private static let closed = #"{"rules":{".read":false}}"#

    private static func file(_ rules: String) throws -> RulesFile {
        RulesFile(rules: try RuleSet(parsing: Array(rules.utf8)), mark: Array(rules.utf8))
    }

    private static func limits(_ count: Int) -> DatabaseLimits {
        var limits = DatabaseLimits()
        limits.namespacesMax = count
        return limits
    }

    /// Reads as a signed-out user.
    private static func guestReads(_ run: EngineRun) async throws -> String {
        try await run.read(ReadRequest(.root, principal: .user(auth: nil))).json
    }

    // MARK: What outlives it

    @Test(arguments: EngineUnderTest.allCases)
    func dataRulesAndSettingsHold(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/a", "1")
            try await run.use(Self.open)
            let error: DatabaseError? = await run.answer { [database = run.database] loop, done in
                try? database.namespace("test").setSetting("strictTriggerValidation", Array("true".utf8), on: loop, completion: done)
            }
            #expect(error == nil)
            for round in 2..<6 {
                try await run.rest()
                #expect(try await Self.guestReads(run) == "{\"a\":\(round - 1)}")
                try await run.rest()
                #expect(try await run.put("/a", "\(round)", as: .user(auth: nil)).commit == UInt64(round + 2))
            }
            try await run.rest()
            let setting: [UInt8]? = await run.answer { [database = run.database] loop, done in
                try? database.namespace("test").setting("strictTriggerValidation", on: loop, completion: done)
            }
            #expect(setting == Array("true".utf8))
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func rulesOfAFileThatChangesMeanwhile(_ engine: EngineUnderTest) async throws {
        try await engine.run(rulesFile: try Self.file(Self.closed)) { run, _ in
            try await run.put("/a", "1")
            #expect(try await Self.guestReads(run) == "Permission denied")
            try await run.rest()
            let file = try Self.file(Self.open)
            let error: DatabaseError? = await run.answer { [database = run.database] loop, done in
                database.useRulesFile(file, on: loop, completion: done)
            }
            #expect(error == nil)
            #expect(run.awake == [])
            #expect(try await Self.guestReads(run) == #"{"a":1}"#)
        }
    }

    @Test func triggersThatChangeMeanwhile() async throws {
        let raised = Notes<EventAnnouncement>()
        let run = try EngineRun(MemoryStorage()) { raised.add($0) }
        try await run.put("/a", "1")
        try await run.rest()
        run.database.useTriggers(try Self.triggers())
        try await run.put("/a", "2")
        // A write is answered before its events are announced.
        #expect(try await raised.all(atLeast: 1).count == 1)
        // Waiting events are reported whenever the namespace is opened, and delivered without keeping it open.
        try await run.rest()
        let outbox = run.database.outbox(of: "test")
        let events: [OutboxEvent]? = await run.answer { loop, done in
            let done = LoopBound(done, loop: loop)
            outbox.withOutbox(on: loop) { outbox throws(StoreError) in
                let events = try outbox.page(of: "f", after: 0, limit: 10, bytesMax: 1000).events
                for event in events { try outbox.acknowledge(event.key) }
                return events
            } completion: { done.value(try? $0.get()) }
        }
        #expect(events?.map(\.id) == raised.all[0].events.map(\.id))
        #expect(try await raised.all(atLeast: 2).count == 2 && raised.all[1].last == raised.all[0].last)
        try await run.rest()
        #expect(try await run.json() == #"{"a":2}"#)
        #expect(raised.all.count == 2)
    }

    private static func triggers() throws -> TriggerTable {
        TriggerTable([try TriggerDeclaration(function: "f", kind: .written, pattern: PathPattern(parsing: "/a"))])
    }

    // MARK: What keeps it open

    @Test(arguments: EngineUnderTest.allCases)
    func listeners(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let heard = Notes<String>()
            var listening: Namespace.Listening? = try await ListenerTests.listen(run, "/a", heard)
            try await run.tryToRest()
            try await run.put("/a", "1")
            #expect(heard.all == ["put /a 1 1"])
            listening?.end()
            listening = nil
            try await run.rest()
            #expect(try await run.json() == #"{"a":1}"#)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func answersThatAreStillRead(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let rows = (0..<40_000).map { "\"k\($0)\":\"xxxxxxxxxxxxxxxx\"" }.joined(separator: ",")
            try await run.put("/", "{\(rows)}")
            var stream: ValueStream? = try await Self.longAnswer(run)
            var text = stream?.first ?? []
            try await run.tryToRest()
            while let beginning = stream {
                let piece: ValueStream.Piece = await run.answer { loop, done in beginning.next(on: loop, completion: done) }
                switch piece {
                case .some(let bytes): text += bytes
                case .failed(let error): throw error
                case .last(let bytes):
                    text += bytes
                    stream = nil
                }
            }
            #expect(try Draft(parsing: text.span).node.leafCount == 40_000)
            try await run.rest()
            // An abandoned stream does not keep the namespace open either.
            stream = try await Self.longAnswer(run)
            stream?.cancel()
            stream = nil
            try await run.rest()
        }
    }

    private static func longAnswer(_ run: EngineRun) async throws -> ValueStream {
        guard case .stream(let stream) = try await run.read(ReadRequest(.root, principal: .admin)) else { throw Unexpected() }
        return stream
    }

    @Test(arguments: EngineUnderTest.allCases)
    func questionsThatWait(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/a", "1")
            try await run.rest()
            let gates = (Gate(), Gate())
            try run.namespace().onWriter { _ in gates.0.pass() }
            try run.namespace().onReader { _ in gates.1.pass() }
            async let outcome = run.put("/a", "2", in: "test")
            async let json = run.json("/b", in: "test")
            try await run.tryToRest()
            #expect(run.awake == ["test"])
            gates.0.open()
            gates.1.open()
            #expect(try await outcome.commit == 2)
            #expect(try await json == "null")
            try await run.rest()
        }
    }

    /// Figures, for example, look at namespaces without using them.
    @Test func onlyLeasesKeepOneOpen() async throws {
        let run = try EngineRun(MemoryStorage())
        try await run.put("/a", "1")
        let seen = run.database.state.withLock { $0.namespaces["test"] }
        var lease: Namespace? = try run.namespace()
        #expect(lease?.name == "test")
        try await run.tryToRest()
        #expect(run.awake == ["test"])
        lease = nil
        try await run.rest()
        #expect(seen?.isLeased == false)
    }

    @Test(arguments: EngineUnderTest.allCases)
    func upkeep(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let rows = (0..<30_000).map { "\"k\($0)\":1" }.joined(separator: ",")
            try await run.put("/big", "{\(rows)}")
            try await run.put("/big", "null")
            try await run.rest()
            #expect(try await run.upkeepIsDue() == false)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func storageFromWhichItCouldNotBeOpenedAgain(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, storage in
            try await run.put("/a", "1")
            storage.fail(.openWriter)
            try await run.tryToRest()
            #expect(run.awake == ["test"])
            #expect(try await run.json() == #"{"a":1}"#)
            storage.mend()
            try await run.rest()
        }
    }

    // MARK: Limits

    @Test(arguments: EngineUnderTest.allCases)
    func anyNumberOneAfterAnother(_ engine: EngineUnderTest) async throws {
        try await engine.run(limits: Self.limits(2)) { run, _ in
            for round in 1...3 {
                for number in 0..<20 {
                    let outcome = try await run.put("/n", "\(round)", in: "n\(number)")
                    #expect(outcome.commit == UInt64(round))
                }
            }
            for number in 0..<20 {
                let json = try await run.json("/n", in: "n\(number)")
                #expect(json == "3")
            }
        }
    }

    @Test func theOneThatWasAskedTheLongestTimeAgoGivesWay() async throws {
        let run = try EngineRun(MemoryStorage(), limits: Self.limits(3))
        for name in ["a", "b", "c", "a"] { _ = try await run.json(in: name) }
        try await run.becomeQuiet()
        _ = try await run.json(in: "d")
        #expect(run.given == ["a", "c", "d"])
        let held = try run.database.namespace("c")
        let other = try run.database.namespace("a")
        _ = try await run.json(in: "b")
        #expect(run.given == ["a", "b", "c"])
        let last = try run.database.namespace("b")
        #expect(throws: DatabaseError.self) { try run.database.namespace("d") }
        withExtendedLifetime((held, other, last)) {}
    }

    @Test(arguments: EngineUnderTest.allCases)
    func storedOnesThatThereIsNoRoomForAreOpenedLater(_ engine: EngineUnderTest) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let storage: any StorageEngine = engine == .memory ? MemoryStorage() : SQLiteStorage(directory: folder)
        let first = try EngineRun(storage)
        first.database.useTriggers(try Self.triggers())
        for number in 0..<12 { try await first.put("/a", "1", in: "n\(number)") }
        first.database.stop()
        let raised = Notes<String>()
        let run = try EngineRun(storage, limits: Self.limits(3)) { raised.add($0.namespace) }
        var left = run.database.openStored()
        while !left.isEmpty {
            left = run.database.open(left, atMost: 2)
            try await Task.sleep(for: .milliseconds(1))
        }
        while Set(raised.all).count < 12 { await Task.yield() }
        #expect(raised.all.count == 12)
        try await run.rest()
        #expect(run.database.closedWithEvents.count == 12)
    }

    // MARK: Figures

    @Test func countersGoOnAndWhatWaitsIsKnown() async throws {
        let run = try EngineRun(MemoryStorage())
        run.database.useTriggers(try Self.triggers())
        for round in 1...3 {
            for name in ["x", "y"] {
                try await run.put("/a", "\(round)", in: name)
                _ = try await run.json(in: name)
            }
            try await run.rest()
            let asked: RealtimeDatabase.Asked = await run.answer { [database = run.database] loop, done in
                done(database.askForFigures(on: loop) { _, _ in })
            }
            #expect(asked.ids.isEmpty)
            #expect(asked.past.writer.count(.set, .committed) == 2 * round)
            #expect(asked.past.reader.count(.value, .answered) == 2 * round)
            #expect(asked.past.writer.waitingEvents == 2 * round)
        }
    }

    // MARK: The end

    @Test(arguments: EngineUnderTest.allCases)
    func handingOverAndStoppingWaitForWhatIsBeingClosed(_ engine: EngineUnderTest) async throws {
        for _ in 0..<5 {
            try await engine.run { run, storage in
                for number in 0..<10 { try await run.put("/a", "1", in: "n\(number)") }
                try await run.becomeQuiet()
                for _ in 0..<2 { run.database.closeIdle(on: run.loop) }
                await run.answer { [database = run.database] loop, done in database.suspend(on: loop) { done(()) } }
                // The files are closed, so another engine can open them.
                let other = try EngineRun(storage)
                for number in 0..<10 { #expect(try await other.json("/a", in: "n\(number)") == "1") }
                other.database.stop()
                run.database.resume()
                for number in 0..<10 { #expect(try await run.json("/a", in: "n\(number)") == "1") }
                for _ in 0..<2 { run.database.closeIdle(on: run.loop) }
            }
        }
    }
}
