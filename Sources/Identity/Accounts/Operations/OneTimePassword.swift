import Crypto

/// One-time codes of authenticator programs (RFC 6238): SHA-1, six digits, 30 seconds.
public enum OneTimePassword {
    /// The duration of a code.
    public static let stepSeconds: Int64 = 30

    /// The code of a time step.
    public static func code(secret: [UInt8], step: Int64) -> String {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * $0)) }
        let digest = Array(HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: secret)))
        let offset = Int(digest[19] & 15)
        let number = digest[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The time step of a valid code; nil if it is not valid now.
    ///
    /// - Parameters:
    ///   - adjacent: time steps before and after the current one that count too.
    ///   - lastStep: the step of the last accepted code, since each is valid once. One that no code of now can have reached is of a clock that was
    ///     wrong, and counts nothing: otherwise no code would be accepted until that time.
    static func step(of code: String, secret: [UInt8], nowSeconds: Int64, adjacent: Int64, lastStep: Int64) -> Int64? {
        let current = nowSeconds / stepSeconds
        let last = current + adjacent
        let first = max(current - adjacent, lastStep > last ? 0 : lastStep + 1, 0)
        guard first <= last else { return nil }
        var found: Int64?
        for step in first...last where SecretText.areEqual(Self.code(secret: secret, step: step), code) { found = step }
        return found
    }

    /// The base32 form of a secret (RFC 4648 section 6), without padding.
    public static func base32(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        var letters: [UInt8] = []
        var bits = 0
        var bitCount = 0
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xFFFF
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                letters.append(alphabet[bits >> bitCount & 31])
            }
        }
        if bitCount > 0 { letters.append(alphabet[bits << (5 - bitCount) & 31]) }
        return String(decoding: letters, as: UTF8.self)
    }
}
