import FuzzSupport
import HearthJSON
import Testing

@testable import CommandClient

/// The corpus of `Tests/Fuzz/Import`, and texts made of it by chance: the pieces of a text, put together again, are the text; how
/// it was cut into pushes does not matter; what is no JSON is refused, and memory stays bounded.
///
/// A failure names its seed: `HEARTH_FUZZ_SEED=<seed> swift test --filter CommandClientTests.SplitterFuzzTests` runs it again.
/// `HEARTH_FUZZ_ROUNDS` sets how many texts are made.
@Suite struct SplitterFuzzTests {
    private static let words = [
        "{", "}", "[", "]", ",", ":", "\"", "null", "true", "-1.5e3", "\\u0041", "\"a\": ", "\".value\": ", "\".priority\": ",
        "{\".sv\": \"timestamp\"}", "\n", " ", "\\", "\u{7f}", "ä", "\"0\":", "01", "[[[[", "{\"a\":{\"a\":{\"a\":", "}}}", "\"k\":\"v\",", "\"\"",
    ]

    @Test func everythingHolds() throws {
        let corpus = try FuzzCorpus.load("Import/corpus")
        #expect(corpus.count > 8)
        #expect(corpus.contains(Array(#"null"#.utf8)))
        let run = FuzzRun(corpus, words: Self.words, bytesMax: 2000, rounds: 3000)
        let complaint = run.complaint { text, random in
            for max in [1, 10, 1000, random.below(60) + 1] {
                if let complaint = self.complaint(text, max: max, &random) { return "\(complaint); at most \(max) bytes" }
            }
            return nil
        }
        #expect(complaint == nil)
    }

    private struct Result {
        var pieces: [JSONPiece] = []
        var priorities: [JSONPiece] = []
        var error: JSONSplitError?
    }

    private func split(_ text: [UInt8], max: Int, collects: Bool = true, step: () -> Int) -> Result {
        var result = Result()
        var splitter = JSONSplitter(limits: JSONSplitLimits(valueBytesMax: max, depthMax: 8), collects: collects)
        var start = 0
        do throws(JSONSplitError) {
            while start < text.count {
                let end = min(start + step(), text.count)
                splitter.append(text.span.extracting(start..<end))
                start = end
                while let piece = try splitter.next() { result.pieces.append(piece) }
            }
            splitter.finish()
            while let piece = try splitter.next() { result.pieces.append(piece) }
        } catch {
            result.error = error
        }
        result.priorities = splitter.priorities
        return result
    }

    private func complaint(_ text: [UInt8], max: Int, _ random: inout SeededRandom) -> String? {
        let whole = split(text, max: max) { text.count }
        var steps = random
        let cut = split(text, max: max) { steps.below(9) + 1 }
        random = steps
        let check = split(text, max: max, collects: false) { text.count }
        if check.error != whole.error || !check.pieces.isEmpty { return "checked differently" }
        // The values output before an error depend on how much of the text was available.
        if (whole.error == nil) != (cut.error == nil) { return "cut differently, \(whole.error as Any) and \(cut.error as Any)" }
        if whole.error == nil, whole.pieces != cut.pieces || whole.priorities != cut.priorities { return "cut differently, other pieces" }
        let parsed = try? JSONValue(parsing: text)
        if parsed == nil, whole.error == nil { return "taken, though no JSON" }
        if let error = whole.error {
            let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
            return error.line < 1 || error.line > lines || error.column < 1 ? "no such place: \(error)" : nil
        }
        guard let parsed else { return nil }
        // Which of two members of one name counts depends on the order in which they arrive.
        if NameCheck.hasNameTwice(text) { return nil }
        if FlatTree(parsed) != FlatTree(whole.pieces, priorities: whole.priorities) { return "the pieces are not the text" }
        let isLong = whole.pieces.contains { piece in
            piece.value.count > max && (piece.value.first == UInt8(ascii: "{") || piece.value.first == UInt8(ascii: "["))
        }
        return isLong ? "a piece is longer than allowed" : nil
    }
}
