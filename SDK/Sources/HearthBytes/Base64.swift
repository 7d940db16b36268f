/// Bytes as 64 letters (RFC 4648 section 4), padded to groups of four.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The letters for `bytes`.
    public static func text(_ bytes: [UInt8]) -> String {
        var letters = encoded(bytes, alphabet)
        while letters.count % 4 != 0 { letters.append(UInt8(ascii: "=")) }
        return String(decoding: letters, as: UTF8.self)
    }

    /// Without padding.
    fileprivate static func encoded(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
        var letters: [UInt8] = []
        letters.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                letters.append(alphabet[Int(bits >> bitCount & 63)])
            }
        }
        if bitCount > 0 { letters.append(alphabet[Int(bits << (6 - bitCount) & 63)]) }
        return letters
    }
}

/// Bytes as 64 letters that may stand in an address (RFC 4648 section 5), without padding, the way JSON Web Tokens use them (RFC
/// 7515 section 2).
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each letter; 64 for other bytes.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// The letters for `bytes`.
    public static func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encoded(bytes, alphabet), as: UTF8.self) }

    /// The bytes that `text` stands for; nil where it is not the one way to write them.
    public static func bytes(_ text: String) -> [UInt8]? { bytes(Array(text.utf8)[...]) }

    /// The bytes that `text` stands for; nil where it is not the one way to write them.
    ///
    /// Strict, so that a token has one spelling only: bits that would be dropped must be zero. Otherwise a consumed token could
    /// be presented again with another last letter.
    public static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for letter in text {
            let value = values[Int(letter)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        }
        guard bits & (1 << bitCount - 1) == 0 else { return nil }
        return bytes
    }
}
