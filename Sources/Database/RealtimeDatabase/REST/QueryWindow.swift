import HearthBytes
import Tree

/// The children that a query shows at a time, for telling only what changes of them.
struct QueryWindow {
    private(set) var node = Node.empty

    /// Shows `next` from now on.
    ///
    /// - Returns: the frames for the children that left, came or changed; those that left come first, so that a reader never
    ///   has more than the query's limit.
    mutating func move(to next: Node, form: JSONForm) -> [UInt8] {
        let before = node
        node = next
        var frames = ByteBuffer()
        guard !next.isEmpty else {
            if !before.isEmpty { EventFrames.append(put: .empty, at: .root, form: form, to: &frames) }
            return frames.array()
        }
        for child in before.children where next.child(child.key).isEmpty {
            EventFrames.append(put: .empty, at: Path([child.key]), form: form, to: &frames)
        }
        for child in next.children {
            let old = before.child(child.key)
            if Self.differ(old, child.node, form) { EventFrames.append(put: child.node, at: Path([child.key]), form: form, to: &frames) }
        }
        return frames.array()
    }

    /// Priorities are seen in one form only.
    private static func differ(_ old: Node, _ new: Node, _ form: JSONForm) -> Bool {
        old != new && (form == .export || old.serialized(form: .value) != new.serialized(form: .value))
    }
}
