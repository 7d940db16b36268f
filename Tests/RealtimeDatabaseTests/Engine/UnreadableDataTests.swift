import EventLoop
import Rules
import Testing
import Tree

@testable import RealtimeDatabase

/// Rules that need data which cannot be read: the request fails; it is neither allowed nor denied.
@Suite struct UnreadableDataTests {
    private static let nobody = Principal.user(auth: nil)

    /// `open` would be denied if `gate` were absent, and `shut` would be allowed.
    private static let rules = """
        {"rules": {
          "open": {".read": "root.child('gate').exists()", ".write": "root.child('gate').val() == 1"},
          "shut": {".read": "!root.child('gate').exists()", ".write": "newData.parent().child('gate').val() == null"},
          "valid": {".write": true, ".validate": "!root.hasChildren(['gate'])"}
        }}
        """

    @Test(arguments: EngineUnderTest.allCases, ["open", "shut"])
    func aReadFails(_ engine: EngineUnderTest, _ path: String) async throws {
        try await engine.run { run, storage in
            try await Self.fill(run)
            let request = ReadRequest(Path([path]), principal: Self.nobody)
            storage.failReads(of: "gate")
            #expect(try await run.read(request).error?.kind == .internal)
            await #expect(throws: DatabaseError.self) { try await Self.judge(run, .read(request)).get() }
            await #expect(throws: DatabaseError.self) { try await Self.permission(run, request).get() }
            storage.mend()
            #expect(try await run.read(request).error?.kind == (path == "open" ? nil : .permissionDenied))
        }
    }

    @Test(arguments: EngineUnderTest.allCases, ["open", "shut", "valid"])
    func aWriteFails(_ engine: EngineUnderTest, _ path: String) async throws {
        try await engine.run { run, storage in
            try await Self.fill(run)
            storage.failReads(of: "gate")
            for request in [
                try WriteRequest.put(path, "2", Self.nobody), try .update("/", "{\"\(path)\":2}", Self.nobody), try .priority(path, "2", Self.nobody),
            ] {
                #expect(try await run.write(request).error?.kind == .internal)
                await #expect(throws: DatabaseError.self) { try await Self.judge(run, .write(request)).get() }
            }
            storage.mend()
            #expect(try await run.json(path) == "1")
            #expect(try await run.put(path, "2", as: Self.nobody).error?.kind == (path == "open" ? nil : .permissionDenied))
        }
    }

    private static func fill(_ run: EngineRun) async throws {
        try await run.use(rules)
        try await run.put("/", #"{"gate":1,"open":1,"shut":1,"valid":1}"#)
    }

    private static func judge(_ run: EngineRun, _ request: Namespace.JudgedRequest) async throws -> Result<RuleVerdict, DatabaseError> {
        let namespace = try run.namespace()
        return await run.answer { loop, done in namespace.judge(request, by: nil, on: loop, completion: done) }
    }

    private static func permission(_ run: EngineRun, _ request: ReadRequest) async throws -> Result<ReadPermission, DatabaseError> {
        let namespace = try run.namespace()
        return await run.answer { loop, done in namespace.permission(request, on: loop, completion: done) }
    }
}
