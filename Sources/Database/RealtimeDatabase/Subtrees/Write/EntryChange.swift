import Store
import Tree

/// The effect of a write above, at or below a child on the child's entry in an index.
struct EntryChange {
    let index: TreeIndex
    /// The number of segments of the sorted node. The child has one more.
    let parentDepth: Int
    /// The previous sort value of the child; nil if it did not exist.
    let old: IndexValue?
    let new: New

    enum New {
        case value(IndexValue)
        /// The value is at or above the deleted place. It stays an object if the node at this depth still exists.
        case objectIfDepthSurvives(Int)
        /// The value is elsewhere or was deleted. It is null if the child still exists.
        case nothing
    }
}

extension TreeWriter {
    /// Determines, before anything is written, which entries of the nodes above a place change.
    func entryChanges(at place: PlaceKey, _ found: Found, _ node: Node) throws(StoreError) -> [EntryChange] {
        guard !state.indexes.isEmpty else { return [] }
        var changes: [EntryChange] = []
        for group in state.indexes.groups {
            let parentDepth = group.segments.count
            guard parentDepth < place.depth, group.matches(place, count: parentDepth) else { continue }
            let child = place.prefix(parentDepth + 1)
            // Whether the child exists; nil if this was not checked yet.
            var childExists: Bool? = found.kind != .nothing ? true : place.depth == parentDepth + 1 ? false : nil
            for index in group.indexes {
                let change = try entryChange(index, parentDepth, at: place, found, node) { () throws(StoreError) in
                    if let childExists { return childExists }
                    let exists = try reader.exists(at: PathKey(bytes: child))
                    childExists = exists
                    return exists
                }
                if let change { changes.append(change) }
            }
        }
        return changes
    }

    private func entryChange(
        _ index: TreeIndex, _ parentDepth: Int, at place: PlaceKey, _ found: Found, _ node: Node,
        childExists: () throws(StoreError) -> Bool
    ) throws(StoreError) -> EntryChange? {
        let child = place.end(parentDepth + 1)
        let wasThere = found.kind != .nothing
        func change(_ old: IndexValue?, _ new: EntryChange.New) -> EntryChange {
            EntryChange(index: index, parentDepth: parentDepth, old: old, new: new)
        }
        switch Relation(of: place.bytes[child...], to: index.path) {
        case .atOrAbove:
            // The value is part of the written node.
            var old: IndexValue?
            if wasThere {
                old = try reader.indexValue(at: PathKey(bytes: place.bytes[..<child] + index.path))
            } else if try childExists() {
                old = .null
            }
            if node.isEmpty { return change(old, .nothing) }
            let rest = index.declaration.path.segments.dropFirst(place.depth - parentDepth - 1)
            return change(old, .value(IndexValue(node.at(Path(Array(rest))))))
        case .below:
            // The written node makes the value an object.
            if wasThere {
                guard node.isEmpty else { return nil }
                return change(.object, .objectIfDepthSurvives(parentDepth + 1 + index.declaration.path.count))
            }
            var old: IndexValue? = try reader.indexValue(at: PathKey(bytes: place.bytes[..<child] + index.path))
            if old == .null, try !childExists() { old = nil }
            return change(old, .value(.object))
        case .apart:
            // The value does not change, unless the child is created or deleted.
            if wasThere { return node.isEmpty ? change(.null, .nothing) : nil }
            return try childExists() ? nil : change(nil, .value(.null))
        }
    }

    /// Writes the changes of entries, when it is known which ancestors still exist.
    ///
    /// - Parameter survivingDepth: the number of segments of the deepest existing node on the path to the place.
    func apply(_ changes: [EntryChange], at place: PlaceKey, survivingDepth: Int) throws(StoreError) {
        for change in changes {
            var new: IndexValue?
            switch change.new {
            case .value(let value): new = value
            case .objectIfDepthSurvives(let depth) where depth <= survivingDepth: new = .object
            case .objectIfDepthSurvives, .nothing: if change.parentDepth + 1 <= survivingDepth { new = .null }
            }
            guard new != change.old else { continue }
            let child = place.prefix(change.parentDepth + 1)
            let parentCount = place.end(change.parentDepth)
            if let old = change.old { try deleteEntry(change.index.id, child, parentCount: parentCount, old) }
            if let new { try putEntry(change.index.id, child, parentCount: parentCount, new) }
        }
    }
}

/// The relation of a place below a child to the place of an index's value.
private enum Relation {
    case atOrAbove
    case below
    case apart

    init(of place: ArraySlice<UInt8>, to path: [UInt8]) {
        if path.starts(with: place) {
            self = .atOrAbove
        } else {
            self = place.starts(with: path) ? .below : .apart
        }
    }
}
