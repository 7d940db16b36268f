import HearthBytes
import FuzzSupport
import Tree

/// Keys, leaves and nodes made by chance, with what is awkward in them more often than by chance.
struct Samples {
    var random: SeededRandom

    static let awkwardKeys = [
        "0", "1", "9", "10", "01", "001", "-1", "-0", "00", "-00", "-01", "2147483647", "2147483648", "-2147483648", "-2147483649",
        "02147483647", "12345678901", "-", "--1", "1a", "+1", " 1", "a", "aa", "b", "A", "Z", "é", "e\u{301}", "\u{D7FF}", "\u{E000}",
        "\u{FFFD}", "\u{FFFF}", "😀", "\u{10000}", "\u{10FFFF}", "a😀", "a\u{FFFD}", "a\"b", "a\\b", "日本", "-Nabcdefghij", "key with space",
        String(repeating: "0", count: 767) + "7", String(repeating: "x", count: 768), "\u{80}", "\u{7FF}", "\u{800}",
    ]

    mutating func key() -> String {
        switch random.below(4) {
        case 0: random.pick(Self.awkwardKeys)
        case 1: String(Int32(truncatingIfNeeded: random.below(40) - 5))
        case 2: String(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
        default: String((0..<1 + random.below(4)).map { _ in random.pick(Array("ab01-_é\u{FFFD}😀")) })
        }
    }

    mutating func leaf() -> Leaf {
        switch random.below(8) {
        case 0: .boolean(random.below(2) == 0)
        case 1: .integer(Int64(random.below(5)))
        case 2: .integer(Int64(bitPattern: random.next()))
        case 3: .number(Double(random.below(100)) / 8)
        case 4: .double(-0.0)
        case 5: .number(Double(bitPattern: random.next()).finite)
        case 6: .string(random.pick(["", "a", "b", "ab", "é", "e\u{301}", "\u{FFFD}", "😀", "\u{0}", "\u{1}", "\u{1}\u{0}", "\"\\\n", "1"]))
        default: .string(key())
        }
    }

    mutating func priority() -> Priority? { random.below(6) == 0 ? Priority(leaf()) : nil }

    mutating func node(depth: Int, priorities: Bool = true) -> Node {
        if depth == 0 || random.below(4) == 0 {
            return random.below(6) == 0 ? .empty : Node(leaf(), priority: priorities ? priority() : nil)
        }
        var children: [Node.Child] = []
        let isList = random.below(3) == 0
        for index in 0..<random.below(6) {
            children.append(Node.Child(key: isList ? String(index + random.below(2)) : key(), node: node(depth: depth - 1, priorities: priorities)))
        }
        return Node(unsorted: children, priority: priorities ? priority() : nil)
    }

    mutating func path(count: Int) -> Path { Path((0..<count).map { _ in key() }) }
}

extension Double {
    fileprivate var finite: Double { isFinite ? self : 0.5 }
}

extension Node {
    /// Whether the promises that a node makes about itself hold, all the way down.
    var isWellFormed: Bool {
        switch content {
        case .empty: return priority == nil
        case .leaf: return true
        case .children(let children):
            return !children.isEmpty && children.allSatisfy { !$0.node.isEmpty && $0.node.isWellFormed }
                && zip(children, children.dropFirst()).allSatisfy { KeyOrder.precedes($0.key, $1.key) }
        }
    }

    /// Reads a text in either form.
    static func reading(_ text: String) throws(NodeError) -> Node {
        try Draft(parsing: Array(text.utf8).span).node
    }

    func text(_ form: JSONForm = .value, isPretty: Bool = false) -> String {
        var buffer = ByteBuffer()
        write(to: &buffer, form: form, isPretty: isPretty)
        return buffer.string()
    }
}
