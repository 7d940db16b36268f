import HearthBytes
import Tree

/// The current children in the result of a query, for sending only the changes.
struct QueryWindow {
    private(set) var node = Node.empty

    /// Replaces the children by `next`.
    ///
    /// - Returns: the frames for removed, added and changed children. Removed ones come first, so that a client never has more children than
    ///   the query's limit.
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

    /// Whether two nodes differ. Only one of the forms contains priorities.
    private static func differ(_ old: Node, _ new: Node, _ form: JSONForm) -> Bool {
        old != new && (form == .export || old.serialized(form: .value) != new.serialized(form: .value))
    }
}
