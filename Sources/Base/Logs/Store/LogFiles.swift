import Glibc
import HearthBytes

/// The files of the store, used by its writing thread only: one segment after another. The oldest are removed when the total is too
/// large or too old.
package struct LogFiles: ~Copyable {
    package struct Limits: Sendable {
        var bytesMax: Int
        var ageSeconds: Double

        package init(bytesMax: Int = 64 << 20, ageSeconds: Double = 14 * 86400) {
            self.bytesMax = bytesMax
            self.ageSeconds = ageSeconds
        }
    }

    private let directory: String
    private let limits: Limits
    /// The complete segments with their sizes, oldest first.
    private var older: [(segment: LogSegment, size: Int)] = []
    private var descriptor: Int32 = -1
    private var current: LogSegment?
    private var currentSize = 0
    /// The reason why the last batch was not completely written; nil if it was.
    private(set) var failure: String?

    private var segmentBytesMax: Int { max(16 << 10, min(limits.bytesMax / 8, 4 << 20)) }

    init(directory: String, limits: Limits) {
        self.directory = directory
        self.limits = limits
        older = LogSegment.all(in: directory).map { ($0, $0.sizeBytes) }
        continueLast()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var sizeBytes: Int { older.reduce(currentSize) { $0 + $1.size } }

    /// The id of the last stored line; 0 if there is none.
    static func lastID(in directory: String) -> Int64 {
        for segment in LogSegment.all(in: directory).reversed() {
            let bytes = segment.read(from: max(0, segment.sizeBytes - (256 << 10))) ?? []
            var last: Int64 = 0
            LogScan.forEachLine(bytes.span) { last = max(last, LogScan.id($0) ?? 0) }
            return max(last, segment.firstID)
        }
        return 0
    }

    /// Continues the newest segment. An incomplete line at its end gets a line end, so that readers skip it.
    private mutating func continueLast() {
        guard let last = older.last, last.size < segmentBytesMax else { return }
        descriptor = open(last.segment.path, O_RDWR | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        older.removeLast()
        (current, currentSize) = (last.segment, last.size)
        var byte = UInt8(ascii: "\n")
        if currentSize > 0, pread(descriptor, &byte, 1, off_t(currentSize - 1)) == 1, byte != UInt8(ascii: "\n") {
            var end = UInt8(ascii: "\n")
            if Glibc.write(descriptor, &end, 1) == 1 { currentSize += 1 }
        }
    }

    /// Appends complete lines.
    ///
    /// - Returns: the number of stored bytes: all, or those of the lines that could be written.
    mutating func append(_ lines: Span<UInt8>) -> Int {
        var kept = 0
        while kept < lines.count {
            // A large batch is divided into several segments, because the store is bounded by removing whole segments.
            let most = lines.extracting(kept..<min(lines.count, kept + segmentBytesMax))
            let fitting = most.count == lines.count - kept ? most.count : Self.wholeLines(most)
            let piece = lines.extracting(kept..<kept + (fitting > 0 ? fitting : Self.lineLength(lines.extracting(kept..<lines.count))))
            guard let firstID = LogScan.firstID(piece) else { return kept }
            let taken = append(piece, firstID: firstID)
            kept += taken
            if taken < piece.count { break }
        }
        return kept
    }

    /// The length of the first line with its end.
    private static func lineLength(_ bytes: Span<UInt8>) -> Int {
        var end = 0
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        return min(end + 1, bytes.count)
    }

    /// - Parameter firstID: the id of the first line.
    private mutating func append(_ lines: Span<UInt8>, firstID: Int64) -> Int {
        if current == nil || currentSize > 0 && currentSize + lines.count > segmentBytesMax { begin(firstID) }
        guard descriptor >= 0 else { return 0 }
        var written = 0
        failure = nil
        while written < lines.count {
            let count = lines.extracting(written..<lines.count).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                written += count
            } else if errno != EINTR {
                failure = String(cString: strerror(errno)).lowercased()
                break
            }
        }
        let kept = written == lines.count ? written : Self.wholeLines(lines.extracting(0..<written))
        if kept < written { _ = ftruncate(descriptor, off_t(currentSize + kept)) }
        currentSize += kept
        return kept
    }

    private static func wholeLines(_ bytes: Span<UInt8>) -> Int {
        var end = bytes.count
        while end > 0, bytes[end - 1] != UInt8(ascii: "\n") { end -= 1 }
        return end
    }

    /// Begins a segment after making room for it.
    private mutating func begin(_ firstID: Int64) {
        if let current { older.append((current, currentSize)) }
        if descriptor >= 0 { close(descriptor) }
        current = nil
        currentSize = 0
        removeOld(now: firstID)
        let segment = LogSegment(directory: directory, firstID: firstID)
        descriptor = open(segment.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return failure = String(cString: strerror(errno)).lowercased() }
        current = segment
    }

    /// A segment is too old if the first id of the next one is: ids are times.
    private mutating func removeOld(now: Int64) {
        let oldest = now - Int64(limits.ageSeconds * 1_000_000)
        var size = older.reduce(0) { $0 + $1.size }
        while let first = older.first {
            let next = older.count > 1 ? older[1].segment.firstID : now
            guard size + segmentBytesMax > limits.bytesMax || next < oldest else { return }
            unlink(first.segment.path)
            size -= first.size
            older.removeFirst()
        }
    }
}
