import FuzzSupport
import HearthJSON
import Testing

@testable import CommandClient

/// The corpus of `Tests/Fuzz/RelaxedJSON`, and texts made of it by chance: nothing ends the program, JSON means what it means to the
/// JSON reader, and complaints name a place in the text.
@Suite struct RelaxedJSONFuzzTests {
    private static let words = [
        "{", "}", "[", "]", "(", ")", ",", ":", "'", "\"", "\\", "\\u00", ".get(", "undefined", "null", "1e", "-.", "a:", "ä", "\n",
    ]

    @Test func everythingHolds() throws {
        let corpus = try FuzzCorpus.load("RelaxedJSON/corpus")
        #expect(corpus.count > 5)
        let run = FuzzRun(corpus, words: Self.words, bytesMax: 500, rounds: 20000)
        #expect(run.complaint { self.complaint($0) } == nil)
    }

    private func complaint(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        _ = ShellStatement.isOpen(text)
        do throws(RelaxedJSONError) {
            _ = try ShellStatement(parsing: text)
        } catch {
            if !(0...text.utf8.count).contains(error.offset) || error.message.isEmpty { return "a statement is wrong nowhere" }
        }
        var value: JSONValue?
        do throws(RelaxedJSONError) {
            value = try RelaxedJSON.value(of: text)
        } catch {
            if !(0...text.utf8.count).contains(error.offset) || error.message.isEmpty { return "a value is wrong nowhere" }
        }
        guard let strict = try? JSONValue(parsing: text) else { return nil }
        return value == strict ? nil : "JSON is read as \(value.map { "\($0)" } ?? "nothing")"
    }
}
