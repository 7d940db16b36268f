import FuzzSupport
import Tree

@testable import RealtimeDatabase

/// Small random trees, patterns and writes, in which much happens at the same places.
struct TriggerDice {
    var random: SeededRandom

    private static let keys = ["a", "b", "ab", "ba", "aab", "1", "2", "10", "-0", "é", "\u{10000}", "\u{FFFD}"]
    private static let shapes = ["*", "a*", "*b", "a*b", "*a*", "1*", "**"]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func key() -> String { Self.keys[Int.random(in: 0..<(chance(80) ? 5 : Self.keys.count), using: &random)] }

    mutating func path(depth: Int) -> Path { Path((0..<depth).map { _ in key() }) }

    mutating func node(depth: Int) -> Node {
        var node: Node
        if depth == 0 || chance(25) {
            node = leaf()
        } else {
            let count = Int.random(in: 0...4, using: &random)
            node = Node(unsorted: (0..<count).map { _ in Node.Child(key: key(), node: self.node(depth: depth - 1)) })
        }
        if chance(10) { node.priority = .number(Double(Int.random(in: 0...2, using: &random))) }
        return node
    }

    private mutating func leaf() -> Node {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .empty
        case 1: Node(.boolean(false))
        case 2: Node(.string(""))
        case 3: Node(.string("text"))
        case 4: Node(.integer(0))
        case 5: Node(.double(0.5))
        default: Node(.integer(Int64.random(in: 0...3, using: &random)))
        }
    }

    mutating func pattern() -> PathPattern {
        while true {
            let count = Int.random(in: 0...4, using: &random)
            let segments = (0..<count).map { segment(index: $0) }
            if let pattern = try? PathPattern(parsing: segments.joined(separator: "/")) { return pattern }
        }
    }

    private mutating func segment(index: Int) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: key()
        case 4..<7: "{p\(index)}"
        case 7: Self.shapes[Int.random(in: 0..<Self.shapes.count, using: &random)]
        default: "{p\(index)=\(Self.shapes[Int.random(in: 0..<Self.shapes.count, using: &random)])}"
        }
    }

    mutating func declarations(_ count: Int) throws -> [TriggerDeclaration] {
        try (0..<count).map { index in
            let kind = TriggerKind.allCases[Int.random(in: 0..<4, using: &random)]
            return try TriggerDeclaration(function: "f\(index)", kind: kind, pattern: pattern())
        }
    }

    /// A write of one path or several, often one that changes little of what is there.
    mutating func changes(of tree: Node) -> [(path: Path, node: Node)] {
        var changes: [(path: Path, node: Node)] = []
        for _ in 0..<(chance(50) ? 1 : Int.random(in: 2...4, using: &random)) {
            let path = path(depth: Int.random(in: 0...4, using: &random))
            guard !changes.contains(where: { $0.path.contains(path) || path.contains($0.path) }) else { continue }
            changes.append((path, node(insteadOf: tree.at(path), depth: 4 - path.count)))
        }
        return changes
    }

    private mutating func node(insteadOf old: Node, depth: Int) -> Node {
        var node = old
        switch Int.random(in: 0..<10, using: &random) {
        case 0: break
        case 1: node.priority = .string("first")
        case 2, 3: node = .empty
        case 4, 5:
            for _ in 0..<2 { node = node.setting(self.node(depth: 1), at: path(depth: Int.random(in: 0...max(0, depth), using: &random))) }
        default: node = self.node(depth: depth)
        }
        return node
    }
}
