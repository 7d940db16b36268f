public import Store

extension TreeWriter {
    /// Deletes all rows of a range: immediately if there are few, and by declaring the range dead if there are many.
    ///
    /// - Parameter newRows: the number of rows that will be written there. Deleting four times as many is not much more work.
    func deleteAll(_ range: KeyRange, in space: Keyspace, newRows: Int) throws(StoreError) {
        let (inPlace, overflows) = newRows.multipliedReportingOverflow(by: 4)
        let countMax = max(limits.deletedRowsMax, overflows ? .max : inPlace)
        var count = 0
        try store.scan(space, from: range.lower, to: range.upper, reversed: false) { _, _ in
            count += 1
            return count > countMax ? .stop : .next
        }
        if count > countMax {
            try declareDead(range, in: space)
        } else if count > 0 {
            try store.deleteRange(range.lower, range.upper, in: space, limit: nil)
        }
    }

    func declareDead(_ range: KeyRange, in space: Keyspace) throws(StoreError) {
        let (replaced, merged) = change(space) { $0.insert(range) }
        for old in replaced where old.lower != merged.lower { try store.delete(key(of: old, space), in: .meta) }
        try store.put(key(of: merged, space), merged.upper.span, in: .meta)
        try didChangeState()
    }

    /// Splits the dead range that contains a new live row, if there is one.
    func revive(_ key: [UInt8], in space: Keyspace) throws(StoreError) {
        guard let index = state.dead(in: space).index(covering: key.span) else { return }
        let range = state.dead(in: space).ranges[index]
        var pieces: [KeyRange] = []
        for piece in [KeyRange(lower: range.lower, upper: key), KeyRange(lower: key + [0], upper: range.upper)] where !piece.isEmpty {
            let cleared = try store.deleteRange(piece.lower, piece.upper, in: space, limit: limits.clearedRows)
            if cleared == limits.clearedRows { pieces.append(piece) }
        }
        if pieces.first?.lower != range.lower { try store.delete(self.key(of: range, space), in: .meta) }
        for piece in pieces { try store.put(self.key(of: piece, space), piece.upper.span, in: .meta) }
        change(space) { $0.replace(index, with: pieces) }
        // The row itself may be an old one. It will be written, and is not read before.
        try didChangeState()
        if state.dead(in: space).ranges.count > limits.deadRangesMax { _ = try sweep(budget: limits.sweptRows) }
    }

    /// Removes up to `budget` dead rows. Returns whether there are more.
    public func sweep(budget: Int) throws(StoreError) -> Bool {
        var left = budget
        for space in [Keyspace.tree, .index] {
            while let range = state.dead(in: space).ranges.first {
                guard left > 0 else { return true }
                let count = try store.deleteRange(range.lower, range.upper, in: space, limit: left)
                guard count < left else { return true }
                // An empty range counts too, because there may be many.
                left -= count + 1
                try store.delete(key(of: range, space), in: .meta)
                change(space) { $0.replace(0, with: []) }
                try didChangeState()
            }
        }
        return false
    }

    /// Stores a new version of the state. To be called after each change that readers must notice.
    func didChangeState() throws(StoreError) {
        state.version += 1
        try store.put(StateKey.version.bytes, StateKey.bytes(state.version).span, in: .meta)
    }

    private func key(of range: KeyRange, _ space: Keyspace) -> [UInt8] { StateKey.deadRange(space, lower: range.lower).bytes }

    @discardableResult
    private func change<R>(_ space: Keyspace, _ body: (inout DeadRanges) -> R) -> R {
        space == .tree ? body(&state.deadRows) : body(&state.deadEntries)
    }
}
