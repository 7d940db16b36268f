import HearthBytes
public import Rules
public import Store
import Tree

extension TreeWriter {
    /// Changes the declared indexes. Only these are maintained from now on.
    ///
    /// A new index is maintained for writes immediately, and built for existing data by `buildIndexes`. Until then, queries read all children.
    /// The entries of removed indexes are swept.
    public func declareIndexes(_ declarations: [IndexDeclaration]) throws(StoreError) {
        let wanted = Set(declarations.map(\.normalized))
        let known = Set(state.indexes.indexes.map(\.declaration))
        let old = state.indexes.indexes.filter { !wanted.contains($0.declaration) }
        let new = wanted.subtracting(known).sorted { $0.record.lexicographicallyPrecedes($1.record) }
        guard !old.isEmpty || !new.isEmpty else { return }
        for index in old {
            state.indexes.remove(index.id)
            try store.delete(StateKey.index(index.id).bytes, in: .meta)
            try declareDead(IndexEntry.all(index.id), in: .index)
        }
        for declaration in new {
            state.indexes.lastID += 1
            let index = TreeIndex(id: state.indexes.lastID, declaration: declaration)
            state.indexes.add(index)
            try store.put(StateKey.index(index.id).bytes, index.record.span, in: .meta)
        }
        try store.put(StateKey.indexCount.bytes, StateKey.bytes(UInt64(state.indexes.lastID)).span, in: .meta)
        state.indexes.group()
        try didChangeState()
    }

    /// Adds entries of existing children to new indexes. Reads about `budget` children. Returns whether there are more.
    public func buildIndexes(budget: Int) throws(StoreError) -> Bool {
        guard let index = state.indexes.indexes.first(where: { !$0.isReady }) else { return false }
        let (children, cursor) = try childrenToBuild(index, budget: max(budget, 1))
        for child in children {
            let value = try reader.indexValue(at: PathKey(bytes: child.key + index.path))
            try putEntry(index.id, child.key, parentCount: child.parentCount, value)
        }
        state.indexes.setCursor(cursor, of: index.id)
        state.indexes.group()
        var built = index
        built.cursor = cursor
        try store.put(StateKey.index(index.id).bytes, built.record.span, in: .meta)
        if cursor == nil { try didChangeState() }
        return state.indexes.indexes.contains { !$0.isReady }
    }

    /// The next children of nodes that match the index, and the position at which to continue; nil at the end.
    ///
    /// Skips rows that do not match the pattern. Continues before or after a child, never inside: the entries of an unwritten child are
    /// expected to exist.
    private func childrenToBuild(
        _ index: TreeIndex, budget: Int
    ) throws(StoreError) -> (children: [(key: [UInt8], parentCount: Int)], cursor: [UInt8]?) {
        guard let group = state.indexes.groups.first(where: { $0.pattern == index.declaration.pattern }) else { return ([], nil) }
        var children: [(key: [UInt8], parentCount: Int)] = []
        var left = budget
        var cursor: [UInt8]?
        try reader.scan(.tree, from: index.cursor ?? [], to: []) { row, _ in
            let target: [UInt8]?
            switch group.step(row) {
            case .tooShort: target = row.array() + [0]
            case .elsewhere(let next): target = next
            case .child(let end, let parentCount):
                let child = row.extracting(first: end).array()
                children.append((child, parentCount))
                target = child + [0xFF]
            }
            guard let target else { return .stop }
            left -= 1
            if left > 0 { return .seek(target) }
            cursor = target
            return .stop
        }
        return (children, cursor)
    }
}

extension IndexTable.Group {
    fileprivate enum Step {
        /// The row belongs to a node above those that the pattern matches.
        case tooShort
        /// The row belongs to a sorted child, whose key ends here.
        case child(end: Int, parentCount: Int)
        /// The next position that can match; nil if there is none.
        case elsewhere([UInt8]?)
    }

    /// Compares a row with the pattern.
    fileprivate func step(_ row: Span<UInt8>) -> Step {
        var start = 0
        for segment in segments {
            guard let end = PathKey.segmentEnd(row, from: start) else { return .tooShort }
            if !segment.isEmpty {
                let order = ByteOrder.compare(row.extracting(start..<end), segment.span)
                let above = row.extracting(first: start).array()
                if order < 0 { return .elsewhere(above + segment) }
                if order > 0 { return .elsewhere(start == 0 ? nil : above + [0xFF]) }
            }
            start = end
        }
        guard let end = PathKey.segmentEnd(row, from: start) else { return .tooShort }
        return .child(end: end, parentCount: start)
    }
}
