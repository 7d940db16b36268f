import EventLoop
import FuzzSupport
import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// A feed beside a tree whose commits the feed hears of later than readers do.
private final class FeedRun {
    typealias Found = (node: Node, commit: UInt64)

    let loop: EventLoop
    let feed: ChangeFeed
    let path = Path(["p"])
    /// The node at the path after each commit.
    private(set) var states: [Node]
    private var unpublished: [ChangeBatch] = []
    private(set) var published: UInt64 = 0
    /// Reads that have not been answered.
    private var reads: [(query: Query, completion: (Found?) -> Void)] = []
    private(set) var readsAhead = 0

    init(_ node: Node) throws {
        loop = try EventLoop()
        feed = ChangeFeed(loop: loop, memory: ViewMemory(bytesMax: 1 << 20))
        states = [node]
    }

    var commit: UInt64 { UInt64(states.count - 1) }
    var isQuiet: Bool { reads.isEmpty && unpublished.isEmpty }

    func write(_ node: Node, at below: Path) {
        states.append(states[states.count - 1].setting(node, at: below))
        let change = TreeChange(path: path.appending(below), kind: .put(node), commit: commit)
        unpublished.append(ChangeBatch(commit: commit, changes: [change]))
    }

    func publish() {
        guard !unpublished.isEmpty else { return }
        let batch = unpublished.removeFirst()
        published = batch.commit
        feed.publish(batch, Parcel(CommitBatch()), failure: nil)
        loop.runOnce()
    }

    /// Loses a batch, as a writer does whose commit succeeded although it was told that it had failed.
    func loseBatch() { published = unpublished.removeFirst().commit }

    /// Answers the first read with the newest commit.
    func answerRead() {
        guard !reads.isEmpty else { return }
        let read = reads.removeFirst()
        if commit > published { readsAhead += 1 }
        read.completion((read.query.evaluate(states[Int(commit)]), commit))
        loop.runOnce()
    }

    func listen(_ query: Query, _ hear: @escaping (ListenerNews) -> Void) {
        let listener = ChangeFeed.Listener(id: 1, loop: loop, handler: LoopBound(hear, loop: loop))
        let run = LoopBound(self, loop: loop)
        let place = ChangeFeed.Place(path: path, query: query)
        feed.add(listener, at: place, since: published) { query, _, _, completion in run.value.reads.append((query, completion)) }
        feed.follow(place)
    }
}

/// A listener of a query, as a client of the host is: it reads the result once, and then applies what it hears.
private final class ViewClient {
    let query: Query
    let run: FeedRun
    private(set) var result: Node
    private(set) var commit: UInt64
    private(set) var changes = 0
    private(set) var isDue = false

    init(_ query: Query, _ run: FeedRun) {
        self.query = query
        self.run = run
        commit = run.commit
        result = query.evaluate(run.states[Int(run.commit)])
        run.listen(query) { [unowned self] in hear($0) }
    }

    private func hear(_ news: ListenerNews) {
        switch news {
        case .changed(let change):
            #expect(change.commit <= run.published, "a change is shown before its commit is published")
            guard change.commit > commit else { return }
            guard change.continues(commit), case .patch(let members) = change.kind else { return read() }
            for member in members { result.set(member.node, at: member.path) }
            commit = change.commit
            changes += 1
            #expect(result == query.evaluate(run.states[Int(commit)]), "commit \(commit) of \(run.commit) never looked so")
        case .outdated(let newest): if newest > commit { read() }
        case .due: isDue = true
        case .settled: isDue = false
        case .rulesChanged: break
        }
    }

    private func read() {
        commit = run.commit
        result = query.evaluate(run.states[Int(commit)])
    }
}

@Suite struct QueryViewTests {
    private static let keys = (0..<40).map { "k\($0)" }

    /// Few values, so that children meet at the limit.
    private static func node(_ random: inout SeededRandom) -> Node {
        let members = ["h", "x"].map { Node.Child(key: $0, node: Node(.integer(Int64(random.below(6))))) }
        return Node(sorted: members)
    }

    private static func tree(_ random: inout SeededRandom) -> Node {
        Node(unsorted: keys.map { Node.Child(key: $0, node: node(&random)) })
    }

    /// Writes of children and of what is in them, also of those that the view does not know, so that it reads again.
    private static func write(_ run: FeedRun, _ random: inout SeededRandom) {
        let key = random.pick(keys)
        switch random.below(6) {
        case 0: run.write(.empty, at: Path([key]))
        case 1: run.write(node(&random), at: Path([key]))
        default: run.write(Node(.integer(Int64(random.below(6)))), at: Path([key, random.pick(["h", "x"])]))
        }
    }

    /// Readers see commits before the feed has passed them on. Listeners see only states that existed, at each step.
    @Test(arguments: 0..<100)
    func listenersSeeOnlyStatesThatExisted(_ seed: Int) throws {
        var random = SeededRandom(seed: 900 + UInt64(seed))
        let run = try FeedRun(Self.tree(&random))
        let query = Query(order: .child(Path(["h"])), limit: 1 + random.below(3), anchorsLast: random.below(2) == 0)
        let client = ViewClient(query, run)
        for _ in 0..<400 {
            switch random.below(5) {
            case 0, 1: Self.write(run, &random)
            case 2, 3: run.publish()
            default: run.answerRead()
            }
        }
        while !run.isQuiet {
            run.publish()
            run.answerRead()
        }
        #expect(client.result == query.evaluate(run.states[Int(run.commit)]))
        #expect(!client.isDue && client.changes > 5 && run.readsAhead > 5)
    }

    @Test func rowsAheadOfTheFeedAreNotShownBeforeTheirCommitIs() throws {
        var random = SeededRandom(seed: 1)
        let run = try FeedRun(Self.tree(&random))
        let query = Query(order: .child(Path(["h"])), limit: 2, anchorsLast: true)
        let client = ViewClient(query, run)
        run.write(Node(.integer(100)), at: Path(["k5", "h"]))
        run.answerRead()
        #expect(run.readsAhead == 1 && client.isDue == false && client.changes == 0)
        run.write(Node(.integer(101)), at: Path(["k6", "h"]))
        run.publish()
        #expect(client.commit == 1 && client.result == query.evaluate(run.states[1]))
        run.publish()
        #expect(client.commit == 2 && client.result == query.evaluate(run.states[2]))
    }

    /// A writer that has opened its store again says which commit is the newest, without a batch.
    @Test func aCommitWithoutABatchIsReachedWhenTheStoreIsOpenedAgain() throws {
        var random = SeededRandom(seed: 2)
        let run = try FeedRun(Self.tree(&random))
        let query = Query(order: .child(Path(["h"])), limit: 2)
        let client = ViewClient(query, run)
        run.write(.empty, at: Path(["k0"]))
        run.answerRead()
        run.loseBatch()
        run.feed.reach(1)
        run.loop.runOnce()
        #expect(!client.isDue)
        run.write(Node(sorted: [Node.Child(key: "h", node: Node(.integer(-5)))]), at: Path(["k1"]))
        run.publish()
        #expect(client.commit == 2 && client.result == query.evaluate(run.states[2]))
    }
}
