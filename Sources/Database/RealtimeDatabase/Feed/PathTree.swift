import Tree

/// Elements at paths. Finds those that a change touches in time that depends on the changed paths and on the touched elements, not on the number
/// of elements elsewhere.
struct PathTree<Element> {
    private final class Branch {
        var children: [String: Branch] = [:]
        var elements: [(id: UInt64, element: Element)] = []
    }

    private let root = Branch()
    private(set) var count = 0

    /// - Parameter id: distinguishes the element from others at the path.
    mutating func insert(_ element: Element, id: UInt64, at path: Path) {
        var branch = root
        for segment in path.segments {
            let next = branch.children[segment] ?? Branch()
            branch.children[segment] = next
            branch = next
        }
        branch.elements.append((id, element))
        count += 1
    }

    mutating func remove(_ id: UInt64, at path: Path) {
        var way: [Branch] = [root]
        for segment in path.segments {
            guard let next = way.last?.children[segment] else { return }
            way.append(next)
        }
        guard let index = way.last?.elements.firstIndex(where: { $0.id == id }) else { return }
        way.last?.elements.remove(at: index)
        count -= 1
        for depth in path.segments.indices.reversed() {
            guard way[depth + 1].elements.isEmpty, way[depth + 1].children.isEmpty else { return }
            way[depth].children[path.segments[depth]] = nil
        }
    }

    /// Calls `body` once with each element that a change touches.
    func forEach(touchedBy change: TreeChange, _ body: (Element, Touch) -> Void) {
        guard count > 0 else { return }
        let members = change.members
        let touch = Touch(below: members)
        var branch = root
        for segment in change.path.segments {
            for (_, element) in branch.elements { body(element, touch) }
            guard let next = branch.children[segment] else { return }
            branch = next
        }
        Self.forEach(in: branch, touchedBy: members, body)
    }

    /// - Parameter members: the changed paths below the branch, none of which is at or below another one.
    private static func forEach(in branch: Branch, touchedBy members: [ChangedPath], _ body: (Element, Touch) -> Void) {
        if members.contains(where: \.rest.isEmpty) { return forEach(in: branch) { body($0, .whole) } }
        if !branch.elements.isEmpty {
            let touch = Touch(below: members)
            for (_, element) in branch.elements { body(element, touch) }
        }
        guard !branch.children.isEmpty else { return }
        var below: [String: [ChangedPath]] = [:]
        for member in members {
            guard let key = member.rest.first, branch.children[key] != nil else { continue }
            below[key, default: []].append(ChangedPath(rest: member.rest.dropFirst(), isDeleted: member.isDeleted))
        }
        for (key, members) in below {
            if let child = branch.children[key] { forEach(in: child, touchedBy: members, body) }
        }
    }

    /// Calls `body` with each element.
    func forEach(_ body: (Element) -> Void) { Self.forEach(in: root, body) }

    private static func forEach(in branch: Branch, _ body: (Element) -> Void) {
        for (_, element) in branch.elements { body(element) }
        for child in branch.children.values { forEach(in: child, body) }
    }
}

/// A changed path, from some node above it on.
struct ChangedPath {
    var rest: ArraySlice<String>
    /// Whether nothing is left there.
    var isDeleted: Bool
}

extension TreeChange {
    /// The changed paths, from ``path`` on.
    var members: [ChangedPath] {
        switch kind {
        case .put(let node): [ChangedPath(rest: [], isDeleted: node.isEmpty)]
        case .patch(let members): members.map { ChangedPath(rest: $0.path.segments[...], isDeleted: $0.node.isEmpty) }
        }
    }
}

/// The way in which a change touches a place.
enum Touch: Equatable {
    /// The node at the place or above it was replaced.
    case whole
    /// Nodes below the place were written or deleted.
    case below(writes: Bool, deletions: Bool)

    init(below members: [ChangedPath]) {
        self = .below(writes: members.contains { !$0.isDeleted }, deletions: members.contains(where: \.isDeleted))
    }
}
