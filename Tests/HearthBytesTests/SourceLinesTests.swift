import HearthBytes
import Testing

@Suite("SourceLines")
struct SourceLinesTests {
    @Test(
        "an offset is a line and a column in characters",
        arguments: [
            ("", 0, 1, 1), ("ab", 1, 1, 2), ("ab", 2, 1, 3), ("ab", 9, 1, 3), ("a\nb", 1, 1, 2), ("a\nb", 2, 2, 1), ("\n\n", 2, 3, 1),
            ("é😀x", 6, 1, 3), ("é\né😀x", 9, 2, 3),
        ])
    func positions(_ text: String, _ offset: Int, _ line: Int, _ column: Int) {
        let position = SourceLines(Array(text.utf8)).position(at: offset)
        #expect([position.line, position.column] == [line, column])
    }

    @Test(
        "the first byte that is not UTF-8 is found",
        arguments: [
            ([], nil), ([0x61, 0xC3, 0xA9], nil), ([0x61, 0xFF], 1), ([0xC3], 0), ([0x61, 0xE2, 0x82, 0x62], 1), ([0xED, 0xA0, 0x80], 0),
            ([0x61, 0xF0, 0x9F, 0x98, 0x80, 0x80], 5),
        ] as [([UInt8], Int?)])
    func invalidBytes(_ bytes: [UInt8], _ offset: Int?) { #expect(SourceLines(bytes).firstInvalidOffset == offset) }
}
