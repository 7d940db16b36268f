import HearthBytes

/// Examines stored lines without parsing them. The members about a line's origin precede its message in a fixed order, and no
/// JSON text can contain the bytes that begin the next member.
package enum LogScan {
    private static let opening: StaticString = "{\"id\":"
    /// The number of digits of an id: microseconds since 1970, for times between 2001 and 2286.
    private static let idSize = 16

    /// The id of a line; nil for an invalid line, such as an incomplete one.
    package static func id(_ line: Span<UInt8>) -> Int64? {
        let start = opening.utf8CodeUnitCount
        guard line.count > start + idSize + 2, line.extracting(0..<start).equals(opening), line[line.count - 1] == UInt8(ascii: "}"),
            line[start + idSize] == UInt8(ascii: ",")
        else { return nil }
        var id: Int64 = 0
        for index in start..<start + idSize {
            guard line[index] &- 0x30 < 10 else { return nil }
            id = id * 10 + Int64(line[index] &- 0x30)
        }
        return id
    }

    /// The id of the first line; nil if there is none.
    static func firstID(_ bytes: Span<UInt8>) -> Int64? {
        var end = 0
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        return end < bytes.count ? id(bytes.extracting(0..<end)) : nil
    }

    /// The bytes at which the head of a line ends and its message begins.
    static func headEnd(_ line: Span<UInt8>) -> Int { find(",\"message\":", in: line, 0..<line.count) ?? line.count }

    /// The unparsed text of a member in the head of a line; nil if it is absent.
    static func text(_ name: StaticString, in line: Span<UInt8>, headEnd: Int) -> Range<Int>? {
        guard let place = find(name, in: line, 0..<headEnd) else { return nil }
        let start = place + name.utf8CodeUnitCount
        var end = start
        while end < headEnd, line[end] != UInt8(ascii: "\"") { end += line[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return end < headEnd ? start..<end : nil
    }

    private static func find(_ text: StaticString, in line: Span<UInt8>, _ range: Range<Int>) -> Int? {
        let size = text.utf8CodeUnitCount
        guard range.count >= size else { return nil }
        for start in range.lowerBound...range.upperBound - size where line[start] == text.utf8Start[0] {
            var length = 1
            while length < size, line[start + length] == text.utf8Start[length] { length += 1 }
            if length == size { return start }
        }
        return nil
    }

    /// Calls `body` with each line, without its end.
    static func forEachLine(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        forEachRange(bytes) { body(bytes.extracting($0)) }
    }

    /// Calls `body` with the range of each line, without its end.
    package static func forEachRange(_ bytes: Span<UInt8>, _ body: (Range<Int>) -> Void) {
        var start = 0
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\n") {
            if index > start { body(start..<index) }
            start = index + 1
        }
    }
}
