/// From `lower` to below `upper`.
struct KeyRange: Sendable, Hashable {
    var lower: [UInt8]
    var upper: [UInt8]

    var isEmpty: Bool { !ByteOrder.precedes(lower, upper) }
}

/// Ranges of keys whose rows count as deleted, however many of them are still there.
///
/// Sorted and apart from each other. No row in one of them is alive: what is written into a range splits it.
struct DeadRanges: Sendable {
    private(set) var ranges: [KeyRange] = []

    var isEmpty: Bool { ranges.isEmpty }

    /// Which range holds `key`.
    func index(covering key: Span<UInt8>) -> Int? {
        let next = count(startingUpTo: key)
        guard next > 0, ByteOrder.precedes(key, ranges[next - 1].upper) else { return nil }
        return next - 1
    }

    func covers(_ key: [UInt8]) -> Bool { !isEmpty && index(covering: key.span) != nil }

    /// Adds a range that comes after all others.
    mutating func append(_ range: KeyRange) { ranges.append(range) }

    /// Puts `pieces` of the range at `index`, in order, in its place.
    mutating func replace(_ index: Int, with pieces: [KeyRange]) {
        ranges.replaceSubrange(index...index, with: pieces)
    }

    /// Adds a range together with those that it touches: which ones these were, and the one that is there now.
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

    /// How many ranges begin at `key` or before.
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
