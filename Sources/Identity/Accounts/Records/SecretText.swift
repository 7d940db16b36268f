import Crypto
import HearthBytes

/// Random texts and their hashes: the store keeps only the hash of a text that proves something.
public enum SecretText {
    static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// A random text of letters, digits, `-` and `_`.
    public static func letters(_ count: Int) -> String {
        String(Base64URL.text(bytes((count * 3 + 3) / 4)).prefix(count))
    }

    /// A random id of 28 letters and digits, as for users and second factors.
    public static func identifier(_ count: Int = 28) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var generator = SystemRandomNumberGenerator()
        return String(decoding: (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }, as: UTF8.self)
    }

    /// A random number of six digits.
    static func code() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(Int.random(in: 0...999_999, using: &generator))
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The key of a secret text in the store.
    static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }

    /// Compares two texts in a time that does not depend on where they differ.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let right = Array(right.utf8)
        return Array(left.utf8).span.equalsInConstantTime(right)
    }
}
