import Testing
import Tree

@testable import RealtimeDatabase

/// What rules see as the new data is what is there when the write is done.
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
            // Nothing of the write is in the store yet, and the order of an update's members does not matter.
            let after = changes.sorted { !$0.node.isEmpty && $1.node.isEmpty }.reduce(root) { $0.setting($1.node, at: $1.path) }
            var paths = (0..<40).map { _ in dice.path(5) } + changes.map(\.path)
            for change in changes { for length in 0..<change.path.count { paths.append(Path(Array(change.path.segments.prefix(length)))) } }
            for path in paths {
                let (key, node) = (path.key, after.at(path))
                let about: Comment = "seed \(seed), \(path) of \(root), \(changes)"
                #expect(staged.leaf(at: key) == node.leaf, about)
                #expect(staged.exists(at: key) == !node.isEmpty, about)
                #expect(staged.hasChildren(at: key) == (!node.isEmpty && node.leaf == nil), about)
                #expect(staged.priority(at: key) == node.priority, about)
            }
            for change in changes.sorted(by: { !$0.node.isEmpty && $1.node.isEmpty }) { try writer.set(change.node, at: change.path) }
            #expect(try writer.reader.node(at: PathKey.root, bytesMax: .max) == after)
            #expect(stored.failure == nil)
            store.rollback()
        }
    }

    /// A set, or an update whose members do not meet.
    private static func changes(_ dice: inout TreeDice) -> [ResolvedChange] {
        var changes: [ResolvedChange] = []
        for _ in 0...dice.number(5) {
            let path = dice.path(4)
            guard !changes.contains(where: { $0.path.contains(path) || path.contains($0.path) }) else { continue }
            changes.append(ResolvedChange(path: path, node: dice.once(in: 2) ? .empty : dice.node(depth: 2)))
        }
        return changes
    }
}
