/// The text of a string in a rules document, escapes resolved, and where each of its bytes stands in the document.
struct RuleText: Sendable {
    let bytes: [UInt8]
    /// Where the string begins, at its quote.
    let start: Int
    /// The offset of each byte; empty for a string without escapes, whose bytes stand side by side.
    private let offsets: [UInt32]

    init(bytes: [UInt8], start: Int, offsets: [UInt32] = []) {
        self.bytes = bytes
        self.start = start
        self.offsets = offsets
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Where in the document the byte at `index` stands.
    func offset(of index: Int) -> Int {
        if offsets.isEmpty { return start + 1 + index }
        if index < offsets.count { return Int(offsets[index]) }
        return (offsets.last.map(Int.init) ?? start) + 1
    }

    /// Part of the text, for a person.
    func excerpt(_ range: Range<Int>) -> String { String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self) }
}
