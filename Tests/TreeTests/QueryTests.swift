import FuzzSupport
import Testing
import Tree

@Suite struct QueryTests {
    private static let collection =
        #"{"c":{"h":3,"n":"x"},"a":{"h":1},"b":{"h":2,"n":"y"},"d":{"n":"z"},"e":{"h":"tall"},"f":{"h":true},"g":{"h":{"o":1}}}"#
    private static let height = Query.Order.child(Path(["h"]))

    @Test(arguments: [
        (Query(order: height), "dfabceg"), (Query(order: .key), "abcdefg"), (Query(order: .key, limit: 2), "ab"),
        (Query(order: .key, limit: 2, anchorsLast: true), "fg"),
        (Query(order: .key, start: .startAt(.string("b")), end: .endAt(.string("d"))), "bcd"),
        (Query(order: .key, start: .startAt(.string("c")), end: .endAt(.string("c"))), "c"),
        (Query(order: .key, start: .startAfter(.string("b")), end: .endBefore(.string("e"))), "cd"),
        (Query(order: height, start: .startAt(.number(2)), end: .endAt(.number(9))), "bc"),
        (Query(order: height, start: .startAt(.number(2))), "bceg"),
        (Query(order: height, end: .endAt(.number(1))), "dfa"), (Query(order: height, start: .startAt(.true), end: .endAt(.true)), "f"),
        (Query(order: height, start: .startAt(.null), end: .endAt(.null)), "d"),
        (Query(order: height, start: .startAt(.string("tall")), end: .endAt(.string("tall"))), "e"),
        (Query(order: height, limit: 2, anchorsLast: true), "eg"), (Query(order: height, limit: 2), "df"),
        (Query(order: height, start: .startAfter(.number(1)), end: .endAt(.number(3))), "bc"),
        (Query(order: height, start: .startAt(.number(1)), end: .endBefore(.number(3))), "ab"),
        (Query(order: height, start: .startAt(.number(1)), limit: 2), "ab"),
        (Query(order: height, start: .startAt(.number(99)), end: .endAt(.number(99))), ""),
        (Query(order: .child(Path(["h", "o"])), start: .startAt(.number(1))), "g"), (Query(order: height, limit: 0), ""), (Query(), "abcdefg"),
    ])
    func childrenAreTakenInOrder(_ query: Query, _ keys: String) throws {
        let node = try Node.reading(Self.collection)
        #expect(query.ordered(node).map(\.key).joined() == keys)
        #expect(query.evaluate(node).children.map(\.key).joined() == String(keys.sorted()))
        for child in query.evaluate(node).children { #expect(child.node == node.child(child.key)) }
    }

    @Test(arguments: [
        (Query(order: .value, limit: 2, anchorsLast: true), "ca"), (Query(order: .value, start: .startAt(.number(10), key: "c")), "dca"),
        (Query(order: .value, start: .startAfter(.number(10), key: "b"), end: .endAt(.number(20), key: "c")), "dc"),
        (Query(order: .value, start: .startAt(.number(10)), end: .endBefore(.number(10), key: "d")), "b"),
    ])
    func tiesAreBrokenByKey(_ query: Query, _ keys: String) throws {
        let node = try Node.reading(#"{"a":30,"b":10,"c":20,"d":10}"#)
        #expect(query.ordered(node).map(\.key).joined() == keys)
    }

    @Test func prioritiesAreAnOrder() throws {
        let node = try Node.reading(
            #"{"a":{".value":1,".priority":"p"},"b":{".value":1,".priority":2},"c":1,"d":{".value":1,".priority":1},".priority":9}"#)
        #expect(Query().ordered(node).map(\.key) == ["c", "d", "b", "a"] && Query().isDefault)
        #expect(Query(start: .startAt(.number(2))).ordered(node).map(\.key) == ["b", "a"])
        #expect(Query(limit: 1).evaluate(node).text(.export) == #"{"c":1}"#)
        #expect(Query().evaluate(node).priority == nil && Query().evaluate(node).children == node.children)
    }

    @Test func leavesAndNothingAnswerNothing() {
        for node in [Node.empty, Node(.integer(1), priority: .number(2))] {
            for order in [Query.Order.key, .value, .priority, .child(Path(["a"]))] {
                #expect(Query(order: order, limit: 3).evaluate(node).isEmpty && Query(order: order).evaluate(node).isEmpty)
            }
        }
    }

    @Test func wholeNumbersComeFirstByNumber() throws {
        let node = try Node.reading(#"{"100":"j","20":"b","x":"z","3":"c"}"#)
        #expect(Query(order: .key, limit: 2).ordered(node).map(\.key) == ["3", "20"])
        #expect(Query(order: .key, start: .startAt(.number(20))).ordered(node).map(\.key) == ["20", "100", "x"])
    }

    /// Every query against a selection that looks at each pair of children.
    @Test(arguments: 0..<10)
    func theAnswerIsThatOfBruteForce(_ seed: Int) {
        var samples = Samples(random: SeededRandom(seed: 100 + UInt64(seed)))
        for _ in 0..<150 {
            let children = (0..<samples.random.below(12)).map { _ in Node.Child(key: samples.key(), node: samples.node(depth: 2)) }
            let node = Node(unsorted: children)
            let query = samples.query(node)
            let taken = BruteForce.keys(query, node)
            #expect(query.ordered(node).map(\.key) == taken, "\(query) \(node.text(.export))")
            let result = query.evaluate(node)
            #expect(result.isWellFormed && result.children.count == taken.count)
            for key in taken { #expect(result.child(key) == node.child(key)) }
        }
    }
}

/// A query carried out with the words of the specification: a child's rank is the number of children before it.
private enum BruteForce {
    static func keys(_ query: Query, _ node: Node) -> [String] {
        let members = node.children.map { (key: $0.key, value: value($0, query.order)) }
        let inRange = members.filter { isInRange($0, query) }
        var keys = inRange.map { _ in "" }
        for member in inRange { keys[inRange.count { compare($0, member) < 0 }] = member.key }
        guard let limit = query.limit else { return keys }
        return query.anchorsLast ? Array(keys.suffix(limit)) : Array(keys.prefix(limit))
    }

    private static func value(_ child: Node.Child, _ order: Query.Order) -> IndexValue {
        switch order {
        case .key: .null
        case .value: IndexValue(child.node)
        case .priority: child.node.priority.map { IndexValue($0.leaf) } ?? .null
        case .child(let path): path.segments.reduce(child.node) { $0.child($1) }.isEmpty ? .null : IndexValue(child.node.at(path))
        }
    }

    private static func compare(_ left: (key: String, value: IndexValue), _ right: (key: String, value: IndexValue)) -> Int {
        left.value == right.value ? KeyOrderTests.reference(left.key, right.key) : left.value < right.value ? -1 : 1
    }

    private static func isInRange(_ member: (key: String, value: IndexValue), _ query: Query) -> Bool {
        for (bound, sign) in [(query.start, 1), (query.end, -1)] {
            guard let bound else { continue }
            let order: Int
            if query.order == .key {
                guard case .string(let key) = bound.value else { continue }
                order = KeyOrderTests.reference(member.key, key)
            } else {
                switch bound.key {
                case .key(let key): order = compare(member, (key, bound.value))
                case .min: order = member.value < bound.value ? -1 : 1
                case .max: order = member.value > bound.value ? 1 : -1
                }
            }
            if order * sign < 0 || order == 0 && !bound.isInclusive { return false }
        }
        return true
    }
}

extension Samples {
    /// A query some of whose bounds are those of children of `node`.
    mutating func query(_ node: Node) -> Query {
        let order = random.pick([Query.Order.key, .value, .priority, .child(Path(["0"])), .child(Path(["1", "0"]))])
        var query = Query(order: order)
        if random.below(2) == 0 { query.start = bound(query, node) }
        if random.below(2) == 0 { query.end = bound(query, node) }
        if random.below(2) == 0 { query.limit = random.below(6) }
        query.anchorsLast = random.below(2) == 0
        return query
    }

    private mutating func bound(_ query: Query, _ node: Node) -> Query.Bound {
        if query.order == .key {
            let key = node.children.isEmpty ? key() : random.pick(node.children).key
            return Query.Bound(value: .string(key), key: .min, isInclusive: random.below(2) == 0)
        }
        let value = node.children.isEmpty || random.below(3) == 0 ? IndexValue(leaf()) : query.indexValue(of: random.pick(node.children))
        let key = node.children.isEmpty || random.below(3) == 0 ? key() : random.pick(node.children).key
        return Query.Bound(value: value, key: random.pick([.min, .max, .key(key)]), isInclusive: random.below(2) == 0)
    }
}
