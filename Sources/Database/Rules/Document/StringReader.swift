import HearthBytes

/// Parses one string of a rules document. Literal newlines and tabs are allowed, so that an expression may span lines.
struct StringReader {
    private let source: SourceLines
    private(set) var position: Int
    private let start: Int
    private var bytes: [UInt8] = []
    /// The offset of each byte; empty before the first escape.
    private var offsets: [UInt32] = []

    /// `position` is the offset of the opening quote.
    init(source: SourceLines, position: Int) {
        self.source = source
        self.position = position
        self.start = position
    }

    private func failure(at offset: Int) -> RulesError { .notJSON(at: offset, in: source) }

    mutating func read() throws(RulesError) -> RuleText {
        position += 1
        while position < source.bytes.count {
            let byte = source.bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return RuleText(bytes: bytes, start: start, offsets: offsets)
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20 where byte != 0x0A && byte != 0x0D && byte != 0x09: throw failure(at: position)
            default:
                append([byte], from: position)
                position += 1
            }
        }
        throw failure(at: start)
    }

    private mutating func append(_ added: [UInt8], from offset: Int) {
        bytes.append(contentsOf: added)
        if !offsets.isEmpty { for _ in added { offsets.append(UInt32(offset)) } }
    }

    private mutating func escape() throws(RulesError) {
        let escapeStart = position
        if offsets.isEmpty { offsets = bytes.indices.map { UInt32(start + 1 + $0) } }
        guard position + 1 < source.bytes.count else { throw failure(at: start) }
        let letter = source.bytes[position + 1]
        position += 2
        let added: [UInt8]
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): added = [letter]
        case UInt8(ascii: "b"): added = [0x08]
        case UInt8(ascii: "f"): added = [0x0C]
        case UInt8(ascii: "n"): added = [0x0A]
        case UInt8(ascii: "r"): added = [0x0D]
        case UInt8(ascii: "t"): added = [0x09]
        case UInt8(ascii: "u"): added = Array(String(Character(try scalar(escapeStart))).utf8)
        default: throw failure(at: escapeStart)
        }
        for byte in added {
            bytes.append(byte)
            offsets.append(UInt32(escapeStart))
        }
    }

    /// The scalar of a `\u` escape or of a surrogate pair; an unpaired surrogate becomes U+FFFD.
    private mutating func scalar(_ escapeStart: Int) throws(RulesError) -> Unicode.Scalar {
        let first = try unit(escapeStart)
        if let scalar = Unicode.Scalar(first) { return scalar }
        let source = source.bytes
        let isFollowed = position + 1 < source.count && source[position] == UInt8(ascii: "\\") && source[position + 1] == UInt8(ascii: "u")
        guard UTF16.isLeadSurrogate(first), isFollowed else { return "\u{FFFD}" }
        let before = position
        position += 2
        let second = try unit(before)
        guard UTF16.isTrailSurrogate(second) else {
            position = before
            return "\u{FFFD}"
        }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func unit(_ escapeStart: Int) throws(RulesError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            let byte = position < source.bytes.count ? source.bytes[position] : 0
            guard let digit = HexDigit.value(of: byte) else { throw failure(at: escapeStart) }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }
}
