import HearthBytes
import FuzzSupport
import Testing
import Tree

@Suite struct PathKeyTests {
    @Test(arguments: [
        ("1", [1, 0x80, 0, 0, 1, 2]), ("-1", [1, 0x7F, 0xFF, 0xFF, 0xFF, 4]), ("01", [1, 0x80, 0, 0, 1, 4]), ("0", [1, 0x80, 0, 0, 0, 2]),
        ("-0", [1, 0x80, 0, 0, 0, 5]), ("a", [2, 0x61, 1]), ("😀", [2, 0xF0, 0x9F, 0x98, 0x80, 1]), ("\u{FFFD}", [2, 0xF6, 0xBF, 0xBD, 1]),
        ("\u{E000}", [2, 0xF5, 0x80, 0x80, 1]),
    ] as [(String, [UInt8])])
    func segmentsHaveTheseBytes(_ key: String, _ bytes: [UInt8]) {
        #expect(Path([key]).key.bytes == bytes)
    }

    @Test func pathsComeBackFromTheirRows() {
        var samples = Samples(random: SeededRandom(seed: 2))
        for round in 0..<2000 {
            let path = samples.path(count: round % 6)
            let key = path.key
            #expect(PathKey.path(of: key.bytes.span) == path)
            #expect(PathKey.path(of: key.priorityRow.span) == path)
            var start = 0
            var buffer = ByteBuffer()
            var grown = PathKey.root
            for segment in path.segments {
                guard let end = PathKey.segmentEnd(key.bytes.span, from: start) else {
                    Issue.record("no segment at \(start) of \(path)")
                    break
                }
                #expect(KeyOrder.areEqual(PathKey.decodeSegment(key.bytes.span, start..<end), segment))
                buffer.clear()
                PathKey.appendSegmentText(key.bytes.span, start..<end, into: &buffer)
                #expect(buffer.array() == Array(segment.utf8))
                buffer.clear()
                PathKey.appendSegmentJSON(key.bytes.span, start..<end, into: &buffer)
                #expect(buffer.array() == Node(.string(segment)).serialized())
                #expect(PathKey.arrayIndex(key.bytes.span, start..<end) == ArrayShape.index(segment))
                grown.append(Array(segment.utf8).span)
                start = end
            }
            #expect(start == key.bytes.count && grown == key)
            #expect(PathKey.segmentEnd(key.bytes.span, from: start) == nil)
            #expect(PathKey.segmentEnd(key.priorityRow.span, from: start) == nil)
        }
    }

    @Test func rowsAreInTheOrderOfTheTree() {
        var samples = Samples(random: SeededRandom(seed: 3))
        for _ in 0..<3000 {
            let shared = samples.path(count: samples.random.below(3))
            let left = shared.appending(samples.path(count: samples.random.below(3)))
            let right = shared.appending(samples.path(count: samples.random.below(3)))
            #expect((left < right) == (left.key < right.key), "\(left) \(right)")
            #expect((left == right) == (left.key == right.key), "\(left) \(right)")
            let isBelow = left.contains(right)
            #expect(left.key.contains(row: right.key.bytes.span) == isBelow)
            let range = PathKey(bytes: left.key.subtreeEnd)
            #expect((left.key <= right.key && right.key < range) == isBelow)
            if isBelow, left != right { #expect(PathKey(bytes: left.key.priorityRow) < right.key) }
        }
    }

    @Test(arguments: [("0", 0), ("7", 7), ("10", 10), ("2147483647", 2_147_483_647), ("01", nil), ("-1", nil), ("-0", nil), ("a", nil),
    ("2147483648", nil)] as [(String, Int?)])
    func indicesAreNumbersInTheirShortestForm(_ key: String, _ index: Int?) {
        #expect(ArrayShape.index(key) == index)
    }

    @Test func brokenRowsHaveNoSegments() {
        for row: [UInt8] in [[], [0], [1], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0xFF], [1, 2, 3, 4, 5, 0xFF, 0], [2], [2, 0x61], [3, 1], [0xFF]] {
            #expect(PathKey.segmentEnd(row.span, from: 0) == nil)
            #expect(PathKey.path(of: row.span).isRoot)
        }
    }
}
