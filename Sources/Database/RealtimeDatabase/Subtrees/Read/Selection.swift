import Tree

/// The children of a node that a query takes, as ranges of rows in key order.
struct Selection {
    /// Whether the node has children at all.
    var isThere: Bool
    var ranges: [KeyRange]
    /// Whether each range is one child; otherwise there is at most one range, of any number of children.
    var isOfChildren: Bool

    static let none = Selection(isThere: false, ranges: [], isOfChildren: true)

    /// Everything between two positions.
    init(_ range: KeyRange) {
        isThere = true
        ranges = range.isEmpty ? [] : [range]
        isOfChildren = false
    }

    /// Single children, given by their keys in any order.
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
    /// Whether what a query takes of the node at `key` is shown as an array.
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

/// The ends of a query's range in the bytes of an order: a value's encoding, then a child's segment.
struct OrderRange {
    private let query: Query

    init(_ query: Query) { self.query = query }

    /// The range of entries that begin with `prefix`.
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
            // Every key comes after null.
            range.upper = end.value.keyText.map { Self.position($0, parent.bytes, isAfter: end.isInclusive) } ?? range.lower
        }
        return range
    }

    /// The range, in key order, of those children of `parent` that are sorted by null.
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

    /// Before or after the child `key` where segments follow `prefix`.
    private static func position(_ key: String, _ prefix: [UInt8], isAfter: Bool) -> [UInt8] {
        var place = PathKey(bytes: prefix)
        // No key has a control character. One in a bound comes right after the key that stands before it.
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
