/// RFC 4648 section 5 without padding, the way JSON Web Tokens use it (RFC 7515 section 2).
enum Base64URL {
    /// The bytes that `text` stands for; nil where it is not the one way to write them.
    ///
    /// Strict, so that a token has one spelling only: bits that would be dropped must be zero. Otherwise a consumed token could
    /// be presented again with another last letter.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for character in text {
            let value = values[Int(character)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
        }
        guard bits & (1 << UInt32(bitCount) - 1) == 0 else { return nil }
        return bytes
    }

    /// The value of each character, 64 for what is none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (value, character) in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()
}
