/// From `lower` to below `upper`.
struct KeyRange: Sendable, Hashable {
    var lower: [UInt8]
    var upper: [UInt8]

    var isEmpty: Bool { !ByteOrder.precedes(lower, upper) }
}

/// Ranges of keys whose rows count as deleted, although some of them may still exist.
///
/// The ranges are sorted, and do not overlap or touch. They contain no live rows: writing into a range splits it.
struct DeadRanges: Sendable {
    private(set) var ranges: [KeyRange] = []

    var isEmpty: Bool { ranges.isEmpty }

    /// The index of the range that contains `key`.
    func index(covering key: Span<UInt8>) -> Int? {
        let next = count(startingUpTo: key)
        guard next > 0, ByteOrder.precedes(key, ranges[next - 1].upper) else { return nil }
        return next - 1
    }

    func covers(_ key: [UInt8]) -> Bool { !isEmpty && index(covering: key.span) != nil }

    /// Adds a range that comes after all others.
    mutating func append(_ range: KeyRange) { ranges.append(range) }

    /// Replaces the range at `index` by parts of it, which are sorted.
    mutating func replace(_ index: Int, with pieces: [KeyRange]) {
        ranges.replaceSubrange(index...index, with: pieces)
    }

    /// Adds a range, and merges it with all ranges that it touches. Returns these ranges, and the result.
    mutating func insert(_ range: KeyRange) -> (replaced: [KeyRange], merged: KeyRange) {
        var merged = range
        let lower = range.lower
        var first = count(startingUpTo: lower.span)
        if first > 0, !ByteOrder.precedes(ranges[first - 1].upper, range.lower) { first -= 1 }
        var end = first
        while end < ranges.count, !ByteOrder.precedes(range.upper, ranges[end].lower) { end += 1 }
        if first < end {
            if ByteOrder.precedes(ranges[first].lower, merged.lower) { merged.lower = ranges[first].lower }
            if ByteOrder.precedes(merged.upper, ranges[end - 1].upper) { merged.upper = ranges[end - 1].upper }
        }
        let replaced = Array(ranges[first..<end])
        ranges.replaceSubrange(first..<end, with: CollectionOfOne(merged))
        return (replaced, merged)
    }

    /// The number of ranges that begin at or before `key`.
    private func count(startingUpTo key: Span<UInt8>) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ByteOrder.precedes(key, ranges[middle].lower) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension ByteOrder {
    @inline(__always)
    static func precedes(_ a: Span<UInt8>, _ b: [UInt8]) -> Bool { compare(a, b.span) < 0 }
}
