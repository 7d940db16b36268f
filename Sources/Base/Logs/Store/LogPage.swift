import HearthBytes

/// A part of the stored lines, oldest first, in their stored form.
package struct LogPage: Sendable {
    /// Complete lines.
    package var lines: [UInt8] = []
    /// The id up to which all lines were examined.
    package var through: Int64 = 0
    /// Whether there may be more lines after ``through``.
    package var hasMore = false

    /// The most bytes of a page, unless it consists of a single line.
    static let bytesMax = 4 << 20

    /// An empty page.
    package init() {}

    // MARK: Reading: blocks, so never on a loop

    /// The newest matching lines, up to the requested count and the size of a page.
    ///
    /// - Parameter end: the last id that is examined.
    package static func newest(in segments: [LogSegment], _ filter: LogFilter, limit: Int, through end: Int64 = .max) -> LogPage {
        var page = LogPage()
        var pieces: [[UInt8]] = []
        var count = 0
        var size = 0
        for segment in segments.reversed() {
            guard let bytes = segment.read() else { continue }
            var matches: [Range<Int>] = []
            LogScan.forEachRange(bytes.span) { range in
                let line = bytes.span.extracting(range)
                guard let id = LogScan.id(line), id <= end else { return }
                page.through = max(page.through, id)
                if filter.matches(line, id: id) { matches.append(range) }
            }
            var piece: [UInt8] = []
            var first = matches.count
            while first > 0, count < limit, count == 0 || size + matches[first - 1].count < bytesMax {
                first -= 1
                count += 1
                size += matches[first].count + 1
            }
            for range in matches[first...] { piece += bytes[range.lowerBound...range.upperBound] }
            pieces.append(piece)
            if first > 0 || count >= limit || segment.firstID < filter.since { break }
        }
        page.lines = Array(pieces.reversed().joined())
        return page
    }

    /// The matching lines with an id above `after`, oldest first.
    package static func following(_ after: Int64, in segments: [LogSegment], _ filter: LogFilter, limit: Int) -> LogPage {
        var page = LogPage()
        page.through = after
        var count = 0
        let from = max(after, filter.since - 1)
        for (index, segment) in segments.enumerated() {
            // All lines of the segment are older.
            if index + 1 < segments.count, segments[index + 1].firstID <= from { continue }
            guard let bytes = segment.read() else { continue }
            LogScan.forEachRange(bytes.span) { range in
                let line = bytes.span.extracting(range)
                guard !page.hasMore, let id = LogScan.id(line), id > after else { return }
                if filter.matches(line, id: id) {
                    guard count < limit, count == 0 || page.lines.count + range.count < bytesMax else { return page.hasMore = true }
                    count += 1
                    page.lines += bytes[range.lowerBound...range.upperBound]
                }
                page.through = id
            }
            if page.hasMore { break }
        }
        return page
    }
}
