import HearthBytes
import Testing

@testable import DatabaseAPI

/// The framing of long messages (spec database 3.2, 10.2).
@Suite("Live segments")
struct LiveSegmentsTests {
    private func frames(_ text: String) -> [String] {
        var frames: [String] = []
        LiveSegments.send(Array(text.utf8).span) { frames.append($0.string()) }
        return frames
    }

    @Test func shortMessagesAreOneFrame() {
        #expect(frames(String(repeating: "a", count: 16_384)).count == 1)
        // As many units as fit, in three bytes each.
        #expect(frames(String(repeating: "€", count: 16_384)).count == 1)
    }

    @Test(arguments: ["a", "é", "€", "😀", "a😀€"])
    func segmentsJoinToTheMessage(_ part: String) throws {
        let text = String(repeating: part, count: 50_000 / part.utf16.count)
        let frames = frames(text)
        #expect(frames.first == "\(frames.count - 1)")
        #expect(frames.dropFirst().joined() == text)
        for frame in frames { #expect(frame.utf16.count <= 16_384 && frame.utf8.count <= 65_536) }
        var assembler = LiveAssembler(bytesMax: 1 << 20)
        var messages: [String] = []
        for frame in frames { try assembler.take(Array(frame.utf8).span) { messages.append($0.string()) } }
        #expect(messages == [text])
        #expect(assembler.unfinishedBytes == 0)
    }

    @Test func signsOfLifeAreNotMessages() throws {
        var assembler = LiveAssembler(bytesMax: 1000)
        var messages: [String] = []
        for frame in ["0", "0", "1", "{}", "2", "{\"a\":", "1}", "[]", "-5", "{}"] {
            try assembler.take(Array(frame.utf8).span) { messages.append($0.string()) }
        }
        #expect(messages == ["{}", "{\"a\":1}", "[]", "{}"])
    }

    private static let part = String(repeating: "x", count: 600)

    @Test(arguments: [["999999"], ["3", part, part], [part + part]])
    func longMessagesAreRefused(_ frames: [String]) {
        #expect(throws: LiveMessage.Fault(reason: "a message may have at most 1000 bytes")) {
            var assembler = LiveAssembler(bytesMax: 1000)
            for frame in frames { try assembler.take(Array(frame.utf8).span) { _ in Issue.record("a message") } }
        }
    }
}
