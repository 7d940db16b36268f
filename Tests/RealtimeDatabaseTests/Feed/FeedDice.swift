import Tree

@testable import RealtimeDatabase

extension TreeDice {
    /// A change with a node at one path, or at several of which none is at or below another one.
    mutating func change(commit: UInt64 = 1) -> TreeChange {
        let base = path(3)
        guard once(in: 2) else { return TreeChange(path: base, kind: .put(once(in: 3) ? .empty : Node(.boolean(true))), commit: commit) }
        var members: [(path: Path, node: Node)] = []
        for _ in 0..<4 {
            let member = path(3)
            guard !members.contains(where: { $0.path.contains(member) || member.contains($0.path) }) else { continue }
            members.append((member, once(in: 3) ? .empty : Node(.boolean(true))))
        }
        return TreeChange(path: base, kind: .patch(members), commit: commit)
    }
}

extension TreeChange {
    /// The changed paths, with whether nothing is left there.
    var changedPaths: [(path: Path, isDeleted: Bool)] {
        switch kind {
        case .put(let node): [(path, node.isEmpty)]
        case .patch(let members): members.map { (path.appending($0.path), $0.node.isEmpty) }
        }
    }
}
