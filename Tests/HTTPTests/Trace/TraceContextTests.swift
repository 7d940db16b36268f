import HearthBytes
import FuzzSupport
import Testing

@testable import HTTP

@Suite("Trace context")
struct TraceContextTests {
    static let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    static func parse(_ text: String) -> TraceContext? { TraceContext(parsing: Array(text.utf8).span) }

    static func state(_ text: String) -> String? { TraceState.accepted(Array(text.utf8).span).map { String(decoding: $0, as: UTF8.self) } }

    @Test("is written as it was read")
    func roundTrip() throws {
        let context = try #require(Self.parse(Self.text))
        #expect(context.id.description == "0af7651916cd43dd8448eb211c80319c")
        #expect(context.span == 0xb7ad_6b71_6920_3331 && context.isSampled)
        #expect(context.parent == Self.text)
        #expect(context.child(1).parent == "00-0af7651916cd43dd8448eb211c80319c-0000000000000001-01")
    }

    @Test("numbers are written with all of their digits", arguments: [1, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, .max, 0xa0a0_a0a0_0909_0909])
    func digits(_ number: UInt64) {
        var buffer = ByteBuffer()
        buffer.append(hexadecimal: number)
        let text = buffer.string()
        let plain = String(number, radix: 16)
        #expect(text == String(repeating: "0", count: 16 - plain.count) + plain)
    }

    @Test("a source never repeats itself, and begins with what nobody asked to be recorded")
    func source() {
        var source = TraceSource()
        let contexts = (0..<10_000).map { _ in source.begin() }
        #expect(Set(contexts.map(\.id)).count == 10_000 && Set(contexts.map(\.span)).count == 10_000)
        #expect(contexts.allSatisfy { !$0.isSampled && $0.state == nil })
        var other = TraceSource()
        #expect(!contexts.contains { $0.id == other.begin().id })
    }

    @Test("bits of numbers are as often set as not")
    func bits() {
        var source = TraceSource()
        var counts = [Int](repeating: 0, count: 64)
        for _ in 0..<10_000 {
            let span = source.nextSpan()
            for bit in 0..<64 where span >> UInt64(bit) & 1 == 1 { counts[bit] += 1 }
        }
        #expect(counts.allSatisfy { (4600...5400).contains($0) })
    }

    @Test("whatever a parent holds: it is refused, or written as one that means the same")
    func fuzz() throws {
        let run = FuzzRun(try FuzzCorpus.load("Trace/corpus"), words: ["-", "00-", "01", "ff"], bytesMax: 100, rounds: 50_000)
        let complaint = run.complaint { bytes in
            guard let context = TraceContext(parsing: bytes.span) else { return nil }
            return Self.parse(context.parent) == context ? nil : "it means something else when it is written"
        }
        #expect(complaint == nil)
    }

    @Test("whatever a state holds: it is refused, or what is handed on is short and valid as it is")
    func fuzzState() throws {
        let run = FuzzRun(try FuzzCorpus.load("Trace/states"), words: [",", "=", "a=b", "@", " "], rounds: 50_000)
        let complaint = run.complaint { bytes in
            guard let state = TraceState.accepted(bytes.span) else { return nil }
            if state.count > TraceState.sizeMax { return "it is too long" }
            return TraceState.accepted(state.span) == state ? nil : "it is another one when it is read again"
        }
        #expect(complaint == nil)
    }
}
