/// Makes new texts of old ones: some still of the same kind, some nearly, some not at all.
public struct Mutator {
    public var random: SeededRandom
    private let corpus: [[UInt8]]
    private let pieces: [[UInt8]]
    private let bytesMax: Int

    /// Bytes that are no UTF-8: stray, cut off, a surrogate, beyond the last character.
    private static let malformed: [[UInt8]] = [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]]

    /// - Parameters:
    ///   - corpus: what is changed; not empty.
    ///   - words: what stands in such texts, put in at random places.
    ///   - bytesMax: a longer text is cut.
    public init(seed: UInt64, corpus: [[UInt8]], words: [String], bytesMax: Int = 4096) {
        random = SeededRandom(seed: seed)
        self.corpus = corpus
        pieces = words.map { Array($0.utf8) } + Self.malformed
        self.bytesMax = bytesMax
    }

    /// A text of the corpus after one to four changes.
    public mutating func next() -> [UInt8] {
        var text = random.pick(corpus)
        for _ in 0...random.below(4) { change(&text) }
        return Array(text.prefix(bytesMax))
    }

    private mutating func change(_ text: inout [UInt8]) {
        let start = random.below(text.count + 1)
        let range = start..<min(text.count, start + 1 + random.below(16))
        switch random.below(10) {
        case 0: text.removeSubrange(range)
        case 1: text.insert(contentsOf: random.pick(pieces), at: start)
        case 2: text.replaceSubrange(range, with: random.pick(pieces))
        case 3: text.insert(contentsOf: text[range], at: start)
        case 4: if start < text.count { text[start] = UInt8(truncatingIfNeeded: random.next()) }
        case 5: if start < text.count { text[start] ^= 1 << UInt8(random.below(8)) }
        case 6: if start < text.count { text[start] = UInt8(random.below(5)) }
        case 7: text.removeSubrange(start...)
        case 8: text.insert(contentsOf: random.pick(corpus), at: start)
        default:
            let other = random.pick(corpus)
            text.replaceSubrange(start..., with: other[random.below(other.count + 1)...])
        }
    }
}
