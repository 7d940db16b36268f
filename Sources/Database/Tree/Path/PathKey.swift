public import HearthBytes
import HearthJSON

/// A path as bytes that sort in tree order: a node, its priority, its children in key order with their descendants, then the next node. The
/// rows of a namespace are sorted by it, so that a subtree is one range.
///
/// A segment is a 32-bit integer (`01`, four big-endian bytes with the sign bit inverted, the tie) or any other key (`02`, its UTF-8 with
/// the lead bytes EE and EF changed to F5 and F6, `01`). The tie is one byte, or `FF` and two bytes for a key with very many leading zeros.
/// No segment is a prefix of another.
public struct PathKey: Sendable, Hashable {
    /// The concatenated segments, each with its terminator.
    public var bytes: [UInt8]

    /// The key of the root: no bytes.
    public static let root = PathKey(bytes: [])

    /// A key with these bytes, which must be valid.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// The key of a path; the same as appending its keys one by one.
    public init(_ path: Path) {
        bytes = []
        var size = 0
        for segment in path.segments { size += segment.utf8.count + 6 }
        bytes.reserveCapacity(size + 1)
        for segment in path.segments { append(segment) }
    }

    /// The path key of the child `key`.
    public func appending(_ key: String) -> PathKey {
        var longer = PathKey(bytes: [])
        longer.bytes.reserveCapacity(bytes.count + key.utf8.count + 7)
        longer.bytes.append(contentsOf: bytes)
        longer.append(key)
        return longer
    }

    /// Appends the segment of the child `key`.
    @inline(__always)
    public mutating func append(_ key: String) {
        var key = key
        key.withUTF8 { Self.append($0, to: &bytes) }
    }

    /// Appends the segment of the child whose key has this UTF-8.
    public mutating func append(_ key: Span<UInt8>) {
        key.withUnsafeBufferPointer { Self.append($0, to: &bytes) }
    }

    /// The first bytes after the node and everything below it.
    public var subtreeEnd: [UInt8] { Self.joined(bytes, 0xFF) }

    /// The row of the node's priority, which comes before every child.
    public var priorityRow: [UInt8] { Self.joined(bytes, PathKey.priorityMark) }

    /// The byte after a node's key in the row of its priority.
    public static let priorityMark: UInt8 = 0x00

    /// Whether `row` belongs to this node or a descendant.
    public func contains(row: Span<UInt8>) -> Bool {
        guard row.count >= bytes.count else { return false }
        for index in bytes.indices where row[index] != bytes[index] { return false }
        return true
    }

    private static func joined(_ bytes: [UInt8], _ last: UInt8) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count + 1) { target, count in
            _ = target.update(fromContentsOf: bytes)
            target[bytes.count] = last
            count = bytes.count + 1
        }
    }
}

extension PathKey: Comparable {
    public static func < (left: PathKey, right: PathKey) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

/// Parsing of segments in a row. Rows are written by this module; a malformed segment counts as none, and nothing is read beyond the row.
extension PathKey {
    static let integerTag: UInt8 = 0x01
    static let textTag: UInt8 = 0x02
    static let terminator: UInt8 = 0x01
    private static let wideTie: UInt8 = 0xFF
    private static let integerSize = 6

    @inline(__always)
    static func append(_ key: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        if let integer = IntegerKey(key) { return append(integer, to: &bytes) }
        bytes.append(textTag)
        let start = bytes.count
        bytes.append(contentsOf: key)
        for index in start..<bytes.count where bytes[index] >= 0xEE { bytes[index] = UTF16Order.lifted(bytes[index]) }
        bytes.append(terminator)
    }

    private static func append(_ key: IntegerKey, to bytes: inout [UInt8]) {
        bytes.append(integerTag)
        let biased = UInt32(bitPattern: key.value) ^ 0x8000_0000
        for shift in stride(from: UInt32(24), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: biased >> shift)) }
        if key.tie < Int(wideTie) {
            bytes.append(UInt8(truncatingIfNeeded: key.tie))
        } else {
            bytes.append(wideTie)
            bytes.append(UInt8(truncatingIfNeeded: key.tie >> 8))
            bytes.append(UInt8(truncatingIfNeeded: key.tie))
        }
    }

    /// The end of the segment that begins at `start`; nil if there is none: a priority's mark, or the end of the row.
    public static func segmentEnd(_ row: Span<UInt8>, from start: Int) -> Int? {
        guard start < row.count else { return nil }
        switch row[start] {
        case integerTag:
            guard start + integerSize <= row.count else { return nil }
            let end = start + integerSize + (row[start + integerSize - 1] == wideTie ? 2 : 0)
            return end <= row.count ? end : nil
        case textTag:
            var index = start + 1
            while index < row.count {
                if row[index] == terminator { return index + 1 }
                index += 1
            }
            return nil
        default:
            return nil
        }
    }

    /// Decodes the segment at `range`, as `segmentEnd` found it.
    public static func decodeSegment(_ row: Span<UInt8>, _ range: Range<Int>) -> String {
        if let integer = integer(row, range) {
            return String(unsafeUninitializedCapacity: integer.length) { write(integer, to: $0) }
        }
        let count = range.count - 2
        guard count > 0 else { return "" }
        return String(unsafeUninitializedCapacity: count) { target in
            for index in 0..<count { target[index] = UTF16Order.lowered(row[range.lowerBound + 1 + index]) }
            return count
        }
    }

    /// Appends the key of the segment at `range` verbatim, without quotes or escapes.
    public static func appendSegmentText(_ row: Span<UInt8>, _ range: Range<Int>, into buffer: inout ByteBuffer) {
        let integer = integer(row, range)
        let count = integer?.length ?? range.count - 2
        guard count > 0 else { return }
        buffer.appendUninitialized(minimum: count) { room in
            let target = room.bindMemory(to: UInt8.self)
            if let integer { return write(integer, to: target) }
            for index in 0..<count { target[index] = UTF16Order.lowered(row[range.lowerBound + 1 + index]) }
            return count
        }
    }

    /// Appends the key of the segment at `range` as a JSON string.
    public static func appendSegmentJSON(_ row: Span<UInt8>, _ range: Range<Int>, into buffer: inout ByteBuffer) {
        for index in range.lowerBound + 1..<max(range.upperBound - 1, range.lowerBound + 1) {
            let byte = row[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                if row[range.lowerBound] == textTag { return buffer.append(jsonString: decodeSegment(row, range)) }
            }
        }
        buffer.append(UInt8(ascii: "\""))
        appendSegmentText(row, range, into: &buffer)
        buffer.append(UInt8(ascii: "\""))
    }

    /// The array index of the segment at `range`; nil unless it is a non-negative integer in its shortest form.
    public static func arrayIndex(_ row: Span<UInt8>, _ range: Range<Int>) -> Int? {
        integer(row, range)?.arrayIndex
    }

    /// Whether the segment at `range` is that of an integer.
    public static func isInteger(_ row: Span<UInt8>, _ range: Range<Int>) -> Bool { row[range.lowerBound] == integerTag }

    /// The path that `row` begins with; a priority's mark ends it.
    public static func path(of row: Span<UInt8>) -> Path {
        var segments: [String] = []
        var start = 0
        while let end = segmentEnd(row, from: start) {
            segments.append(decodeSegment(row, start..<end))
            start = end
        }
        return Path(segments)
    }

    private static func integer(_ row: Span<UInt8>, _ range: Range<Int>) -> IntegerKey? {
        let start = range.lowerBound
        guard row[start] == integerTag else { return nil }
        var biased: UInt32 = 0
        for index in start + 1..<start + 5 { biased = biased << 8 | UInt32(row[index]) }
        var tie = Int(row[start + 5])
        if tie == Int(wideTie) { tie = Int(row[start + 6]) << 8 | Int(row[start + 7]) }
        return IntegerKey(value: Int32(bitPattern: biased ^ 0x8000_0000), tie: tie)
    }

    private static func write(_ integer: IntegerKey, to target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var count = 0
        integer.forEachByte { byte in
            guard count < integer.length else { return }
            target[count] = byte
            count += 1
        }
        return count
    }
}
