import EventLoop
import Rules
import Testing
import Tree

@testable import RealtimeDatabase

/// The rules in force: from the first moment, across reloads, failures and restarts.
@Suite struct RulesInForceTests {
    private static let nobody = Principal.user(auth: nil)

    /// Rules that let everybody read one path.
    private static func file(_ path: String, mark: UInt8) throws -> RulesFile {
        RulesFile(rules: try RuleSet(parsing: Array("{\"rules\":{\"\(path)\":{\".read\":true,\".write\":true}}}".utf8)), mark: [mark])
    }

    /// Which of some paths anybody may read and write: what the reader and the writer think of it.
    private static func open(_ run: EngineRun) async throws -> [String] {
        var open: [String] = []
        for path in ["a", "b", "c"] {
            let isReadable = try await run.read(ReadRequest(Path([path]), principal: nobody)).error == nil
            let isWritable = try await run.put(path, "true", as: nobody).error?.kind != .permissionDenied
            #expect(isReadable == isWritable)
            if isReadable { open.append(path) }
        }
        return open
    }

    @Test(arguments: EngineUnderTest.allCases)
    func everythingIsDeniedWithoutRules(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let open = try await Self.open(run)
            #expect(open == [])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func theFileIsInForceUntilOthersAreUploaded(_ engine: EngineUnderTest) async throws {
        try await engine.run(rulesFile: try Self.file("a", mark: 1)) { run, storage in
            #expect(try await Self.open(run) == ["a"])
            try await run.use(#"{"rules":{"b":{".read":true,".write":true}}}"#)
            #expect(try await Self.open(run) == ["b"])
            // The same file again is no news.
            #expect(try await Self.reload(run, Self.file("a", mark: 1)) == nil)
            #expect(try await Self.open(run) == ["b"])
            run.database.stop()
            let again = try EngineRun(storage, rulesFile: try Self.file("a", mark: 1))
            #expect(try await Self.open(again) == ["b"])
            again.database.stop()
            let changed = try EngineRun(storage, rulesFile: try Self.file("c", mark: 2))
            #expect(try await Self.open(changed) == ["c"])
            #expect(try await changed.rules().source == Self.file("c", mark: 2).rules.source)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aFileThatChanged(_ engine: EngineUnderTest) async throws {
        try await engine.run(rulesFile: try Self.file("a", mark: 1)) { run, storage in
            try await run.put("/a", "1")
            #expect(try await Self.open(run) == ["a"])
            #expect(try await Self.reload(run, Self.file("b", mark: 2)) == nil)
            #expect(try await Self.open(run) == ["b"])
            // A failure leaves the newest in force, and not those of the start.
            storage.fail(.commit)
            #expect(try await run.use(#"{"rules":{"c":{".read":true}}}"#)?.kind == .storageUnavailable)
            #expect(try await Self.open(run) == ["b"])
            #expect(try await Self.reload(run, Self.file("c", mark: 3))?.kind == .storageUnavailable)
            #expect(try await Self.open(run) == ["b"])
            storage.mend()
            #expect(try await Self.reload(run, Self.file("c", mark: 3)) == nil)
            #expect(try await Self.open(run) == ["c"])
        }
    }

    private static func reload(_ run: EngineRun, _ file: RulesFile) async -> DatabaseError? {
        await run.answer { [database = run.database] loop, done in database.useRulesFile(file, on: loop, completion: done) }
    }

    @Test(arguments: EngineUnderTest.allCases, [FailingStorage.Step.put, .commit])
    func theFileIsInForceWhenItCannotBeStored(_ engine: EngineUnderTest, _ step: FailingStorage.Step) async throws {
        try await engine.run(rulesFile: try Self.file("a", mark: 1)) { run, storage in
            storage.fail(step)
            #expect(try await Self.open(run) == ["a"])
            #expect(try await run.put("/a", "1").error?.kind == .storageUnavailable)
            storage.mend()
            while try await run.put("/a", "1").commit == nil { await Task.yield() }
            #expect(try await Self.open(run) == ["a"])
            // The store was given them meanwhile: uploaded ones are not taken for older than the file.
            try await run.use(#"{"rules":{"b":{".read":true,".write":true}}}"#)
            #expect(try await Self.open(run) == ["b"])
            run.database.stop()
            let again = try EngineRun(storage, rulesFile: try Self.file("a", mark: 1))
            #expect(try await Self.open(again) == ["b"])
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func judgingDoesNothing(_ engine: EngineUnderTest) async throws {
        try await engine.run(rulesFile: try Self.file("a", mark: 1)) { run, _ in
            let other = try Self.file("b", mark: 2).rules
            for (path, rules, isAllowed) in [("a", nil, true), ("b", nil, false), ("a", other, false), ("b", other, true)] {
                let read = try ReadRequest(Path(parsing: path), principal: Self.nobody)
                let write = try WriteRequest.put(path, "1", Self.nobody)
                #expect(try await Self.judge(run, .read(read), rules).get().isAllowed == isAllowed)
                #expect(try await Self.judge(run, .write(write), rules).get().isAllowed == isAllowed)
            }
            #expect(try await run.json() == "null")
        }
    }

    private static func judge(
        _ run: EngineRun, _ request: Namespace.JudgedRequest, _ rules: RuleSet?
    ) async throws -> Result<RuleVerdict, DatabaseError> {
        let namespace = try run.namespace()
        return await run.answer { loop, done in namespace.judge(request, by: rules, on: loop, completion: done) }
    }

    /// A read that waited for its reader while the rules were closed is not judged by the open ones, since it sees what was written afterwards.
    @Test(arguments: EngineUnderTest.allCases)
    func aStateIsJudgedByItsOwnRules(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.use(#"{"rules":{".read":true}}"#)
            try await run.put("/a", "\"old\"")
            let namespace = try run.namespace()
            let gate = Gate()
            namespace.onEachReader({ _ in gate.pass() }, completion: {})
            let answers = Notes<ReadOutcome>()
            await run.answer { loop, done in
                namespace.read(ReadRequest(Path(["a"]), principal: Self.nobody), on: loop) { answers.add($0) }
                done(())
            }
            try await run.use(#"{"rules":{".read":false}}"#)
            try await run.put("/a", "\"secret\"")
            gate.open()
            #expect(try await answers.all(atLeast: 1).first?.error?.kind == .permissionDenied)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aSettingIsKept(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, storage in
            #expect(try await Self.setting(run) == nil)
            #expect(try await Self.set(run, "true") == nil)
            storage.fail(.put)
            #expect(try await Self.set(run, "false")?.kind == .storageUnavailable)
            storage.mend()
            #expect(try await Self.setting(run) == "true")
            run.database.stop()
            let again = try EngineRun(storage)
            #expect(try await Self.setting(again) == "true")
            #expect(try await Self.set(again, nil) == nil)
            #expect(try await Self.setting(again) == nil)
        }
    }

    private static func setting(_ run: EngineRun) async throws -> String? {
        let namespace = try run.namespace()
        let value: [UInt8]? = await run.answer { loop, done in namespace.setting("strictTriggerValidation", on: loop, completion: done) }
        return value.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func set(_ run: EngineRun, _ value: String?) async throws -> DatabaseError? {
        let namespace = try run.namespace()
        let bytes = value.map { Array($0.utf8) }
        return await run.answer { loop, done in namespace.setSetting("strictTriggerValidation", bytes, on: loop, completion: done) }
    }
}
