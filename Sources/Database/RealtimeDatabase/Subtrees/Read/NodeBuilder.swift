import Tree

/// Builds a node in memory.
struct NodeBuilder: RowVisitor {
    private struct Level {
        var key: String
        var priority: Priority?
        var children: [Node.Child] = []
    }

    private var levels: [Level] = []
    private var bytesLeft: Int
    private(set) var node = Node.empty

    /// - Parameter bytesMax: the size limit of all keys and values together.
    init(bytesMax: Int) { bytesLeft = bytesMax }

    /// Whether the size limit was exceeded.
    var isTooLarge: Bool { bytesLeft < 0 }
    var isSatisfied: Bool { isTooLarge }

    mutating func open(_ row: Span<UInt8>, _ segment: Range<Int>, priority: Span<UInt8>) {
        bytesLeft -= segment.count + priority.count
        levels.append(Level(key: Self.key(row, segment), priority: Self.priority(priority)))
    }

    mutating func leaf(_ row: Span<UInt8>, _ segment: Range<Int>, _ value: Span<UInt8>, priority: Span<UInt8>) {
        bytesLeft -= segment.count + value.count + priority.count
        guard !isTooLarge, let leaf = Leaf(json: value) else { return }
        add(Node(leaf, priority: Self.priority(priority)), segment.isEmpty ? "" : Self.key(row, segment))
    }

    mutating func close() {
        guard let level = levels.popLast() else { return }
        add(Node(sorted: level.children, priority: level.priority), level.key)
    }

    private mutating func add(_ child: Node, _ key: String) {
        if levels.isEmpty {
            node = child
        } else {
            levels[levels.count - 1].children.append(Node.Child(key: key, node: child))
        }
    }

    private static func key(_ row: Span<UInt8>, _ segment: Range<Int>) -> String {
        segment.isEmpty ? "" : PathKey.decodeSegment(row, segment)
    }

    private static func priority(_ json: Span<UInt8>) -> Priority? { json.isEmpty ? nil : Priority(json: json) }
}
