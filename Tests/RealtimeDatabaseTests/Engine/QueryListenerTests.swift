import EventLoop
import FuzzSupport
import Testing
import Tree

@testable import RealtimeDatabase

/// A listener of a query's result, as those of clients are: reads the result, then applies the changes. Confined to its loop.
private final class ResultFollower {
    private let namespace: Namespace
    private let path: Path
    private let query: Query
    private let loop: EventLoop
    private let follows: Bool
    private var listening: Namespace.Listening?
    private(set) var client = Node.empty
    private(set) var readings = 0
    private(set) var changes = 0
    private(set) var greatest = 0
    private var commit: UInt64 = 0
    private var backlog: [TreeChange] = []
    private var isReading = true
    private var outdatedBy: UInt64 = 0
    private var isDue = false

    init(_ namespace: Namespace, _ path: Path, _ query: Query, _ loop: EventLoop, follows: Bool = true) {
        self.namespace = namespace
        self.path = path
        self.query = query
        self.loop = loop
        self.follows = follows
    }

    func start(_ done: @escaping (Bool) -> Void) {
        namespace.listen(path, query: query, on: loop) { [self] result in
            guard case .success(let listening) = result else { return done(false) }
            self.listening = listening
            read()
            done(true)
        } news: { [self] in hear($0) }
    }

    func end() { listening?.end() }

    /// Whether everything that was heard has been applied.
    var isSettled: Bool { !isReading && !isDue }

    private func read() {
        isReading = true
        readings += 1
        var request = ReadRequest(path, .query(query), principal: .admin)
        request.mayLackIndex = true
        request.form = .export
        namespace.read(request, on: loop) { [self] outcome in
            guard case .value(let json, _, let commit) = outcome, let draft = try? Draft(parsing: json.span) else { return }
            client = draft.node
            self.commit = commit
            isReading = false
            if follows {
                listening?.follow()
                // Until the namespace says that changes are reported.
                isDue = true
            }
            let waiting = backlog
            backlog = []
            for change in waiting { apply(change) }
            if outdatedBy > commit, !isReading { read() }
        }
    }

    private func hear(_ news: ListenerNews) {
        switch news {
        case .changed(let change): if isReading { backlog.append(change) } else { apply(change) }
        case .outdated(let commit):
            outdatedBy = max(outdatedBy, commit)
            if !isReading, outdatedBy > self.commit { read() }
        case .due: isDue = true
        case .settled: isDue = false
        case .rulesChanged: break
        }
    }

    private func apply(_ change: TreeChange) {
        guard change.commit > commit, !isReading else { return }
        guard change.continues(commit) else { return read() }
        changes += 1
        guard case .patch(let members) = change.kind else { return }
        for member in members {
            client.set(member.node, at: member.path)
            greatest = max(greatest, client.children.count)
        }
    }
}

@Suite struct QueryListenerTests {
    private static let query = Query(order: .child(Path(["at"])), limit: 3, anchorsLast: true)

    private static func follow(
        _ run: EngineRun, _ path: String, _ query: Query, follows: Bool = true
    ) async throws -> LoopBound<ResultFollower> {
        let namespace = try run.namespace()
        let path = try Path(parsing: path)
        return await run.answer { loop, done in
            let follower = LoopBound(ResultFollower(namespace, path, query, loop, follows: follows), loop: loop)
            follower.value.start { _ in done(follower) }
        }
    }

    /// The client's value, once nothing is due.
    private static func value(_ follower: LoopBound<ResultFollower>, _ run: EngineRun) async throws -> Node {
        while true {
            let node: Node? = await run.answer { _, done in done(follower.value.isSettled ? follower.value.client : nil) }
            if let node { return node }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private static func count(
        _ follower: LoopBound<ResultFollower>, _ run: EngineRun, _ what: @escaping @Sendable (ResultFollower) -> Int
    ) async -> Int {
        await run.answer { _, done in done(what(follower.value)) }
    }

    /// Random writes at, above and below a query's node, one and several in a transaction: each listener has the result at each rest.
    @Test(arguments: EngineUnderTest.allCases, 0..<6)
    func clientsHaveTheResult(_ engine: EngineUnderTest, _ seed: Int) async throws {
        try await engine.run { run, _ in
            var random = SeededRandom(seed: 900 + UInt64(seed))
            var queries: [Query] = []
            for order in [Query.Order.key, .value, .priority, .child(Path(["at"]))] {
                queries.append(Query(order: order, limit: 1 + random.below(3), anchorsLast: random.below(2) == 0))
            }
            queries.append(Query(order: .child(Path(["at"])), start: .startAt(.number(2)), end: .endAt(.number(6))))
            var rules = #"{"rules":{".read":true,".write":true,"q":{"list":{".indexOn":"at"}}}}"#
            if random.below(2) == 0 { rules = #"{"rules":{".read":true,".write":true}}"# }
            #expect(try await run.use(rules) == nil)
            var followers: [(follower: LoopBound<ResultFollower>, query: Query)] = []
            var tree = Node.empty
            for step in 0..<150 {
                if step % 20 == 0, let query = queries.popLast() { followers.append((try await Self.follow(run, "/q/list", query), query)) }
                let requests = try (0...(random.below(3))).map { _ in try Self.write(&random, &tree) }
                _ = try await run.writeTogether(requests)
                guard random.below(3) == 0 || step == 149 else { continue }
                let node = tree.at(Path(["q", "list"]))
                for (follower, query) in followers {
                    let client = try await Self.value(follower, run)
                    #expect(await Self.count(follower, run) { $0.greatest } <= query.limit ?? .max)
                    #expect(client == query.evaluate(node), "seed \(seed), step \(step), \(query)")
                }
            }
            for (follower, _) in followers { await run.answer { _, done in done(follower.value.end()) } }
        }
    }

    private static func write(_ random: inout SeededRandom, _ tree: inout Node) throws -> WriteRequest {
        let keys = ["a", "b", "c", "d", "e", "f", "1", "2", "10"]
        func child() -> String {
            switch random.below(6) {
            case 0: "null"
            case 1: "\(random.below(9))"
            case 2: #"{".value":\#(random.below(9)),".priority":\#(random.below(3))}"#
            default: #"{"at":\#(random.below(9)),"text":"t\#(random.below(99))"}"#
            }
        }
        let (path, json): (String, String) =
            switch random.below(12) {
            case 0: ("/q", #"{"list":{"a":\#(child()),"b":\#(child()),"c":\#(child())}}"#)
            case 1: ("/q/list", random.below(2) == 0 ? "null" : #"{"e":\#(child()),"f":\#(child())}"#)
            case 2..<7: ("/q/list/\(random.pick(keys))", child())
            case 7, 8: ("/q/list/\(random.pick(keys))/at", "\(random.below(9))")
            case 9: ("/q/list/\(random.pick(keys))/text", #""u""#)
            case 10: ("/q/list/\(random.pick(keys))/at", "null")
            default: ("/elsewhere", "1")
            }
        let place = try Path(parsing: path)
        tree.set(try Draft(parsing: Array(json.utf8).span).node, at: place)
        return try .put(path, json)
    }

    private static let list = #"{"a":{"at":1},"b":{"at":2},"c":{"at":3},"d":{"at":4},"e":{"at":5}}"#

    /// New children are reported as changes, without reading.
    @Test(arguments: EngineUnderTest.allCases)
    func aFollowedResultIsReadOnce(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/list", Self.list)
            let follower = try await Self.follow(run, "/list", Self.query)
            _ = try await Self.value(follower, run)
            for number in 6..<40 {
                try await run.put("/list/k\(number)", #"{"at":\#(number)}"#)
                let keys = Set(try await Self.value(follower, run).children.map(\.key))
                if number > 8 { #expect(keys == Set((number - 2...number).map { "k\($0)" })) }
            }
            // The first change may have come before the view had its rows.
            #expect(await Self.count(follower, run) { $0.readings } <= 2)
            #expect(await Self.count(follower, run) { $0.changes } >= 33)
        }
    }

    /// Changes are in the answers' order: the writer's client has the change, or knows that it is due, before the write is acknowledged.
    @Test(arguments: EngineUnderTest.allCases)
    func changesAreHeardOrDueBeforeTheAnswer(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/list", Self.list)
            let follower = try await Self.follow(run, "/list", Query(order: .key, limit: 1))
            _ = try await Self.value(follower, run)
            for round in 0..<60 {
                try await run.put("/list/\(round)", "\(round)")
                try await run.put("/list/\(round)/deep", "1")
                let isCurrent: Bool = await run.answer { _, done in
                    done(!follower.value.isSettled || follower.value.client.children.map(\.key) == ["\(round)"])
                }
                #expect(isCurrent)
                try await run.put("/list/\(round)", "null")
                let isDue: Bool = await run.answer { _, done in
                    done(!follower.value.isSettled || follower.value.client.children.map(\.key) == ["a"])
                }
                #expect(isDue)
            }
        }
    }

    /// Without permission to read, a listener cannot make the namespace read.
    @Test(arguments: EngineUnderTest.allCases)
    func aResultThatNobodyMayReadIsNotKept(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/list", Self.list)
            let follower = try await Self.follow(run, "/list", Self.query, follows: false)
            for number in 6..<10 {
                try await run.put("/list/k\(number)", #"{"at":\#(number)}"#)
                #expect(try await Self.value(follower, run).children.count == 3)
            }
            #expect(await Self.count(follower, run) { $0.changes } == 0)
            #expect(await Self.count(follower, run) { $0.readings } > 1)
        }
    }

    /// A result that does not fit into the memory for results is read again after each change.
    @Test(arguments: EngineUnderTest.allCases)
    func aLargeResultIsReadAgain(_ engine: EngineUnderTest) async throws {
        var limits = DatabaseLimits()
        limits.viewBytesMax = 8192
        try await engine.run(limits: limits) { run, _ in
            let follower = try await Self.follow(run, "/list", Query(order: .key, start: .startAt(.string("a"))))
            _ = try await Self.value(follower, run)
            let text = String(repeating: "x", count: 500)
            for number in 0..<10 {
                try await run.put("/list/k\(number)", "\"\(text)\"")
                #expect(try await Self.value(follower, run).children.count == number + 1)
            }
            #expect(await Self.count(follower, run) { $0.changes } > 0)
            #expect(await Self.count(follower, run) { $0.readings } > 3)
        }
    }

    @Test(arguments: EngineUnderTest.allCases)
    func listenersOfEqualQueriesShareAView(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            try await run.put("/list", Self.list)
            var followers: [LoopBound<ResultFollower>] = []
            for _ in 0..<5 { followers.append(try await Self.follow(run, "/list", Self.query)) }
            for follower in followers { _ = try await Self.value(follower, run) }
            for number in 6..<20 { try await run.put("/list/k\(number)", #"{"at":\#(number)}"#) }
            for follower in followers { #expect(try await Self.value(follower, run).children.map(\.key) == ["k17", "k18", "k19"]) }
            for follower in followers { #expect(await Self.count(follower, run) { $0.readings } <= 2) }
        }
    }
}
