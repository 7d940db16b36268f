import Tree

/// A key with the positions of its segments.
struct PlaceKey {
    let bytes: [UInt8]
    /// The ends of the keys of all ancestors, from the root on, and of the key itself.
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

    /// The number of segments.
    var depth: Int { ends.count - 1 }

    /// The end of the key of the ancestor with `depth` segments.
    func end(_ depth: Int) -> Int { ends[depth] }

    /// The key of the ancestor with `depth` segments.
    func prefix(_ depth: Int) -> [UInt8] { Array(bytes[..<ends[depth]]) }

    /// The range of the segment that leads from the ancestor with `level` segments to the next one.
    func segment(_ level: Int) -> Range<Int> { ends[level]..<ends[level + 1] }
}
