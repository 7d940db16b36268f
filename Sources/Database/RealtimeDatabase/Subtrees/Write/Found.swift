import Store
import Tree

/// The previous contents of a place.
struct Found {
    enum Kind {
        case nothing
        case leaf
        case children
    }

    var kind = Kind.nothing
    var priority: Priority?
}

extension TreeWriter {
    /// Reads the first rows of a place, two at most.
    func find(_ place: PlaceKey) throws(StoreError) -> Found {
        var found = Found()
        let count = place.bytes.count
        try reader.scan(.tree, from: place.bytes, to: place.bytes + [0xFF]) { row, value in
            if row.count == count {
                found.kind = .leaf
                // Only the priority can follow a leaf.
                return state.hasPriorities ? .next : .stop
            }
            if row.count == count + 1, row[count] == PathKey.priorityMark {
                found.priority = Priority(json: value)
                if found.kind == .nothing { found.kind = .children }
            } else {
                found.kind = .children
            }
            return .stop
        }
        return found
    }
}
