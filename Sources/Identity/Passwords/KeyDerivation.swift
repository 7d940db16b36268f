import CCrypt
import COpenSSL

/// A digest that imported hashes use.
enum PasswordDigest: String, CaseIterable {
    case md5 = "MD5", sha1 = "SHA1", sha256 = "SHA256", sha512 = "SHA512"

    var bytes: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }

    private var method: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        case .sha512: EVP_sha512()
        }
    }

    /// The digest; nil without memory, or if the library's policy forbids the digest.
    func digest(_ text: [UInt8]) -> [UInt8]? {
        var made = [UInt8](repeating: 0, count: bytes)
        guard EVP_Digest(text, text.count, &made, nil, method, nil) == 1 else { return DerivedKey.failed() }
        return made
    }

    /// The keyed digest (RFC 2104).
    func hmac(key: [UInt8], _ text: [UInt8]) -> [UInt8]? {
        var made = [UInt8](repeating: 0, count: bytes)
        // An empty array may have no address, which the library would take as "the key before".
        let key = key.isEmpty ? [0] : key
        guard HMAC(method, key, Int32(key.count), text, text.count, &made, nil) != nil else { return DerivedKey.failed() }
        return made
    }

    /// PBKDF2 (RFC 8018 section 5.2).
    func pbkdf2(_ password: [UInt8], salt: [UInt8], rounds: Int, count: Int) -> [UInt8]? {
        var made = [UInt8](repeating: 0, count: count)
        let result = password.withUnsafeBufferPointer { password in
            password.withMemoryRebound(to: CChar.self) {
                PKCS5_PBKDF2_HMAC($0.baseAddress, Int32($0.count), salt, Int32(salt.count), Int32(rounds), method, Int32(count), &made)
            }
        }
        return result == 1 ? made : DerivedKey.failed()
    }
}

/// Keys derived from passwords, by OpenSSL and libxcrypt.
enum DerivedKey {
    /// scrypt (RFC 7914); nil without memory.
    static func scrypt(_ password: [UInt8], salt: [UInt8], cost: ScryptCost, count: Int) -> [UInt8]? {
        var made = [UInt8](repeating: 0, count: count)
        let result = password.withUnsafeBufferPointer { password in
            password.withMemoryRebound(to: CChar.self) {
                // The library's own limit of memory is 32 MiB, a little less than the default cost needs.
                EVP_PBE_scrypt(
                    $0.baseAddress, $0.count, salt, salt.count, 1 << UInt64(cost.logarithm), UInt64(cost.blockSize),
                    UInt64(cost.parallelization), UInt64(cost.memoryBytes + 1 << 20), &made, count)
            }
        }
        return result == 1 ? made : failed()
    }

    /// AES-256 in counter mode, beginning with a counter of zero.
    static func aesCounter(key: ArraySlice<UInt8>, _ text: [UInt8]) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return failed() }
        defer { EVP_CIPHER_CTX_free(context) }
        var made = [UInt8](repeating: 0, count: text.count + 16)
        var count: Int32 = 0
        let vector = [UInt8](repeating: 0, count: 16)
        guard EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nil, Array(key), vector) == 1,
            EVP_EncryptUpdate(context, &made, &count, text, Int32(text.count)) == 1, Int(count) == text.count
        else { return failed() }
        return Array(made[..<text.count])
    }

    /// bcrypt; `setting` begins like the hash, with version, cost and salt.
    static func bcrypt(_ password: [UInt8], setting: String) -> [UInt8]? {
        // A zero would end the password for the C function: a shorter one would match.
        guard !password.contains(0) else { return nil }
        let text = (password + [0]).map { CChar(bitPattern: $0) }
        var made = [CChar](repeating: 0, count: 61)
        guard hearth_bcrypt(text, setting, &made) else { return nil }
        return made[..<60].map { UInt8(bitPattern: $0) }
    }

    /// Compares in a time that depends on the lengths only.
    static func isEqual(_ one: [UInt8], _ two: [UInt8]) -> Bool {
        one.count == two.count && !one.isEmpty && CRYPTO_memcmp(one, two, one.count) == 0
    }

    /// Leaves no error behind in the thread's queue, where TLS would find it.
    fileprivate static func failed() -> [UInt8]? {
        ERR_clear_error()
        return nil
    }
}
