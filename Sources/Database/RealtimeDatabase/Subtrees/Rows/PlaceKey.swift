import Tree

/// A key with the ends of its segments.
struct PlaceKey {
    let bytes: [UInt8]
    /// Where each ancestor's key ends, the root's first, and at last the key's own.
    private let ends: [Int]

    init(_ key: PathKey) {
        let bytes = key.bytes
        var ends = [0]
        ends.reserveCapacity(8)
        var start = 0
        while let end = PathKey.segmentEnd(bytes.span, from: start) {
            ends.append(end)
            start = end
        }
        self.bytes = bytes
        self.ends = ends
    }

    /// How many segments there are.
    var depth: Int { ends.count - 1 }

    /// Where the key of the ancestor with `depth` segments ends.
    func end(_ depth: Int) -> Int { ends[depth] }

    /// The key of the ancestor with `depth` segments.
    func prefix(_ depth: Int) -> [UInt8] { Array(bytes[..<ends[depth]]) }

    /// Where the segment that leads from the ancestor with `level` segments to the next one stands.
    func segment(_ level: Int) -> Range<Int> { ends[level]..<ends[level + 1] }
}
