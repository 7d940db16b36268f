import HearthBytes
import Foundation
import HearthJSON
import Testing

@testable import Logs

@Suite("Log store")
struct LogStoreTests {
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-log-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private static func line(_ id: Int64, _ message: String, function: String = "f", severity: Severity = .info) -> [UInt8] {
        let line = LogLine(severity: severity, label: function, message: message, origin: LogOrigin(function: function))
        var members = ByteBuffer()
        line.appendMembers(time: WallClock(unixMilliseconds: id / 1000), to: &members)
        return Array("{\"id\":\(id),".utf8) + members.array()
    }

    private static func messages(_ page: LogPage) -> [String] {
        page.lines.split(separator: UInt8(ascii: "\n")).compactMap { (try? JSONValue(parsing: Array($0)))?["message"]?.string }
    }

    private static let first: Int64 = 1_763_752_000_000_000

    @Test("segments follow each other, and the oldest go first")
    func rotates() throws {
        try Self.withFolder { folder in
            var files = LogFiles(directory: folder, limits: LogFiles.Limits(bytesMax: 128 << 10))
            for number in 0..<2000 {
                let line = Self.line(Self.first + Int64(number), "message \(number) \(String(repeating: "x", count: 200))")
                let kept = files.append(line.span)
                #expect(kept == line.count)
            }
            let segments = LogSegment.all(in: folder)
            let size = segments.reduce(0) { $0 + $1.sizeBytes }
            let counted = files.sizeBytes
            #expect(size <= 128 << 10 && size > 64 << 10 && size == counted)
            let page = LogPage.newest(in: segments, LogFilter(), limit: 10_000)
            #expect(Self.messages(page).last?.hasPrefix("message 1999 ") == true && page.through == Self.first + 1999)
            #expect(LogFiles.lastID(in: folder) == Self.first + 1999)
        }
    }

    @Test("many lines at once take no more room than one after the other", arguments: [(10, 2000), (200, 2000), (40_000, 20)])
    func bursts(length: Int, count: Int64) throws {
        try Self.withFolder { folder in
            var files = LogFiles(directory: folder, limits: LogFiles.Limits(bytesMax: 128 << 10))
            for burst in 0..<3 as Range<Int64> {
                let lines = (0..<count).map { Self.line(Self.first + burst * count + $0, String(repeating: "x", count: length)) }
                let bytes = Array(lines.joined())
                let kept = files.append(bytes.span)
                #expect(kept == bytes.count)
            }
            let segments = LogSegment.all(in: folder)
            // A line that is longer than a segment is stored in a separate segment.
            #expect(segments.reduce(0) { $0 + $1.sizeBytes } <= max(128 << 10, length * 6))
            #expect(LogFiles.lastID(in: folder) == Self.first + 3 * count - 1)
            #expect(LogPage.newest(in: segments, LogFilter(), limit: 1).through == Self.first + 3 * count - 1)
        }
    }

    @Test("pages lead through everything, whatever their size")
    func pages() throws {
        try Self.withFolder { folder in
            var files = LogFiles(directory: folder, limits: LogFiles.Limits(bytesMax: 256 << 10))
            for number in 0..<700 {
                let id = Self.first + Int64(number)
                let line = Self.line(id, "\(number)", function: number % 3 == 0 ? "g" : "f")
                _ = files.append(line.span)
            }
            let segments = LogSegment.all(in: folder)
            for limit in [1, 7, 100, 10_000] {
                var after: Int64 = 0
                var found: [String] = []
                var page: LogPage
                repeat {
                    page = LogPage.following(after, in: segments, LogFilter(functions: [Array("g".utf8)]), limit: limit)
                    found += Self.messages(page)
                    #expect(page.through > after)
                    after = page.through
                } while page.hasMore
                #expect(found == stride(from: 0, to: 700, by: 3).map(String.init))
                #expect(after == Self.first + 699)
            }
            let newest = LogPage.newest(in: segments, LogFilter(), limit: 3)
            #expect(Self.messages(newest) == ["697", "698", "699"])
            // A follower gets later lines from elsewhere.
            let earlier = LogPage.newest(in: segments, LogFilter(), limit: 2, through: Self.first + 500)
            #expect(Self.messages(earlier) == ["499", "500"])
            #expect(earlier.through == Self.first + 500)
        }
    }

    @Test("a line that was cut off is skipped, and what follows it is not")
    func tornLines() throws {
        try Self.withFolder { folder in
            do {
                var files = LogFiles(directory: folder, limits: LogFiles.Limits())
                let lines = Self.line(Self.first, "whole") + Self.line(Self.first + 1, "torn").prefix(60)
                _ = files.append(lines.span)
            }
            #expect(LogFiles.lastID(in: folder) == Self.first)
            var files = LogFiles(directory: folder, limits: LogFiles.Limits())
            let after = Self.line(Self.first + 2, "after")
            _ = files.append(after.span)
            let page = LogPage.newest(in: LogSegment.all(in: folder), LogFilter(), limit: 100)
            #expect(Self.messages(page) == ["whole", "after"])
        }
    }

    @Test("old segments go when there are new ones")
    func ages() throws {
        try Self.withFolder { folder in
            let day: Int64 = 86_400_000_000
            var files = LogFiles(directory: folder, limits: LogFiles.Limits(bytesMax: 1 << 20, ageSeconds: 3 * 86400))
            for number in 0..<10 {
                let id = Self.first + Int64(number) * day
                let lines = Array((0..<700).map { Self.line(id + $0, "day \(number) \(String(repeating: "x", count: 100))") }.joined())
                _ = files.append(lines.span)
            }
            let page = LogPage.newest(in: LogSegment.all(in: folder), LogFilter(), limit: 10_000)
            let days = Set(Self.messages(page).map { $0.prefix(5) })
            #expect(days.isSubset(of: ["day 5", "day 6", "day 7", "day 8", "day 9"]) && days.contains("day 9"))
        }
    }

    @Test("a mailbox keeps what is wanted, in order, and counts what does not fit")
    func mailbox() {
        let mailbox = LogMailbox(LogFilter(levelMin: .warning)) {}
        let two = Self.line(Self.first, "no") + Self.line(Self.first + 1, "yes", severity: .error)
        mailbox.offer(two.span)
        let taken = mailbox.take()
        #expect(taken.lines == Self.line(Self.first + 1, "yes", severity: .error) && taken.dropped == 0)
        let long = Self.line(Self.first + 2, String(repeating: "x", count: 60_000), severity: .critical)
        for _ in 0..<20 { mailbox.offer(long.span) }
        let full = mailbox.take()
        #expect(full.lines.count <= LogMailbox.bytesMax && full.lines.count / long.count + full.dropped == 20 && full.dropped > 0)
        #expect(mailbox.take().lines.isEmpty)
    }

    @Test("names of a line's own members cannot be taken by others")
    func order() throws {
        var line = LogLine(severity: .info, label: "l\"", message: "m", origin: LogOrigin(function: "f", version: 3, pid: 7))
        line.entries = [("fields", ["function": "other"])]
        var buffer = ByteBuffer()
        buffer.append("{\"id\":1763752000000000,")
        line.appendMembers(time: WallClock(unixMilliseconds: 0), to: &buffer)
        let bytes = buffer.array().dropLast()
        let value = try JSONValue(parsing: Array(bytes))
        #expect(value["function"] == "f" && value["version"] == 3 && value["fields"]?["function"] == "other")
        let text = Array(bytes)
        let id = LogScan.id(text.span)
        #expect(id == 1_763_752_000_000_000)
        let matches = ["f", "other"].map { LogFilter(functions: [Array($0.utf8)]).matches(text.span, id: id ?? 0) }
        #expect(matches == [true, false])
    }
}
