import FuzzSupport
import Tree

/// Random trees, paths and queries, the same for the same seed.
struct TreeDice: RandomNumberGenerator {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func next() -> UInt64 { random.next() }

    /// A number from 0 to below `bound`.
    mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// True once in `times`.
    mutating func once(in times: Int) -> Bool { number(times) == 0 }

    mutating func pick<T>(_ values: [T]) -> T { values[number(values.count)] }

    /// Few keys, so that paths meet; integers, near-integers, and what sorts differently in UTF-8 and UTF-16 among them.
    static let keys = ["a", "b", "c", "ab", "0", "1", "2", "3", "10", "01", "-1", "-0", "é", "\u{FFFD}", "😀", "\"", "2147483648"]

    mutating func key() -> String { once(in: 3) ? pick(["a", "b"]) : pick(Self.keys) }

    mutating func path(_ lengthMax: Int) -> Path { Path((0..<number(lengthMax + 1)).map { _ in key() }) }

    mutating func leaf() -> Leaf {
        switch number(10) {
        case 0: .boolean(once(in: 2))
        case 1...3: .integer(Int64(number(7) - 3))
        case 4: .number(pick([-0.0, 0.5, 1e300, -2.25]))
        case 5: .integer(pick([.max, .min, 1 << 53]))
        default: .string(pick(["", "a", "b", "B", "x\ny", "\u{0}\u{1}", "\u{FFFD}", "😀", "0", String(repeating: "s", count: 40)]))
        }
    }

    mutating func priority() -> Priority? {
        guard once(in: 5) else { return nil }
        return once(in: 2) ? .number(Double(number(3))) : .string(pick(["", "p", "q"]))
    }

    mutating func node(depth: Int = 3) -> Node {
        if once(in: 60) { return list() }
        guard depth > 0, !once(in: 3) else { return Node(leaf(), priority: priority()) }
        let children = (0..<number(5)).map { _ in Node.Child(key: key(), node: node(depth: depth - 1)) }
        return Node(unsorted: children, priority: priority())
    }

    /// Many children at once.
    private mutating func list() -> Node {
        let step = pick([1, 1, 2, 3])
        let children = (0..<number(40) + 5).map { Node.Child(key: "\($0 * step)", node: Node(leaf())) }
        return Node(unsorted: children)
    }

    mutating func query() -> Query {
        var query = Query(order: pick([.key, .value, .priority, .priority, .child(Path(["b"])), .child(Path(["b", "a"]))]))
        if once(in: 3) { query.start = bound(query.order) }
        if once(in: 3) { query.end = bound(query.order) }
        if once(in: 2) { query.limit = number(6) }
        query.anchorsLast = once(in: 2)
        return query
    }

    private mutating func bound(_ order: Query.Order) -> Query.Bound {
        var value: IndexValue
        switch order {
        case .key: value = once(in: 12) ? .null : .string(once(in: 6) ? "a\u{0}" : key())
        case .priority: value = IndexValue(priority())
        default: value = once(in: 6) ? .null : once(in: 8) ? .object : IndexValue(leaf())
        }
        if case .key = order, once(in: 8) { value = IndexValue(leaf()) }
        return Query.Bound(value: value, key: pick([.min, .max, .key(key()), .key("a\u{1F}")]), isInclusive: once(in: 2))
    }
}
