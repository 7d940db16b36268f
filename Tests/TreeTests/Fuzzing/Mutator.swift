/// Makes new texts of old ones: some still bodies, some nearly, some not at all.
struct Mutator {
    var random: SeededRandom
    let corpus: [[UInt8]]

    private static let pieces: [[UInt8]] = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "/", "//", "null", "true", "false", "0", "-", "-0", "1e", ".5", "1e308", "1e309", "1.0",
        "9223372036854775807", "9223372036854775808", "\".value\":", "\".priority\":", "\".sv\":", "\"timestamp\"", "{\".sv\":\"timestamp\"}",
        "{\".sv\":{\"increment\":1}}", "\"increment\":", "\"a\":", "\"a\":1,", "\"b/c\":", "a/b", "/.priority", ".priority", "\"\":", "$", "#", ".",
        "%2F", "%41", "%", "%C3%A9", "\\u0041", "\\u0000", "\\ud83d\\ude00", "\\ud800", " ", "\n", "é", "e\u{301}", "😀", "\u{FFFD}", "\u{7F}",
        "\u{1}", "\u{FEFF}", "01", "2147483648", "[[[[[[[[", "{\"a\":{\"b\":", "null,null,",
    ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]]

    /// A text of the corpus after a few changes.
    mutating func next() -> [UInt8] {
        var text = pick(corpus)
        for _ in 0...random.below(4) { change(&text) }
        return text.count > 4096 ? Array(text[..<4096]) : text
    }

    private mutating func pick(_ texts: [[UInt8]]) -> [UInt8] { texts.isEmpty ? [] : texts[random.below(texts.count)] }

    private mutating func range(in text: [UInt8]) -> Range<Int> {
        let start = random.below(text.count + 1)
        return start..<min(text.count, start + 1 + random.below(12))
    }

    private mutating func change(_ text: inout [UInt8]) {
        let range = range(in: text)
        switch random.below(9) {
        case 0: text.removeSubrange(range)
        case 1: text.insert(contentsOf: pick(Self.pieces), at: range.lowerBound)
        case 2: text.replaceSubrange(range, with: pick(Self.pieces))
        case 3: text.insert(contentsOf: text[range], at: range.lowerBound)
        case 4: if !range.isEmpty { text[range.lowerBound] = UInt8(truncatingIfNeeded: random.next()) }
        case 5: if !range.isEmpty { text[range.lowerBound] ^= 1 << UInt8(random.below(8)) }
        case 6: text.removeSubrange(range.lowerBound...)
        case 7:
            // One text inside another, where a value may stand.
            let places = text.indices.filter { text[$0] == UInt8(ascii: ":") || text[$0] == UInt8(ascii: "[") }
            if !places.isEmpty { text.insert(contentsOf: pick(corpus) + [UInt8(ascii: ",")], at: places[random.below(places.count)] + 1) }
        default:
            text = Array("{\"a\":".utf8) + text + Array(",\"b/c\":".utf8) + pick(corpus) + Array("}".utf8)
        }
    }
}
