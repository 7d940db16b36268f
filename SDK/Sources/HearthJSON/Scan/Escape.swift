/// Escapes inside strings that a scan has accepted.
enum Escape {
    @inline(__always)
    static func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte) - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte) - 55
        default: nil
        }
    }

    /// The text that `count` bytes between two quotes stand for. An escape for half a surrogate pair becomes U+FFFD.
    static func decoded(_ base: UnsafePointer<UInt8>, count: Int) -> [UInt8] {
        // No escape is shorter than its character.
        [UInt8](unsafeUninitializedCapacity: count) { output, written in
            guard let target = output.baseAddress else { return }
            var index = 0
            while index < count {
                let byte = base[index]
                if byte != UInt8(ascii: "\\") {
                    target[written] = byte
                    written += 1
                    index += 1
                } else if base[index + 1] == UInt8(ascii: "u") {
                    let (scalar, length) = unicode(base + index, count: count - index)
                    written += encode(scalar, to: target + written)
                    index += length
                } else {
                    target[written] = simple(base[index + 1])
                    written += 1
                    index += 2
                }
            }
        }
    }

    /// The character that the letter after a backslash stands for.
    private static func simple(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    /// The scalar that one `\uXXXX`, or a pair of them, stands for, and how many bytes that took.
    private static func unicode(_ base: UnsafePointer<UInt8>, count: Int) -> (scalar: UInt32, length: Int) {
        let first = unit(base)
        switch first {
        case 0xD800...0xDBFF:
            guard count >= 12, base[6] == UInt8(ascii: "\\"), base[7] == UInt8(ascii: "u") else { return (0xFFFD, 6) }
            let second = unit(base + 6)
            guard 0xDC00...0xDFFF ~= second else { return (0xFFFD, 6) }
            return (0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), 12)
        case 0xDC00...0xDFFF: return (0xFFFD, 6)
        default: return (first, 6)
        }
    }

    private static func unit(_ base: UnsafePointer<UInt8>) -> UInt32 {
        var value: UInt32 = 0
        for index in 2..<6 { value = value << 4 | (hexDigit(base[index]) ?? 0) }
        return value
    }

    private static func encode(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
        func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | scalar >> shift & 0x3F) }
        switch scalar {
        case ..<0x80:
            target[0] = UInt8(truncatingIfNeeded: scalar)
            return 1
        case ..<0x800:
            target[0] = UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
            target[1] = tail(0)
            return 2
        case ..<0x10000:
            target[0] = UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
            target[1] = tail(6)
            target[2] = tail(0)
            return 3
        default:
            target[0] = UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
            target[1] = tail(12)
            target[2] = tail(6)
            target[3] = tail(0)
            return 4
        }
    }
}

/// A member's name as it stands between its quotes in a text that a scan has accepted.
struct KeyText {
    let base: UnsafePointer<UInt8>
    let count: Int
    let hasEscapes: Bool

    @inline(__always)
    init(_ base: UnsafePointer<UInt8>, count: Int, hasEscapes: Bool) {
        self.base = base
        self.count = count
        self.hasEscapes = hasEscapes
    }

    /// The name with escapes resolved.
    var string: String { withDecoded { String(decoding: $0, as: UTF8.self) } }

    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        equals(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether the name is `text`, escapes resolved.
    @inline(__always)
    func equals(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if hasEscapes { return equalsDecoded(text) }
        guard count == text.count else { return false }
        guard count > 0, let other = text.baseAddress else { return true }
        return Word.equal(base, other, count: count)
    }

    @inline(never)
    private func equalsDecoded(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count > text.count else { return false }
        return Escape.decoded(base, count: count).elementsEqual(text)
    }

    /// Calls `body` with the name's bytes, escapes resolved.
    @inline(__always)
    func withDecoded<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        guard hasEscapes else { return body(UnsafeBufferPointer(start: base, count: count)) }
        return Escape.decoded(base, count: count).withUnsafeBufferPointer(body)
    }
}

/// Eight bytes of text looked at together.
///
/// Each test answers with a word whose lowest set bit lies in the first byte that meets it; bits above that one mean nothing.
enum Word {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    static func load(_ base: UnsafePointer<UInt8>, _ offset: Int) -> UInt64 {
        UnsafeRawPointer(base).loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
    }

    /// Quotes, backslashes and control characters.
    @inline(__always)
    static func escapable(_ word: UInt64) -> UInt64 {
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        let found = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word
        return found & tops
    }

    /// Everything `escapable` finds, and bytes outside ASCII.
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 { escapable(word) | word & tops }

    /// Whether two runs of `count` bytes are the same.
    @inline(__always)
    static func equal(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
        guard count >= 8 else {
            var index = 0
            while index < count {
                if left[index] != right[index] { return false }
                index += 1
            }
            return true
        }
        var index = 0
        while index + 8 <= count {
            if load(left, index) != load(right, index) { return false }
            index += 8
        }
        return load(left, count - 8) == load(right, count - 8)
    }
}
