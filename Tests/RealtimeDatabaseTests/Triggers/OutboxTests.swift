import HearthBytes
import Store
import Testing
import Tree

@testable import RealtimeDatabase

@Suite("Outbox")
struct OutboxTests {
    /// A namespace whose writes raise events.
    final class Bench {
        let storage: MemoryStorage
        var store: (any OrderedStore)?
        var outbox: Outbox
        let matcher: TriggerMatcher
        var tree: TreeWriter

        init(_ patterns: [String]) throws {
            storage = MemoryStorage()
            let store = try storage.openWriter(namespace: "demo")
            self.store = store
            outbox = try Outbox(store, namespace: "demo")
            tree = try TreeWriter(store)
            matcher = TriggerMatcher(
                try patterns.enumerated().map {
                    try TriggerDeclaration(function: "f\($0.offset)", kind: .written, pattern: PathPattern(parsing: $0.element))
                })
        }

        /// Simulates a crash: the committed state remains.
        func reopen() throws {
            store = nil
            let found = outbox.store
            outbox = try Outbox(found, namespace: "demo")
            tree = try TreeWriter(found)
        }

        @discardableResult
        func transaction<R>(_ body: () throws -> R) throws -> R {
            try outbox.store.begin()
            let result = try body()
            try outbox.store.commit()
            return result
        }

        @discardableResult
        func write(_ path: String, _ json: String, _ limits: TriggerLimits = TriggerLimits(), now: Int64 = 1000) throws -> TriggerRefusal? {
            let change = (path: try Path(parsing: path), node: try TriggerMatcherTests.node(json))
            let refusal = try outbox.raise(
                matcher, changes: [change], old: tree.reader, limits: limits, now: now, origin: EventOrigin(.user, id: "alice"), chain: EventChain())
            if refusal == nil { try tree.set(change.node, at: change.path) }
            return refusal
        }

        func rows(_ space: Keyspace = .outbox) throws -> Int {
            var count = 0
            try outbox.store.scan(space, from: [], to: [], reversed: false) { _, _ in
                count += 1
                return .next
            }
            return count
        }
    }

    @Test("a write's events are rows of its transaction, and are announced after it")
    func raises() throws {
        let bench = try Bench(["a/{k}", "a/{k}/x"])
        try bench.transaction { try bench.write("a/1", #"{"x":1}"#) }
        #expect(bench.outbox.hasChanges)
        let announced = try #require(bench.outbox.didCommit())
        #expect(!bench.outbox.hasChanges)
        #expect(announced.namespace == "demo")
        #expect(announced.newest == ["f0": 1, "f1": 2])
        #expect(announced.last == 2)
        let event = try #require(announced.events.first)
        #expect(event.function == "f0" && event.path == Path(["a", "1"]) && event.params == [EventParameter(name: "k", value: "1")])
        #expect(String(decoding: event.payload, as: UTF8.self) == #"{"before":null,"after":{"x":1}}"#)
        #expect(event.origin == EventOrigin(.user, id: "alice") && event.time == 1000 && event.progress == DeliveryProgress(since: 1000))
        #expect(Set(announced.events.map(\.id)).count == 2)
        #expect(try bench.outbox.page(of: "f0", after: 0, limit: 10, bytesMax: 1 << 20).events == [event])
        #expect(bench.outbox.didCommit() == nil)
    }

    @Test("of a write that is refused nothing is left, and what came before it stays")
    func withdraws() throws {
        let bench = try Bench(["a/{k}"])
        let refusals = try bench.transaction {
            [
                try bench.write("a/before", "1"), try bench.write("a", #"{"x":1,"y":2,"z":3}"#, TriggerLimits(functionsMax: 2)),
                try bench.write("a/after", "1"),
            ]
        }
        #expect(refusals == [nil, .tooManyFunctions, nil])
        let announced = try #require(bench.outbox.didCommit())
        #expect(announced.events.map(\.path.description) == ["/a/before", "/a/after"])
        #expect(try bench.rows() == 2)
        #expect(announced.newest == ["f0": announced.last])
    }

    @Test("sequences and ids are never used twice, whatever was taken back or forgotten")
    func numbers() throws {
        let bench = try Bench(["a/{k}"])
        var ids: Set<String> = []
        var last: UInt64 = 0
        for round in 0..<20 {
            try bench.outbox.store.begin()
            try bench.write("a/\(round)", "1")
            try bench.write("a", "{}", TriggerLimits(functionsMax: 0))
            guard round % 4 != 3 else {
                bench.outbox.store.rollback()
                try bench.reopen()
                continue
            }
            try bench.outbox.store.commit()
            let event = try #require(bench.outbox.didCommit()?.events.first)
            #expect(ids.insert(event.id).inserted)
            #expect(event.sequence > last)
            last = event.sequence
            try bench.transaction { try bench.outbox.acknowledge(event.key) }
            if round % 3 == 0 { try bench.reopen() }
        }
        #expect(try bench.rows() == 0)
    }

    @Test("an announcement carries some events and names the newest of each function")
    func announcesSome() throws {
        let bench = try Bench(["a/{k}", "b"])
        let many = Node(unsorted: (0..<1000).map { Node.Child(key: "\($0)", node: Node(.integer(1))) })
        try bench.transaction {
            try bench.write("a", String(decoding: many.serialized(), as: UTF8.self))
            try bench.write("b", "1")
        }
        let announced = try #require(bench.outbox.didCommit())
        #expect(announced.events.count == 256)
        #expect(announced.events.map(\.sequence) == Array(1...256))
        #expect(announced.newest == ["f0": 1000, "f1": 1001])
        try bench.reopen()
        let pending = try #require(try bench.outbox.pending())
        #expect(pending.newest == announced.newest && pending.events.isEmpty && pending.last == 1001)
    }

    @Test("pages go on where the last one ended, and hold no more than asked for")
    func pages() throws {
        let bench = try Bench(["a/{k}", "a/{k}"])
        try bench.transaction { for index in 0..<25 { try bench.write("a/\(index)", "1") } }
        var seen: [UInt64] = []
        var after: UInt64 = 0
        while true {
            let page = try bench.outbox.page(of: "f1", after: after, limit: 10, bytesMax: 1 << 20)
            #expect(page.events.count <= 10 && page.events.allSatisfy { $0.function == "f1" })
            seen += page.events.map(\.sequence)
            after = page.through
            if !page.hasMore { break }
        }
        #expect(seen.count == 25 && seen == seen.sorted())
        let small = try bench.outbox.page(of: "f0", after: 0, limit: 10, bytesMax: 1)
        #expect(small.events.count == 1 && small.hasMore)
        let some = try bench.outbox.events(of: "f0", [seen[0] - 1, 10_000, seen[1] - 1], bytesMax: 1 << 20)
        #expect(some.readCount == 3 && some.events.map(\.sequence) == [seen[0] - 1, seen[1] - 1])
        #expect(try bench.outbox.events(of: "f0", [1, 3], bytesMax: 1).readCount == 1)
    }

    @Test("a damaged row is told of and holds up no other")
    func damage() throws {
        let bench = try Bench(["a/{k}"])
        try bench.transaction {
            for index in 0..<3 { try bench.write("a/\(index)", "1") }
            try bench.outbox.store.put(EventKey(function: "f0", sequence: 2).bytes, [1, 2, 3].span, in: .outbox)
        }
        let page = try bench.outbox.page(of: "f0", after: 0, limit: 10, bytesMax: 1 << 20)
        #expect(page.damaged == [2] && page.events.map(\.sequence) == [1, 3])
    }

    @Test("dead letters are listed, looked at, replayed and deleted")
    func deadLetters() throws {
        let bench = try Bench(["a/{k}"])
        try bench.transaction { for index in 0..<5 { try bench.write("a/\(index)", "1") } }
        let events = try #require(bench.outbox.didCommit()).events
        var progress = DeliveryProgress(since: 1000)
        progress.attempts = 3
        progress.lastError = "not-found: nobody"
        try bench.transaction {
            for event in events.prefix(4) { try bench.outbox.bury(event.key, progress, reason: .expired, now: 5000) }
            try bench.outbox.bury(EventKey(function: "f0", sequence: 99), progress, reason: .failed, now: 1)
        }
        #expect(try bench.rows() == 1)
        // Their numbers follow those of the events.
        let first = try bench.outbox.deadLetters(limit: 3)
        #expect(first.letters.map(\.event.sequence) == [6, 7, 8] && first.next == 8)
        #expect(first.letters.map(\.event.id) == events.prefix(3).map(\.id))
        let second = try bench.outbox.deadLetters(after: 8, limit: 3)
        #expect(second.letters.map(\.event.sequence) == [9] && second.next == nil)
        let letter = try #require(try bench.outbox.deadLetter(7))
        #expect(letter.reason == .expired && letter.time == 5000 && letter.event.progress == progress && letter.event.id == events[1].id)

        let answers = try bench.transaction {
            [
                try bench.outbox.replay(7, now: 9000), try bench.outbox.replay(7, now: 9000), try bench.outbox.deleteDeadLetter(8),
                try bench.outbox.deleteDeadLetter(8),
            ]
        }
        #expect(answers == [true, false, true, false])
        let replayed = try #require(bench.outbox.didCommit()?.events.first)
        #expect(replayed.id == events[1].id && replayed.sequence > 9 && replayed.time == 1000)
        #expect(replayed.progress == DeliveryProgress(since: 9000))
        #expect(try bench.outbox.deadLetters(limit: 10).letters.map(\.event.sequence) == [6, 9])
        #expect(try bench.rows() == 2)
    }

    @Test("what was postponed is there with its progress")
    func postpones() throws {
        let bench = try Bench(["a"])
        try bench.transaction { try bench.write("a", "1") }
        let event = try #require(bench.outbox.didCommit()?.events.first)
        var progress = DeliveryProgress(since: 1000)
        progress.interruptions = 1
        progress.notBefore = 70_000
        try bench.transaction { try bench.outbox.postpone(event.key, progress) }
        var expected = event
        expected.progress = progress
        #expect(try bench.outbox.event(event.key) == expected)
    }

    @Test("chains grow by their newest link and keep the last ones")
    func chains() {
        var chain = EventChain()
        #expect(chain.depth == 0 && chain.description.isEmpty)
        for index in 0..<40 { chain = chain.appending(EventChain.Link(event: "\(index)", function: "f", path: "/\(index)")) }
        #expect(chain.depth == 40 && chain.links.count == EventChain.linksMax && chain.links.last?.event == "39")
        #expect(chain.description.hasPrefix("... -> f at /8 -> ") && chain.description.hasSuffix("f at /39"))
    }
}
