import EventLoop
import Rules
import Testing
import Tree

@testable import RealtimeDatabase

@Suite struct ListenerTests {
    /// Listens, and puts down what is heard.
    static func listen(_ run: EngineRun, _ path: String, _ heard: Notes<String>) async throws -> Namespace.Listening {
        let namespace = try run.namespace()
        let path = try Path(parsing: path)
        let listening: Result<Namespace.Listening, DatabaseError> = await run.answer { loop, done in
            namespace.listen(path, on: loop, ready: done) { news in heard.add(describe(news)) }
        }
        return try listening.get()
    }

    static func describe(_ news: ListenerNews) -> String {
        guard case .changed(let change) = news else { return "rules" }
        switch change.kind {
        case .put(let node): return "put \(change.path) \(text(node)) \(change.commit)"
        case .patch(let members):
            return "patch \(change.path) \(members.map { "\($0.path)=\(text($0.node))" }.joined(separator: " ")) \(change.commit)"
        }
    }

    private static func text(_ node: Node) -> String { String(decoding: node.serialized(), as: UTF8.self) }

    @Test(arguments: EngineUnderTest.allCases)
    func changesAtAboveAndBelow(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let heard = Notes<String>()
            let listening = try await Self.listen(run, "/a/b", heard)
            try await run.put("/a/b", "1")
            try await run.put("/a/b/c/d", "2")
            try await run.put("/a", #"{"x":1}"#)
            try await run.put("/", "null")
            try await run.put("/a/c", "3")
            try await run.put("/a/bb", "4")
            try await run.update("/a", #"{"b/z":5,"q":6}"#)
            try await run.update("/a", #"{"c":7}"#)
            try await run.update("/", #"{"a/b":null,"a/b2":1}"#)
            #expect(
                heard.all == [
                    "put /a/b 1 1", "put /a/b/c/d 2 2", #"put /a {"x":1} 3"#, "put / null 4", "patch /a /b/z=5 /q=6 7",
                    "patch / /a/b=null /a/b2=1 9",
                ])
            listening.end()
            try await run.put("/a/b", "8")
            #expect(heard.all.count == 6)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func newsComeBeforeTheWritersOwnAnswer(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let notes = Notes<String>()
            _ = try await Self.listen(run, "/", notes)
            for number in 0..<20 {
                let outcome = try await run.put("/n", "\(number)")
                #expect(notes.all.last == "put /n \(number) \(outcome.commit ?? 0)")
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func nothingIsToldOfWhatIsRefusedOrFails(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, storage in
            let heard = Notes<String>()
            _ = try await Self.listen(run, "/", heard)
            try await run.put("/a", "1", as: .user(auth: nil))
            _ = try await run.write(.priority("/nothing", "1"))
            var conditional = try WriteRequest.put("/a", "1")
            conditional.ifMatch = "another"
            _ = try await run.write(conditional)
            storage.fail(.commit)
            try await run.put("/a", "2")
            _ = try await run.use(#"{"rules":{".read":true}}"#)
            storage.mend()
            #expect(heard.all == [])
            try await run.put("/a", "3")
            try await run.use(#"{"rules":{".read":true}}"#)
            #expect(try await heard.all(atLeast: 2) == ["put /a 3 1", "rules"])
        }
    }

    /// A read that begins when the listener is ready and the news that are newer than it are all that was written.
    @Test(arguments: EngineUnderTest.allCases)
    func listeningInTheMiddleOfATurnMissesNothing(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            for round in 0..<20 {
                let first = try WriteRequest.put("/r\(round)/first", "1")
                let second = try WriteRequest.put("/r\(round)/second", "2")
                let heard = Notes<UInt64>()
                let path = Path(["r\(round)"])
                let answers: [String] = try await run.together([
                    { namespace, loop, done in namespace.write(first, on: loop) { _ in done("") } },
                    { namespace, loop, done in
                        namespace.listen(path, on: loop) { _ in
                            namespace.read(ReadRequest(path, principal: .admin), on: loop) { outcome in
                                guard case .value(let json, _, let commit) = outcome else { return done("?") }
                                let newer = heard.all.filter { $0 > commit }.count
                                done(String(decoding: json, as: UTF8.self) + " and \(newer) more")
                            }
                        } news: { news in
                            if case .changed(let change) = news { heard.add(change.commit) }
                        }
                    },
                    { namespace, loop, done in namespace.write(second, on: loop) { _ in done("") } },
                ])
                #expect(answers[1] == #"{"first":1,"second":2} and 0 more"#)
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func listenersOfManyNamespacesHearTheirOwn(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let heard = (0..<8).map { _ in Notes<String>() }
            for number in heard.indices {
                let namespace = try run.database.namespace("n\(number)")
                let notes = heard[number]
                let listening: Result<Namespace.Listening, DatabaseError> = await run.answer { loop, done in
                    namespace.listen(.root, on: loop, ready: done) { news in notes.add(Self.describe(news)) }
                }
                _ = try listening.get()
            }
            for number in heard.indices {
                let namespace = try run.database.namespace("n\(number)")
                let request = try WriteRequest.put("/a", "\(number)")
                let outcome: WriteOutcome = await run.answer { loop, done in namespace.write(request, on: loop, completion: done) }
                #expect(outcome.commit == 1)
                #expect(heard.map(\.all.count) == heard.indices.map { $0 <= number ? 1 : 0 })
                #expect(heard[number].all == ["put /a \(number) 1"])
            }
        }
    }
}
