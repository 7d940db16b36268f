import Accounts
import Authentication
import COpenSSL
import HearthBytes

/// Hashes of passwords: scrypt, in the PHC format.
enum PasswordHash {
    private static let (logN, r, p): (UInt64, UInt64, UInt64) = (15, 8, 1)

    static func make(_ password: String) -> String {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let hash = scrypt(password, salt, logN, r, p) ?? []
        return "$scrypt$ln=\(logN),r=\(r),p=\(p)$\(Base64URL.text(salt))$\(Base64URL.text(hash))"
    }

    /// Verifies the password of a user; takes as long without one.
    static func verify(_ password: String, _ user: UserRecord?) -> PasswordVerdict {
        guard let stored = user?.passwordHash, user?.importedHash == nil else {
            _ = scrypt(password, Array(repeating: 0, count: 16), logN, r, p)
            return PasswordVerdict(isRight: false)
        }
        let parts = stored.split(separator: "$").map(String.init)
        guard parts.count == 4, parts[0] == "scrypt", let salt = Base64URL.bytes(parts[2]), let expected = Base64URL.bytes(parts[3]),
            let hash = scrypt(password, salt, logN, r, p)
        else { return PasswordVerdict(isRight: false) }
        return PasswordVerdict(isRight: hash.span.equalsInConstantTime(expected))
    }

    private static func scrypt(_ password: String, _ salt: [UInt8], _ logN: UInt64, _ r: UInt64, _ p: UInt64) -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: 32)
        let text = Array(password.utf8)
        let isMade = text.withUnsafeBytes { text in
            EVP_PBE_scrypt(text.baseAddress, text.count, salt, salt.count, 1 << logN, r, p, 64 << 20, &hash, hash.count) == 1
        }
        return isMade ? hash : nil
    }
}
