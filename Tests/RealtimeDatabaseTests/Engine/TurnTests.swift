import EventLoop
import Rules
import Testing
import Tree

@testable import RealtimeDatabase

/// Writes that arrive together are one transaction.
@Suite struct TurnTests {
    @Test(arguments: EngineUnderTest.allCases)
    func writesOfATurnAreOneTransaction(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let first = try await run.put("/first", "1")
            #expect(first.commit != nil)
            let requests = try (0..<20).map { try WriteRequest.put("/n/k\($0)", "\($0)") }
            let outcomes = try await run.writeTogether(requests)
            #expect(Set(outcomes.map(\.commit)) == [first.commit.map { $0 + 1 }])
            #expect(try await run.put("/last", "1").commit == first.commit.map { $0 + 2 })
            #expect(try await run.read(ReadRequest(Path(["n"]), .shallow(limit: nil, startAfter: nil), principal: .admin)).json.contains("k19"))
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func answersComeInTheOrderOfTheQuestions(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let order = Notes<Int>()
            let requests = try (0..<50).map { try WriteRequest.put("/same", "\($0)") }
            _ = try await run.together(
                requests.enumerated().map { index, request in
                    { (namespace: Namespace, loop: EventLoop, done: @escaping (Int) -> Void) in
                        namespace.write(request, on: loop) { _ in
                            order.add(index)
                            done(index)
                        }
                    }
                })
            #expect(order.all == Array(0..<50))
            #expect(try await run.json("/same") == "49")
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aWriteSeesThoseBeforeIt(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            _ = try await run.writeTogether(try (0..<10).map { _ in try .put("/count", #"{".sv":{"increment":2}}"#) })
            #expect(try await run.json("/count") == "20")
            var requests = try (0..<4).map { try WriteRequest.put("/taken", "\($0)") }
            for index in requests.indices { requests[index].ifMatch = Node.emptyETag }
            let outcomes = try await run.writeTogether(requests)
            #expect(outcomes[0].commit != nil)
            for outcome in outcomes.dropFirst() {
                guard case .conflict(let value, let etag) = outcome else { throw Unexpected() }
                #expect(String(decoding: value, as: UTF8.self) == "0" && etag == Node(.integer(0)).etag.text)
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func aRefusedWriteLeavesTheOthersAlone(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.use(#"{"rules":{"open":{".write":true}}}"#)
            let outcomes = try await run.writeTogether([
                .put("/open/a", "1", .user(auth: nil)), .put("/closed/a", "1", .user(auth: nil)), .put("/open/b", "2", .user(auth: nil)),
                .update("/", #"{"open/c":3,"closed/b":4}"#, .user(auth: nil)),
            ])
            #expect(outcomes.map(\.error?.kind) == [nil, .permissionDenied, nil, .permissionDenied])
            #expect(try await run.json() == #"{"open":{"a":1,"b":2}}"#)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func rulesOfATurnHoldForWhatFollows(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let open = try RuleSet(parsing: Array(#"{"rules":{".write":true,".read":true}}"#.utf8))
            let write = try WriteRequest.put("/a", "1", .user(auth: nil))
            let answers: [String] = try await run.together([
                { namespace, loop, done in namespace.write(write, on: loop) { done($0.error?.message ?? "written") } },
                { namespace, loop, done in namespace.setRules(open, on: loop) { done($0?.message ?? "in force") } },
                { namespace, loop, done in namespace.write(write, on: loop) { done($0.error?.message ?? "written") } },
            ])
            #expect(answers == ["Permission denied", "in force", "written"])
            #expect(try await run.read(ReadRequest(Path(["a"]), principal: .user(auth: nil))).json == "1")
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func membersOfAnUpdateInAnyOrder(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            for members in [#""x":null,"y":1"#, #""y":1,"x":null"#] {
                try await run.put("/a", #"{".priority":7,"x":1}"#)
                try await run.update("/a", "{\(members)}")
                var request = ReadRequest(.root, principal: .admin)
                request.form = .export
                let export = try await run.read(request).json
                #expect(export == #"{"a":{"y":1,".priority":7}}"#)
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func prioritiesOfWhatIsThere(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            var request = ReadRequest(.root, principal: .admin)
            request.form = .export
            for (path, priority, wanted) in [
                ("/a", "5", #"{"a":{"x":1,".priority":5}}"#), ("/nothing", "5", #"{"a":{"x":1,".priority":5}}"#), ("/a", "null", #"{"a":{"x":1}}"#),
                ("/", #""p""#, #"{"a":{"x":1},".priority":"p"}"#), ("/a/x", "1", #"{"a":{"x":{".value":1,".priority":1}},".priority":"p"}"#),
            ] {
                if path == "/a", priority == "5" { try await run.put("/a/x", "1") }
                _ = try await run.write(.priority(path, priority))
                let export = try await run.read(request).json
                #expect(export == wanted)
            }
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func prioritiesAreTheRulesBusiness(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.use(#"{"rules":{"open":{".write":true,"$a":{".validate":"newData.getPriority() !== 9"}}}}"#)
            try await run.put("/", #"{"open":{"a":1},"shut":{"a":1}}"#)
            // The refusal of a client without read access does not reveal whether a value exists.
            for path in ["/shut/a", "/shut/nothing", "/nothing/at/all", "/"] {
                #expect(try await run.write(.priority(path, "5", .user(auth: nil))).error?.kind == .permissionDenied)
                let update = try WriteRequest.update("/", #"{"\#(path)/.priority":5}"#, .user(auth: nil))
                #expect(try await run.write(update).error?.kind == .permissionDenied)
            }
            #expect(try await run.write(.priority("/open/a", "9", .user(auth: nil))).error?.kind == .permissionDenied)
            for path in ["/open/a", "/open/nothing"] {
                #expect(try await run.write(.priority(path, "5", .user(auth: nil))).commit != nil)
            }
            var request = ReadRequest(.root, principal: .admin)
            request.form = .export
            #expect(try await run.read(request).json == #"{"open":{"a":{".value":1,".priority":5}},"shut":{"a":1}}"#)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func prioritiesOfLargeNodes(_ engine: EngineUnderTest) async throws {
        var limits = DatabaseLimits()
        limits.writeBytesMax = 1000
        try await engine.run(limits: limits) { run, _ in
            try await run.use(#"{"rules":{"open":{".write":true}}}"#)
            let text = String(repeating: "x", count: 2000)
            try await run.put("/", #"{"open":"\#(text)","shut":"\#(text)"}"#)
            // Rules look at the node, administrators do not.
            #expect(try await run.write(.priority("/open", "5", .user(auth: nil))).error?.kind == .tooLarge)
            #expect(try await run.write(.priority("/shut", "5", .user(auth: nil))).error?.kind == .permissionDenied)
            #expect(try await run.write(.priority("/open", "5")).commit != nil)
        }
    }

    // MARK: A store that fails

    @Test(arguments: EngineUnderTest.allCases, [FailingStorage.Step.begin, .put, .commit])
    func nothingOfATurnThatFailsIsThere(_ engine: EngineUnderTest, _ step: FailingStorage.Step) async throws {
        try await engine.run { run, storage in
            let before = try await run.put("/before", "1").commit
            storage.fail(step)
            for _ in 0..<3 {
                let requests = try (0..<20).map { try WriteRequest.put("/lost/k\($0)", "\($0)") }
                let outcomes = try await run.writeTogether(requests)
                #expect(outcomes.allSatisfy { $0.error?.kind == .storageUnavailable })
                #expect(try await run.json() == #"{"before":1}"#)
            }
            storage.mend()
            #expect(try await run.put("/after", "2").commit == before.map { $0 + 1 })
            #expect(try await run.json() == #"{"after":2,"before":1}"#)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func whatTheWriterRemembersIsTakenBackToo(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, storage in
            let rows = (0..<3000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
            try await run.put("/big", "{\(rows)}")
            storage.fail(.commit)
            // A deletion of so many rows is remembered as a range.
            #expect(try await run.put("/big", "null").error?.kind == .storageUnavailable)
            #expect(try await run.use(#"{"rules":{".read":true,"big":{".indexOn":".value"}}}"#)?.kind == .storageUnavailable)
            storage.mend()
            try await run.put("/big/k1", "-1")
            let query = Query(order: .value, limit: 2)
            #expect(try await run.read(ReadRequest(Path(["big"]), .query(query), principal: .admin)).error?.kind == .indexNotDefined)
            try await run.use(#"{"rules":{"big":{".indexOn":".value"}}}"#)
            #expect(try await run.read(ReadRequest(Path(["big"]), .query(query), principal: .admin)).json == #"{"k0":0,"k1":-1}"#)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func whatIsWrittenWhereMuchWasDeletedStaysVisible(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let rows = (0..<3000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
            for round in 0..<3 {
                try await run.put("/big", "{\(rows)}")
                try await run.put("/big", "null")
                try await run.put("/big/k\(round)", "-1")
                // Until the deleted rows are swept away, and after that.
                while try await run.upkeepIsDue() { #expect(try await run.json("/big") == "{\"k\(round)\":-1}") }
                #expect(try await run.json("/big") == "{\"k\(round)\":-1}")
                try await run.put("/big/j", "1")
                #expect(try await run.json("/big") == "{\"j\":1,\"k\(round)\":-1}")
            }
        }
    }
}

/// Something else happened than the test is about.
struct Unexpected: Error {}
