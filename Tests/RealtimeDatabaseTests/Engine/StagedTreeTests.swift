import Store
import Testing
import Tree

@testable import RealtimeDatabase

/// The new data for rules is the data after the write.
@Suite struct StagedTreeTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func likeTheTreeAfterTheWrite(_ seed: UInt64) throws {
        var dice = TreeDice(seed: seed)
        for _ in 0..<150 {
            let storage = MemoryStorage()
            let store = try storage.openWriter(namespace: "test")
            try store.begin()
            let writer = try TreeWriter(store)
            let root = dice.node(depth: 4)
            try writer.set(root, at: Path.root)
            let changes = Self.changes(&dice)
            let stored = StoredTree(writer.reader)
            let staged = StagedTree(stored, changes: changes)
            // The write is not in the store yet, and the order of an update's members does not matter.
            let after = Self.ordered(changes).reduce(root) {
                $1.isPriorityOnly ? $0.settingPriority($1.node.priority, at: $1.path) : $0.setting($1.node, at: $1.path)
            }
            var paths = (0..<40).map { _ in dice.path(5) } + changes.map(\.path)
            for change in changes { for length in 0..<change.path.count { paths.append(Path(Array(change.path.segments.prefix(length)))) } }
            for path in paths {
                let (key, node) = (path.key, after.at(path))
                let about: Comment = "seed \(seed), \(path) of \(root), \(changes)"
                #expect(try staged.leaf(at: key) == node.leaf, about)
                #expect(try staged.exists(at: key) == !node.isEmpty, about)
                #expect(try staged.hasChildren(at: key) == (!node.isEmpty && node.leaf == nil), about)
                #expect(try staged.priority(at: key) == node.priority, about)
            }
            for change in Self.ordered(changes) {
                if change.isPriorityOnly {
                    try writer.setPriority(change.node.priority, at: change.path)
                } else {
                    try writer.set(change.node, at: change.path)
                }
            }
            #expect(try writer.reader.node(at: PathKey.root, bytesMax: .max) == after)
            store.rollback()
        }
    }

    /// A set, or an update whose members do not meet.
    private static func changes(_ dice: inout TreeDice) -> [ResolvedChange] {
        var changes: [ResolvedChange] = []
        for _ in 0...dice.number(5) {
            let path = dice.path(4)
            guard !changes.contains(where: { $0.path.contains(path) || path.contains($0.path) }) else { continue }
            if dice.once(in: 4) {
                // Other contents of the node are not read.
                let priority: Priority? = dice.once(in: 3) ? nil : .number(Double(dice.number(9)))
                changes.append(ResolvedChange(path: path, node: Node(.boolean(true), priority: priority), isPriorityOnly: true))
            } else {
                changes.append(ResolvedChange(path: path, node: dice.once(in: 2) ? .empty : dice.node(depth: 2)))
            }
        }
        return changes
    }

    /// The changes in the writer's order.
    private static func ordered(_ changes: [ResolvedChange]) -> [ResolvedChange] {
        let values = changes.filter { !$0.isPriorityOnly }
        return changes.filter(\.isPriorityOnly) + values.filter { !$0.node.isEmpty } + values.filter(\.node.isEmpty)
    }

    /// For every member of an update, rules read the future state of the nodes above it.
    @Test func manyDeletionsAreNoMoreWorkThanOneEach() throws {
        let count = 4000
        let store = CountingStore(try MemoryStorage().openWriter(namespace: "test"))
        try store.begin()
        let writer = try TreeWriter(store)
        let list = Node(unsorted: (0..<count).map { Node.Child(key: "n\($0)", node: Node(.integer(1))) })
        try writer.set(list, at: Path(["list"]))
        let changes = (0..<count).map { ResolvedChange(path: Path(["list", "n\($0)"]), node: .empty) }
        let stored = StoredTree(writer.reader)
        let staged = StagedTree(stored, changes: changes)
        let key = Path(["list"]).key
        var isThere = false
        let cost = try store.counting {
            for _ in changes {
                if try staged.exists(at: key) { isThere = true }
                if try staged.hasChildren(at: PathKey.root) { isThere = true }
                if try staged.leaf(at: key) != nil { isThere = true }
            }
        }
        #expect(!isThere)
        #expect(cost.rows < 10 * count)
    }
}
