import Store
import Tree

/// The children of a node that a query selects, as ranges of rows in the order of keys.
struct Selection {
    /// Whether the node has any children.
    var isThere: Bool
    var ranges: [KeyRange]
    /// Whether each range is a single child. Otherwise there is at most one range, with any number of children.
    var isOfChildren: Bool

    static let none = Selection(isThere: false, ranges: [], isOfChildren: true)

    /// Selects all children between two positions.
    init(_ range: KeyRange) {
        isThere = true
        ranges = range.isEmpty ? [] : [range]
        isOfChildren = false
    }

    /// Selects single children by their keys, in any order.
    init(children: [[UInt8]]) {
        self.init(
            isThere: true, ranges: children.sorted { ByteOrder.precedes($0, $1) }.map { KeyRange(lower: $0, upper: $0 + [0xFF]) },
            isOfChildren: true)
    }

    private init(isThere: Bool, ranges: [KeyRange], isOfChildren: Bool) {
        self.isThere = isThere
        self.ranges = ranges
        self.isOfChildren = isOfChildren
    }
}

extension TreeReader {
    /// Whether the selected part of the node at `key` is an array in JSON.
    func isArray(_ selection: Selection, of key: PathKey) throws(StoreError) -> Bool {
        let start = key.bytes.count
        guard let range = selection.ranges.first else { return false }
        if selection.isOfChildren {
            var greatest: Int?
            for range in selection.ranges {
                greatest = PathKey.arrayIndex(range.lower.span, start..<range.lower.count)
                if greatest == nil { return false }
            }
            return greatest.map { ArrayShape.isDense(greatest: $0, count: selection.ranges.count) } ?? false
        }
        var first: Int?
        try scan(.tree, from: range.lower, to: range.upper) { row, _ in
            if let end = PathKey.segmentEnd(row, from: start) { first = PathKey.arrayIndex(row, start..<end) }
            return .stop
        }
        guard let first else { return false }
        return try isArray(parent: key.bytes, children: range, first: first)
    }
}

/// The bounds of a query in the encoding of an order: the value, then the child's segment.
struct OrderRange {
    private let query: Query

    init(_ query: Query) { self.query = query }

    /// The range of the entries that begin with `prefix`.
    func entries(_ prefix: [UInt8]) -> KeyRange {
        KeyRange(
            lower: query.start.map { position($0, prefix, isStart: true) } ?? prefix,
            upper: query.end.map { position($0, prefix, isStart: false) } ?? prefix + [IndexEntry.end])
    }

    /// The range of the children of `parent` in key order.
    func keys(of parent: PathKey) -> KeyRange {
        var range = KeyRange(lower: parent.firstChild, upper: parent.subtreeEnd)
        if let start = query.start, let text = start.value.keyText {
            range.lower = Self.position(text, parent.bytes, isAfter: !start.isInclusive)
        }
        if let end = query.end {
            // All keys sort after null.
            range.upper = end.value.keyText.map { Self.position($0, parent.bytes, isAfter: end.isInclusive) } ?? range.lower
        }
        return range
    }

    /// The range of the children of `parent` whose sort value is null, in the order of keys.
    func nulls(of parent: PathKey) -> KeyRange {
        let all = KeyRange(lower: parent.firstChild, upper: parent.subtreeEnd)
        var range = all
        if let start = query.start {
            switch start.key {
            case _ where start.value != .null: range.lower = all.upper
            case .min: break
            case .max: range.lower = all.upper
            case .key(let key): range.lower = Self.position(key, parent.bytes, isAfter: !start.isInclusive)
            }
        }
        if let end = query.end, end.value == .null {
            switch end.key {
            case .min: range.upper = all.lower
            case .max: break
            case .key(let key): range.upper = Self.position(key, parent.bytes, isAfter: end.isInclusive)
            }
        }
        return range
    }

    private func position(_ bound: Query.Bound, _ prefix: [UInt8], isStart: Bool) -> [UInt8] {
        var bytes = prefix
        bound.value.encode(into: &bytes)
        switch bound.key {
        case .min: return bytes
        case .max: return bytes + [IndexEntry.end]
        case .key(let key): return Self.position(key, bytes, isAfter: bound.isInclusive != isStart)
        }
    }

    /// The position before or after the child `key`, after `prefix`.
    private static func position(_ key: String, _ prefix: [UInt8], isAfter: Bool) -> [UInt8] {
        var place = PathKey(bytes: prefix)
        // Keys contain no control characters. A bound that contains one sorts immediately after the key before that character.
        if let control = key.utf8.firstIndex(where: { $0 < 0x20 }) {
            place.append(String(key.utf8[..<control]).map { $0 + "\u{1}" } ?? "\u{1}")
            place.bytes[place.bytes.count - 1] = IndexEntry.end
        } else {
            place.append(key)
            if isAfter { place.bytes.append(IndexEntry.end) }
        }
        return place.bytes
    }
}
