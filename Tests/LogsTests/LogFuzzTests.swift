import HearthBytes
import FuzzSupport
import HearthJSON
import Testing

@testable import Logs

@Suite("LogFuzz")
struct LogFuzzTests {
    @Test("whatever a file of the store holds: what a filter lets through are whole lines of it")
    func files() throws {
        let words = ["\"", "\\", "\n", "{\"id\":1763752000000002,", ",\"function\":\"a\"", ",\"message\":", "}\n", ",\"severity\":\"error\""]
        let run = FuzzRun(try FuzzCorpus.load("Logs/corpus"), words: words, rounds: 20_000)
        var narrow = LogFilter(functions: [Array("a".utf8), Array("addMessage".utf8)], levelMin: .info)
        narrow.since = 1
        let complaint = run.complaint { bytes in
            let all = bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) }
            let lines = Set(all)
            for filter in [LogFilter(), narrow] {
                var count = 0
                var problem: String?
                LogScan.forEachLine(bytes.span) { line in
                    guard let id = LogScan.id(line) else { return }
                    if !lines.contains(line.array()) { problem = "a line that is not in the file" }
                    if filter.matches(line, id: id) { count += 1 }
                }
                if let problem { return problem }
                if count > all.count { return "more lines than there are" }
            }
            return nil
        }
        #expect(complaint == nil)
    }

    @Test("whatever is asked: it is refused in one sentence, or within bounds")
    func queries() throws {
        let words = ["&", "=", "limit=1", "since=", "10m", "follow=true", "2026-01-01T00:00:00Z", "+01:00", "9999999999999999999"]
        let run = FuzzRun(try FuzzCorpus.load("Logs/queries"), words: words, rounds: 50_000)
        let complaint = run.complaint { bytes in
            var parameters: [String: String] = [:]
            for pair in String(decoding: bytes, as: UTF8.self).split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                parameters[String(parts[0])] = parts.count == 2 ? String(parts[1]) : ""
            }
            do throws(LogQueryError) {
                let query = try LogQuery(parameters, now: 1_763_752_000_000_000)
                guard (0...LogQuery.limitMax).contains(query.limit), query.after ?? 0 >= 0 else { return "out of bounds" }
                return query.filter.trace.map { $0.count == 32 } ?? true ? nil : "no trace"
            } catch {
                return !error.description.contains("\n") || bytes.contains(10) ? nil : "not one sentence"
            }
        }
        #expect(complaint == nil)
    }

    @Test(
        "moments are read as they are written",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-21T16:04:05.123Z", 1_795_277_045_123_000), ("2026-11-21t17:04:05+01:00", 1_795_277_045_000_000),
            ("2024-02-29T00:00:00.123456789Z", 1_709_164_800_123_456), ("2026-11-21T10:34:05.5-05:30", 1_795_277_045_500_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
        ])
    func moments(_ text: String, _ microseconds: Int64) { #expect(WallClock.microseconds(rfc3339: text) == microseconds) }

    @Test(
        "and nothing else",
        arguments: [
            "", "now", "2026-11-21", "2026-11-21T16:04:05", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z",
            "2026-11-21T16:04:05.Z", "2026-11-21T16:04:05+1:00", "2026-11-21T16:04:05ZZ", "1969-12-31T23:59:59Z", "2026/11/21T16:04:05Z",
            "2026-02-31T00:00:60Z",
        ])
    func notMoments(_ text: String) { #expect(WallClock.microseconds(rfc3339: text) == nil) }
}
