import EventLoop
import HearthBytes
import Testing
import WorkerProtocol

@testable import FunctionDispatch
@testable import Logs

@Suite("Logs")
struct LogTests {
    @Test("printed bytes are cut into lines, however they arrive", arguments: [1, 2, 5, 1000])
    func splitsLines(_ step: Int) {
        let bytes = Array("one\ntwo\n\nthree".utf8)
        var splitter = LineSplitter()
        var lines: [String] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            splitter.split(bytes.span.extracting(start..<min(bytes.count, start + step))) { lines.append($0.string()) }
        }
        #expect(lines == ["one", "two", ""])
    }

    @Test("a line without an end is cut at its limit and nothing is lost")
    func boundsLines() {
        var splitter = LineSplitter()
        var sizes: [Int] = []
        let bytes = [UInt8](repeating: 0x61, count: 10_000)
        for _ in 0..<5 { splitter.split(bytes.span) { sizes.append($0.count) } }
        #expect(sizes == [LineSplitter.lineSizeMax, LineSplitter.lineSizeMax, LineSplitter.lineSizeMax])
    }

    @Test("a worker may log so many bytes a second; what is dropped is counted")
    func boundsRate() {
        var budget = LogBudget(bytesPerSecond: 1000)
        let atOnce = [budget.admits(900, now: 0), budget.admits(200, now: 0)]
        let dropped = [budget.takeDropped(), budget.takeDropped()]
        let later = [budget.admits(200, now: 100), budget.admits(1001, now: 100_000)]
        #expect(atOnce == [true, false])
        #expect(dropped == [200, 0])
        #expect(later == [true, false])
    }

    @Test("names of invocations are 12 letters and digits, and differ")
    func invocationNames() {
        let texts = (0..<1000).map { InvocationName(workerSeed: 7, invocation: InvocationID(slot: $0 % 10, generation: UInt64($0 + 1))).description }
        #expect(Set(texts).count == 1000)
        #expect(texts.allSatisfy { $0.utf8.count == 12 && $0.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) } })
    }

    @Test("moments are written as RFC 3339 says")
    func times() throws {
        let text = WallClock.now().rfc3339
        #expect(text.wholeMatch(of: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/) != nil)
    }
}

@Suite("Peers")
struct PeerTests {
    @Test(
        "addresses of private networks are internal",
        arguments: [
            ("127.0.0.1:80", true), ("10.1.2.3:80", true), ("172.16.0.1:1", true), ("172.32.0.1:1", false), ("192.168.9.9:1", true),
            ("8.8.8.8:1", false), ("[::1]:80", true), ("[fd00::1]:80", true), ("[2001:db8::1]:80", false), ("", false),
            ("[::ffff:192.168.0.7]:80", true), ("[::ffff:127.0.0.1]:80", true), ("[::ffff:8.8.8.8]:80", false), ("169.254.1.1:9", true),
        ])
    func areInternal(_ address: String, _ expected: Bool) { #expect((NetworkAddress(endpoint: address)?.isInternal ?? false) == expected) }
}
