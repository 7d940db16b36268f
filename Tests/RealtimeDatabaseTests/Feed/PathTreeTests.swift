import Testing
import Tree

@testable import RealtimeDatabase

@Suite struct PathTreeTests {
    @Test func findsWhatAChangeTouches() {
        var dice = TreeDice(seed: 7)
        var tree = PathTree<UInt64>()
        var places: [UInt64: Path] = [:]
        for id in 1...2000 as ClosedRange<UInt64> {
            if dice.once(in: 3), let gone = places.randomElement(using: &dice) {
                tree.remove(gone.key, at: gone.value)
                places[gone.key] = nil
            }
            let path = dice.path(4)
            tree.insert(id, id: id, at: path)
            places[id] = path
            let change = dice.change()
            var found: [UInt64: Touch] = [:]
            tree.forEach(touchedBy: change) { id, touch in
                #expect(found[id] == nil, "\(id) is found twice")
                found[id] = touch
            }
            #expect(found == places.compactMapValues { Self.touch(of: change, at: $0) })
        }
        #expect(tree.count == places.count)
        for (id, path) in places { tree.remove(id, at: path) }
        #expect(tree.count == 0)
        tree.forEach { Issue.record("\($0) is left") }
    }

    private static func touch(of change: TreeChange, at place: Path) -> Touch? {
        if change.changedPaths.contains(where: { $0.path.contains(place) }) { return .whole }
        let below = change.changedPaths.filter { place.contains($0.path) }
        guard !below.isEmpty else { return nil }
        return .below(writes: below.contains { !$0.isDeleted }, deletions: below.contains(where: \.isDeleted))
    }
}
