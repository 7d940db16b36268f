import FuzzSupport
import Testing
import Tree

@Suite struct QueryWindowTests {
    /// More children than a window keeps beyond a small limit.
    private static let keys = ["0", "1", "2", "10", "a", "b", "c", "d", "e", "f", "g", "é", "e\u{301}"] + (0..<24).map { "k\($0)" }

    private static func query(_ random: inout SeededRandom) -> Query {
        var query = Query(order: random.pick([.key, .value, .priority, .child(Path(["h"])), .child(Path(["h", "o"]))]))
        func value() -> IndexValue {
            if case .key = query.order { return .string(random.pick(keys)) }
            return random.pick([.null, .false, .true, .number(1), .number(3), .string("b"), .string("d")])
        }
        func key() -> String? { random.below(3) == 0 ? random.pick(keys) : nil }
        if random.below(3) == 0 { query.start = random.below(2) == 0 ? .startAt(value(), key: key()) : .startAfter(value(), key: key()) }
        if random.below(3) == 0 { query.end = random.below(2) == 0 ? .endAt(value(), key: key()) : .endBefore(value(), key: key()) }
        if random.below(4) > 0 {
            query.limit = 1 + random.below(4)
            query.anchorsLast = random.below(2) == 0
        }
        return query
    }

    private static func leaf(_ random: inout SeededRandom) -> Leaf {
        random.pick([.boolean(false), .boolean(true), .integer(1), .integer(2), .integer(3), .string("a"), .string("c"), .string("e")])
    }

    private static func child(_ random: inout SeededRandom, depth: Int = 2) -> Node {
        let priority: Priority? = random.below(4) == 0 ? .number(Double(random.below(3))) : nil
        if depth == 0 || random.below(3) == 0 { return Node(leaf(&random), priority: priority) }
        let names = ["h", "o", "x"].filter { _ in random.below(2) == 0 }
        return Node(sorted: names.map { Node.Child(key: $0, node: child(&random, depth: depth - 1)) }, priority: priority)
    }

    private static func place(_ random: inout SeededRandom) -> Path {
        switch random.below(20) {
        case 0: .root
        case 1..<12: Path([random.pick(keys)])
        default: Path([random.pick(keys)] + (0...random.below(2)).map { _ in random.pick(["h", "o", "x"]) })
        }
    }

    /// One to three writes, of which none is at or below another one.
    private static func writes(_ random: inout SeededRandom) -> [QueryWindow.Member] {
        var writes: [QueryWindow.Member] = []
        for _ in 0...(random.below(4) == 0 ? 2 : 0) {
            let path = place(&random)
            guard !writes.contains(where: { $0.path.contains(path) || path.contains($0.path) }) else { continue }
            var node = random.below(4) == 0 ? Node.empty : child(&random)
            if path.isRoot {
                node = Node(unsorted: (0..<random.below(12)).map { _ in Node.Child(key: random.pick(keys), node: child(&random)) })
            }
            writes.append((path, node))
        }
        return writes
    }

    /// A client that gets only the changes of a window has the result of its query at each step, and never more children than the limit.
    @Test(arguments: 0..<200)
    func changesAgreeWithTheQuery(_ seed: Int) {
        var random = SeededRandom(seed: 5000 + UInt64(seed))
        let query = Self.query(&random)
        var window = QueryWindow(query)
        var tree = Node(unsorted: Self.keys.map { Node.Child(key: $0, node: Self.child(&random)) })
        var client = Node.empty
        func send(_ members: [QueryWindow.Member]) {
            for member in members {
                client.set(member.node, at: member.path)
                #expect(client.children.count <= query.limit ?? .max, "\(query)")
            }
        }
        send(window.fill(window.filling.evaluate(tree)))
        for step in 0..<400 {
            let writes = Self.writes(&random)
            // A deletion comes last, so that no ancestor is empty for a moment.
            for write in writes where !write.node.isEmpty { tree.set(write.node, at: write.path) }
            for write in writes where write.node.isEmpty { tree.set(write.node, at: write.path) }
            send(window.apply(writes) ?? window.fill(window.filling.evaluate(tree)))
            let expected = query.evaluate(tree)
            #expect(client == expected, "seed \(seed), step \(step): \(query)\n\(writes)\n\(client.text(.export))\n\(expected.text(.export))")
            #expect(window.result == expected)
            guard client == expected else { return }
        }
        _ = window.fill(window.filling.evaluate(tree))
        var again = QueryWindow(query)
        _ = again.fill(window.filling.evaluate(tree))
        #expect(window.heldBytes == again.heldBytes)
    }

    private static func number(_ number: Int) -> String { "k\(1000 + number)" }

    /// New children that replace others beyond a limit, as messages of a room do, need no reading; neither do as many removals as there are spares.
    @Test(arguments: [false, true], [Query.Order.key, .child(Path(["at"])), .priority])
    func childrenThatComeAndGoNeedNoReading(_ anchorsLast: Bool, _ order: Query.Order) {
        let query = Query(order: order, limit: 20, anchorsLast: anchorsLast)
        func message(_ count: Int) -> Node { Node(sorted: [.init(key: "at", node: Node(.integer(Int64(count))))]) }
        var tree = Node(sorted: (0..<500).map { Node.Child(key: Self.number($0), node: message($0)) })
        var window = QueryWindow(query)
        _ = window.fill(window.filling.evaluate(tree))
        for number in 500..<700 {
            let (added, removed) = anchorsLast ? (number, number - 500) : (number, number - 1)
            tree.set(message(added), at: Path([Self.number(added)]))
            tree.set(.empty, at: Path([Self.number(removed)]))
            let writes: [QueryWindow.Member] = [(Path([Self.number(added)]), message(added)), (Path([Self.number(removed)]), .empty)]
            #expect(window.apply(writes) != nil)
            #expect(window.result == query.evaluate(tree))
        }
        var removals = 0
        while removals < 100 {
            let key = query.ordered(tree)[0].key
            tree.set(.empty, at: Path([key]))
            guard window.apply([(Path([key]), .empty)]) != nil else { break }
            #expect(window.result == query.evaluate(tree))
            removals += 1
        }
        #expect(removals >= 20 && removals < 100)
    }

    /// A write far outside a window has no effect, and nothing is read for it.
    @Test func writesOutsideHaveNoEffect() {
        let query = Query(order: .child(Path(["at"])), limit: 5, anchorsLast: true)
        var window = QueryWindow(query)
        let tree = Node(sorted: (0..<100).map { number in
            Node.Child(key: Self.number(number), node: Node(sorted: [.init(key: "at", node: Node(.integer(Int64(number))))]))
        })
        _ = window.fill(window.filling.evaluate(tree))
        for (path, node) in [
            (Path([Self.number(3), "text"]), Node(.string("x"))), (Path([Self.number(3)]), .empty), (Path([Self.number(3), "at"]), Node(.integer(7))),
            (Path(["new"]), Node(.string("x"))), (Path(["new", "text"]), Node(.string("x"))),
        ] {
            #expect(window.apply([(path, node)])?.isEmpty == true, "\(path)")
        }
        // The other fields of a child that enters are not known.
        #expect(window.apply([(Path([Self.number(3), "at"]), Node(.integer(1000)))]) == nil)
    }
}
