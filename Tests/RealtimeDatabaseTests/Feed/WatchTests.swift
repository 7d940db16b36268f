import EventLoop
import Rules
import Synchronization
import Testing
import Tree

@testable import RealtimeDatabase

@Suite struct WatchTests {
    // MARK: What counts

    /// The findings of rules stay true as long as no watched place is affected.
    @Test func aVerdictHoldsAsLongAsItsPlacesAreUnaffected() throws {
        let loop = try EventLoop()
        var dice = TreeDice(seed: 11)
        var affected = 0
        var unaffected = 0
        for _ in 0..<4000 {
            var root = dice.node(depth: 4)
            let questions = (0..<3).map { _ in (kind: dice.number(4), path: dice.path(4)) }
            let tree = WatchedTree(NodeData(root))
            let found = questions.map { Self.ask($0, tree) }
            let places = try #require(tree.watched)
            let path = dice.path(4)
            let node = dice.once(in: 3) ? Node.empty : dice.node(depth: 2)
            let change = TreeChange(path: path, kind: .put(node), commit: 1)
            var table = WatchTable()
            table.insert(WatchTable.Watch(places, loop))
            let isAffected = !table.take(touchedBy: change).isEmpty
            #expect(table.count == (isAffected ? 0 : 1))
            root = root.setting(node, at: path)
            let now = questions.map { Self.ask($0, WatchedTree(NodeData(root))) }
            if isAffected { affected += 1 } else {
                unaffected += 1
                #expect(now == found, "\(path) = \(node), asked \(questions)")
            }
        }
        #expect(affected > 500 && unaffected > 500)
    }

    private static func ask(_ question: (kind: Int, path: Path), _ tree: WatchedTree<NodeData>) -> String {
        let key = question.path.key
        switch question.kind {
        case 0: return "\(String(describing: tree.leaf(at: key)))"
        case 1: return "\(tree.exists(at: key))"
        case 2: return "\(tree.hasChildren(at: key))"
        default: return "\(String(describing: tree.priority(at: key)))"
        }
    }

    @Test(arguments: [
        // A room that exists is not affected by messages in it, but by the deletion of one of them, which may have been the last.
        ("exists", "/rooms/a", "/rooms/a/messages/1", "1", false), ("exists", "/rooms/a", "/rooms/a/messages/1", "null", true),
        ("exists", "/rooms/a", "/rooms", #"{"a":1}"#, true), ("exists", "/rooms/b", "/rooms/b/messages/1", "1", true),
        ("exists", "/rooms/b", "/rooms/b/messages/1", "null", false), ("exists", "/rooms/a", "/rooms/ab", "1", false),
        // A leaf is affected by what is written below it. A place without one is not.
        ("leaf", "/name", "/name/first", "1", true), ("leaf", "/name", "/name/first", "null", false),
        ("leaf", "/rooms/a", "/rooms/a/x", "1", false), ("leaf", "/name", "/name", "1", true), ("leaf", "/name", "/", "null", true),
    ])
    func changesThatCount(_ kind: String, _ place: String, _ written: String, _ json: String, _ isAffected: Bool) throws {
        let root = Node(unsorted: [
            Node.Child(key: "rooms", node: .empty.setting(Node(.boolean(true)), at: try Path(parsing: "/a/messages/0"))),
            Node.Child(key: "name", node: Node(.string("Ada"))),
        ])
        let tree = WatchedTree(NodeData(root))
        let key = try Path(parsing: place).key
        if kind == "leaf" { _ = tree.leaf(at: key) } else { _ = tree.exists(at: key) }
        let node = json == "null" ? Node.empty : Node(.boolean(true))
        let path = try Path(parsing: written)
        var table = WatchTable()
        table.insert(WatchTable.Watch(try #require(tree.watched), try EventLoop()))
        #expect(table.take(touchedBy: TreeChange(path: path, kind: .put(node), commit: 1)).isEmpty != isAffected)
        // As a change of the past too.
        var recent = RecentChanges()
        recent.add(ChangeBatch(commit: 1, changes: [TreeChange(path: path, kind: .put(node), commit: 1)]))
        #expect(recent.touch(try #require(tree.watched), since: 0) == isAffected)
        #expect(!recent.touch(try #require(tree.watched), since: 1))
    }

    @Test func tooManyPlacesAreNotWatched() {
        let tree = WatchedTree(NodeData(.empty))
        for number in 0..<64 { _ = tree.exists(at: Path(["\(number)"]).key) }
        #expect(tree.watched?.count == 64)
        _ = tree.exists(at: Path(["64"]).key)
        #expect(tree.watched == nil)
    }

    // MARK: What is remembered

    @Test func recentChangesKnowFromWhereOn() {
        var recent = RecentChanges()
        #expect(recent.covers(0))
        func add(_ commit: UInt64, _ count: Int = 1) {
            let changes = (0..<count).map { TreeChange(path: Path(["\(commit)", "\($0)"]), kind: .put(.empty), commit: commit) }
            recent.add(ChangeBatch(commit: commit, changes: changes))
        }
        add(10)
        #expect(recent.covers(9) && !recent.covers(8) && recent.last == 10)
        for commit in 11...20 as ClosedRange<UInt64> { add(commit) }
        #expect(recent.covers(9))
        let place = WatchedPlace(path: Path(["15"]), below: [.writes, .deletions])
        #expect(recent.touch([place], since: 14) && !recent.touch([place], since: 15))
        // A transaction that was not published may have changed anything.
        add(22)
        #expect(recent.covers(21) && !recent.covers(20))
        for commit in 23...4000 as ClosedRange<UInt64> { add(commit) }
        #expect(!recent.covers(21) && recent.covers(3900) && recent.last == 4000)
        add(4001, 5000)
        #expect(recent.covers(4001) && !recent.covers(4000))
    }

    // MARK: End to end

    @Test(arguments: EngineUnderTest.allCases)
    func theFirstChangeIsReportedBeforeListenersHearOfIt(_ engine: EngineUnderTest) async throws {
        try await engine.run { run, _ in
            let notes = Notes<String>()
            let listening = try await ListenerTests.listen(run, "/", notes)
            let first = try await run.put("/members/ada", "true")
            let places = [WatchedPlace(path: try Path(parsing: "/members/ada"), below: [.deletions])]
            let commit = try #require(first.commit)
            _ = await run.watch(listening, places, since: commit, notes)
            try await run.put("/board/a", "1")
            try await run.put("/members/ada", "false")
            try await run.put("/members/ada", "true")
            #expect(notes.all == [
                "put /members/ada true 1", "holds 1", "put /board/a 1 2", "changed", "put /members/ada false 3", "put /members/ada true 4",
            ])
            // The state is older than a change.
            _ = await run.watch(listening, places, since: commit, notes)
            #expect(notes.all.last == "changed")
            let watching = await run.watch(listening, places, since: 4, notes)
            #expect(notes.all.last == "holds 4")
            watching.end()
            try await run.put("/members", "null")
            #expect(notes.all.suffix(2) == ["holds 4", "put /members null 5"])
        }
    }
}

extension WatchTable.Watch {
    /// A watch whose handler is never called.
    fileprivate init(_ places: [WatchedPlace], _ loop: EventLoop) {
        self.init(id: 1, places: places, loop: loop, handler: LoopBound({ _ in }, loop: loop))
    }
}

extension EngineRun {
    /// Watches, and waits for the first news.
    fileprivate func watch(
        _ listening: Namespace.Listening, _ places: [WatchedPlace], since commit: UInt64, _ notes: Notes<String>
    ) async -> Namespace.Watching {
        let made = Mutex<Namespace.Watching?>(nil)
        let _: Bool = await answer { loop, done in
            var isFirst = true
            let watching = listening.watch(places, since: commit, on: loop) { news in
                switch news {
                case .holds(let commit): notes.add("holds \(commit)")
                case .changed: notes.add("changed")
                }
                if isFirst { done(true) }
                isFirst = false
            }
            made.withLock { $0 = watching }
        }
        guard let watching = made.withLock({ $0 }) else { preconditionFailure("the watch has begun") }
        return watching
    }
}
