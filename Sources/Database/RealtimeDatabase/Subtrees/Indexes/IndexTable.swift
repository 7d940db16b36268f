import Rules
import Tree

/// The indexes of a namespace, grouped by pattern.
struct IndexTable: Sendable {
    /// The indexes of one pattern.
    struct Group: Sendable {
        let pattern: [String]
        /// The keys of the pattern in their encoding in rows; empty for a wildcard.
        let segments: [[UInt8]]
        var indexes: [TreeIndex]
    }

    private(set) var indexes: [TreeIndex] = []
    private(set) var groups: [Group] = []
    /// The greatest id that was ever used.
    var lastID: UInt32 = TreeIndex.priorities

    var isEmpty: Bool { indexes.isEmpty }

    mutating func add(_ index: TreeIndex) { indexes.append(index) }

    mutating func remove(_ id: UInt32) { indexes.removeAll { $0.id == id } }

    mutating func setCursor(_ cursor: [UInt8]?, of id: UInt32) {
        guard let position = indexes.firstIndex(where: { $0.id == id }) else { return }
        indexes[position].cursor = cursor
    }

    /// Groups the indexes. To be called after they have changed.
    mutating func group() {
        groups = []
        for index in indexes {
            if let position = groups.firstIndex(where: { $0.pattern == index.declaration.pattern }) {
                groups[position].indexes.append(index)
            } else {
                let segments = index.declaration.pattern.map { name in
                    IndexDeclaration.isWildcard(name) ? [] : PathKey.root.appending(name).bytes
                }
                groups.append(Group(pattern: index.declaration.pattern, segments: segments, indexes: [index]))
            }
        }
    }

    /// The complete index that sorts the children of `key` by the value at `path` in them.
    func ready(at key: PlaceKey, path: [UInt8]) -> TreeIndex? {
        for group in groups where group.segments.count == key.depth && group.matches(key, count: key.depth) {
            if let index = group.indexes.first(where: { $0.isReady && $0.path == path }) { return index }
        }
        return nil
    }
}

extension IndexTable.Group {
    /// Whether the first `count` keys of `key` match the pattern.
    func matches(_ key: PlaceKey, count: Int) -> Bool {
        for level in 0..<count where !segments[level].isEmpty {
            let range = key.segment(level)
            guard range.count == segments[level].count, key.bytes[range].elementsEqual(segments[level]) else { return false }
        }
        return true
    }
}
