import FuzzSupport
import HearthBytes
import HearthJSON
import Testing
import Tree

@testable import DatabaseAPI
@testable import RealtimeDatabase

/// The corpus of `Tests/Fuzz/Live`, and messages made of it by chance.
@Suite("LiveFuzz")
struct LiveFuzzTests {
    private static let words = [
        "\"t\":", "\"d\":", "\"c\"", "\"r\":1", "\"a\":\"q\"", "\"b\":{", "}", "{", "[", "]", ",", "\"", "\\", "\\\"", "\\u0000", "null",
        "\"p\":\"/a\"", "\"h\":\"\"", "\"q\":{", "\"sp\":null", "\"l\":1", "\"vf\":\"r\"", "\"i\":\".key\"", "\"t\":1", ".priority", ".sv",
        ".value", ".info", "1e400", "-0", "é", "😀", " ", "16384",
    ]

    @Test func everythingHolds() throws {
        let corpus = try FuzzCorpus.load("Live/corpus").flatMap { $0.split(separator: UInt8(ascii: "\n")).map { Array($0) } }
        #expect(corpus.count > 30)
        let run = FuzzRun(corpus, words: Self.words, bytesMax: 2048, rounds: 5000)
        #expect(run.complaint { complaint($0, &$1) } == nil)
    }

    private func complaint(_ text: [UInt8], _ random: inout SeededRandom) -> String? {
        if let complaint = brokenFraming(text, &random) { return complaint }
        let message = try? LiveMessage(parsing: text.span)
        // The scanner finds the same parts as the parser.
        if let whole = try? JSONValue(parsing: text.span), case .object(let members) = whole, isPlain(text) {
            if let complaint = differing(message, members, text) { return complaint }
        }
        guard case .request(_, let name, let body)? = message else { return nil }
        let bytes = text.span.extracting(body)
        return broken(LiveAction(name, body: bytes, limits: DraftLimits()))
    }

    /// Whether names are written without escapes, which the scanner compares as they are.
    private func isPlain(_ text: [UInt8]) -> Bool { !text.contains(UInt8(ascii: "\\")) }

    private func differing(_ message: LiveMessage?, _ members: JSONObject, _ text: [UInt8]) -> String? {
        guard members["t"]?.string == "d", let data = members["d"]?.object else { return nil }
        guard case .int(let number)? = data["r"], 0...Int64(Int32.max) ~= Int64(number) else { return nil }
        guard let name = data["a"]?.string, name.utf8.count <= 62 else { return nil }
        guard case .request(let found, let action, let body)? = message else { return "a message that is not understood" }
        guard found == Int(number), action == name else { return "another number or action" }
        guard let value = data["b"] else { return body.isEmpty ? nil : "a body where there is none" }
        return (try? JSONValue(parsing: text.span.extracting(body))) == value ? nil : "another body"
    }

    private func broken(_ action: LiveAction) -> String? {
        switch action {
        case .listen(let place, _, let tag):
            (tag == nil) == (place.query.query == nil) ? nil : "a listen with a tag and no query, or the other way round"
        case .disconnect(let operation): brokenPlan(operation)
        case .refused(let refusal): refusal.message.isEmpty ? "a refusal without a reason" : nil
        default: nil
        }
    }

    /// A plan that takes an operation is the same after its places were stored.
    private func brokenPlan(_ operation: DisconnectOperation) -> String? {
        var plan = DisconnectPlan()
        guard (try? plan.apply(operation)) != nil else { return nil }
        for place in plan.places {
            guard PathKey.path(of: place.path.key.bytes.span) == place.path else { return "another place when it is read again" }
            guard (try? JSONValue(parsing: place.value.serialized().span)) == place.value else { return "another value when it is read again" }
        }
        return nil
    }

    /// A text is the same after it was sent in segments and joined.
    private func brokenFraming(_ text: [UInt8], _ random: inout SeededRandom) -> String? {
        let valid = Array(String(decoding: text, as: UTF8.self).utf8)
        guard valid.count > 6 else { return nil }
        let copies = 1 + Int(random.next() % 64)
        let long = [UInt8]((0..<copies).map { _ in valid }.joined())
        var assembler = LiveAssembler(bytesMax: long.count)
        var joined: [[UInt8]] = []
        var isTooLong = false
        LiveSegments.send(long.span) { frame in
            if (try? assembler.take(frame) { joined.append($0.array()) }) == nil { isTooLong = true }
        }
        return joined == [long] && !isTooLong ? nil : "another text after framing"
    }
}
