import EventLoop
import Tree

/// The listeners by path. Finds the listeners of a change in time that depends on the depth of the change and on the paths with listeners
/// below it, not on the number of listeners.
struct ListenerTree {
    /// A listener. Its handler is called on its loop.
    struct Listener {
        var id: UInt64
        var loop: EventLoop
        var handler: LoopBound<(ListenerNews) -> Void>
    }

    private final class Branch {
        var children: [String: Branch] = [:]
        var listeners: [Listener] = []
    }

    private let root = Branch()
    private(set) var count = 0

    mutating func insert(_ listener: Listener, at path: Path) {
        var branch = root
        for segment in path.segments {
            let next = branch.children[segment] ?? Branch()
            branch.children[segment] = next
            branch = next
        }
        branch.listeners.append(listener)
        count += 1
    }

    mutating func remove(_ id: UInt64, at path: Path) {
        var way: [Branch] = [root]
        for segment in path.segments {
            guard let next = way.last?.children[segment] else { return }
            way.append(next)
        }
        guard let index = way.last?.listeners.firstIndex(where: { $0.id == id }) else { return }
        way.last?.listeners.remove(at: index)
        count -= 1
        for depth in path.segments.indices.reversed() {
            guard way[depth + 1].listeners.isEmpty, way[depth + 1].children.isEmpty else { return }
            way[depth].children[path.segments[depth]] = nil
        }
    }

    /// Calls `body` once with each listener whose subtree a write at `path` may have changed.
    func forEach(affectedBy path: Path, _ body: (Listener) -> Void) {
        var branch = root
        for segment in path.segments {
            branch.listeners.forEach(body)
            guard let next = branch.children[segment] else { return }
            branch = next
        }
        Self.forEach(in: branch, body)
    }

    /// Calls `body` with each listener.
    func forEach(_ body: (Listener) -> Void) { Self.forEach(in: root, body) }

    private static func forEach(in branch: Branch, _ body: (Listener) -> Void) {
        branch.listeners.forEach(body)
        for child in branch.children.values { forEach(in: child, body) }
    }
}
