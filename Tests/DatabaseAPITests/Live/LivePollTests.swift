import FuzzSupport
import HearthBytes
import Testing

@testable import DatabaseAPI

/// Requests, parts and scripts of polling clients (spec database 3.9).
@Suite("Live polls")
struct LivePollTests {
    private func parts(_ message: String, first: Int, size: Int = 4) -> [LivePollSegment] {
        var letters = Array(Base64URL.text(Array(message.utf8)).utf8)
        while letters.count % 4 != 0 { letters.append(UInt8(ascii: ".")) }
        let pieces = stride(from: 0, to: letters.count, by: size).map { Array(letters[$0..<min($0 + size, letters.count)]) }
        return pieces.enumerated().map { LivePollSegment(number: first + $0.offset, total: pieces.count, letters: $0.element) }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func partsInAnyOrder(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var messages: [String] = []
        var all: [LivePollSegment] = []
        for number in 0..<12 {
            messages.append(String(repeating: "é\(number)", count: 1 + Int(random.next() % 9)))
            all += parts(messages[number], first: all.count)
        }
        var assembler = LivePollAssembler(bytesMax: 1000)
        var found: [String] = []
        // A part may arrive up to as many places early as the client has requests under way.
        while !all.isEmpty {
            let index = Int(random.next() % UInt64(min(all.count, 10)))
            let part = all[index]
            try assembler.take(part) { found.append(String(decoding: $0, as: UTF8.self)) }
            // A part that arrives twice counts once.
            try assembler.take(part) { _ in Issue.record("a message from a repeated part") }
            all.remove(at: index)
        }
        #expect(found == messages)
        #expect(assembler.heldBytes == 0)
    }

    @Test func whatIsHeldIsBounded() throws {
        var ahead = LivePollAssembler(bytesMax: 1000)
        for number in 1..<LivePollAssembler.aheadMax { try ahead.take(LivePollSegment(number: number, total: 99, letters: [65])) { _ in } }
        #expect(throws: LiveMessage.Fault(reason: "part 0 of the messages is missing")) {
            try ahead.take(LivePollSegment(number: LivePollAssembler.aheadMax, total: 99, letters: [65])) { _ in }
        }
        var long = LivePollAssembler(bytesMax: 300)
        let letters = [UInt8](repeating: 65, count: 200)
        try long.take(LivePollSegment(number: 0, total: 3, letters: letters)) { _ in }
        try long.take(LivePollSegment(number: 1, total: 3, letters: letters)) { _ in }
        #expect(long.heldBytes == 400)
        #expect(throws: LiveMessage.Fault(reason: "a message may have at most 300 bytes")) {
            try long.take(LivePollSegment(number: 2, total: 3, letters: letters)) { _ in }
        }
    }

    @Test func requests() throws {
        let text = "id=i-1&pw=p&ser=7&seg0=3&ts0=2&d0=abc&seg1=4&ts1=2&d1=d.&seg3=9"
        guard case .poll(let id, let password, let serial, let segments) = try LivePollRequest(Array(text.utf8).span) else {
            Issue.record("not a poll")
            return
        }
        #expect(id == "i-1" && password == Array("p".utf8) && serial == 7)
        #expect(
            segments == [
                LivePollSegment(number: 3, total: 2, letters: Array("abc".utf8)), LivePollSegment(number: 4, total: 2, letters: Array("d.".utf8)),
            ])
    }

    @Test func scripts() {
        var script = LivePollScript(suffix: "12")
        script.start("i", "p")
        script.deliver([Array(#"{"a":1}"#.utf8), Array(#"{"__proto__":"\""}"#.utf8)], number: 4)
        script.close(after: 4)
        script.close(after: nil)
        #expect(
            script.text.string() == #"parent.window["pLPCommand12"]("start","i","p");parent.window["pRTLPCB12"](4,[{"a":1},"#
                + #"JSON.parse("{\"__proto__\":\"\\\"\"}")]);parent.window["pLPCommand12"]("close",4);parent.window["pLPCommand12"]("close");"#)
    }
}

/// The corpus of `Tests/Fuzz/Live`, and requests made of it by chance.
@Suite("LivePollFuzz")
struct LivePollFuzzTests {
    private static let words = [
        "&", "=", "seg0", "ts0", "d0", "seg1", "ts1", "d1", "ser", "id", "pw", "start", "cb", "1", "0", "-1", "99999999999", ".",
    ]

    @Test func everythingHolds() throws {
        let corpus = try FuzzCorpus.load("Live/polls").flatMap { $0.split(separator: UInt8(ascii: "\n")).map { Array($0) } }
        #expect(corpus.count > 5)
        #expect(FuzzRun(corpus, words: Self.words, bytesMax: 2048, rounds: 5000).complaint { complaint($0) } == nil)
    }

    private func complaint(_ text: [UInt8]) -> String? {
        guard let request = try? LivePollRequest(text.span) else { return nil }
        switch request {
        case .start(let suffix): return suffix.allSatisfy(\.isNumber) && suffix.count <= 10 ? nil : "a name that is not one"
        case .frame, .leave: return nil
        case .poll(_, _, let serial, let segments):
            guard serial >= 0, segments.allSatisfy({ $0.number >= 0 && $0.total > 0 }) else { return "a number below 0" }
            var assembler = LivePollAssembler(bytesMax: 4096)
            for segment in segments {
                guard (try? assembler.take(segment) { _ in }) != nil else { return nil }
                if assembler.heldBytes > 4 * text.count { return "more is held than was sent" }
            }
            return nil
        }
    }
}
