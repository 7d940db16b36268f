import HearthJSON

/// A hash of another system, as `accounts:batchCreate` takes it.
///
/// Values are in Base64 of either alphabet. `passwordHashOrder` says whether salt or password comes first; without it the order is that of the
/// Admin SDKs' own tests: password first for HMAC, salt first for plain digests.
public struct ImportedHash: Sendable {
    private let algorithm: Algorithm
    private let hash: [UInt8]
    private let salt: [UInt8]

    private enum Algorithm: Sendable {
        /// Firebase's own: the hash is `signerKey`, encrypted with the derived key.
        case signedScrypt(signerKey: [UInt8], separator: [UInt8], cost: ScryptCost)
        case scrypt(ScryptCost)
        /// The hash as text.
        case bcrypt(String)
        case pbkdf2(PasswordDigest, rounds: Int)
        case argon2(ArgonCost)
        case hmac(PasswordDigest, key: [UInt8], isSaltFirst: Bool)
        case digest(PasswordDigest, rounds: Int, isSaltFirst: Bool)
    }

    private static let valueLettersMax = 4096
    private static let digestRoundsMax = 8192
    private static let pbkdf2RoundsMax = 1_000_000
    private static let bcryptCosts = 4...15

    /// Reads a hash.
    ///
    /// - Parameters:
    ///   - hash: the field `passwordHash` of the user.
    ///   - parameters: those of the import, and `salt`.
    /// - Returns: nil if the algorithm is unknown, a value is missing or invalid, or verifying would cost too much.
    public init?(hash: String, parameters: JSONValue) {
        guard let fields = parameters.object, let bytes = Self.bytes(hash), let salt = Self.bytes(fields["salt"]) else { return nil }
        guard let algorithm = Self.algorithm(fields, bytes) else { return nil }
        self.algorithm = algorithm
        self.hash = bytes
        self.salt = salt
        guard hasPlausibleLength else { return nil }
    }

    /// Whether this is the hash of `password`. Blocks while it computes.
    public func matches(_ password: [UInt8]) -> Bool {
        guard let made = derived(password) else { return false }
        switch algorithm {
        case .digest(let digest, _, _), .hmac(let digest, _, _):
            // Some systems store the digest's hexadecimal text.
            return DerivedKey.isEqual(hash.count == digest.bytes ? made : Self.hexadecimal(made), hash)
        default: return DerivedKey.isEqual(made, hash)
        }
    }

    private func derived(_ password: [UInt8]) -> [UInt8]? {
        switch algorithm {
        case .signedScrypt(let signerKey, let separator, let cost):
            guard let key = DerivedKey.scrypt(password, salt: salt + separator, cost: cost, count: 32) else { return nil }
            return DerivedKey.aesCounter(key: key[...], signerKey)
        case .scrypt(let cost): return DerivedKey.scrypt(password, salt: salt, cost: cost, count: hash.count)
        case .bcrypt(let text): return DerivedKey.bcrypt(password, setting: text)
        case .pbkdf2(let digest, let rounds): return digest.pbkdf2(password, salt: salt, rounds: rounds, count: hash.count)
        case .argon2(let cost): return cost.hash(password, salt: salt, count: hash.count)
        case .hmac(let digest, let key, let isSaltFirst):
            return digest.hmac(key: key, isSaltFirst ? salt + password : password + salt)
        case .digest(let digest, let rounds, let isSaltFirst):
            var made = digest.digest(isSaltFirst ? salt + password : password + salt)
            for _ in 1..<max(rounds, 2) where rounds > 1 { made = made.flatMap { digest.digest($0) } }
            return made
        }
    }

    private var hasPlausibleLength: Bool {
        switch algorithm {
        case .signedScrypt(let signerKey, _, _): hash.count == signerKey.count
        case .scrypt, .pbkdf2: 16...512 ~= hash.count
        case .argon2(let cost): 16...512 ~= hash.count && (cost.hashBytes ?? hash.count) == hash.count && salt.count >= 8
        case .bcrypt: hash.count == 60
        case .hmac(let digest, _, _), .digest(let digest, _, _): hash.count == digest.bytes || hash.count == 2 * digest.bytes
        }
    }

    // MARK: Reading

    private static func algorithm(_ fields: JSONObject, _ hash: [UInt8]) -> Algorithm? {
        guard let name = fields["hashAlgorithm"]?.string else { return nil }
        switch name {
        case "SCRYPT":
            guard let signerKey = bytes(fields["signerKey"]), 16...1024 ~= signerKey.count, let separator = bytes(fields["saltSeparator"]),
                let blockSize = integer(fields["rounds"]), let logarithm = integer(fields["memoryCost"]),
                let cost = ScryptCost(logarithm: logarithm, blockSize: blockSize, parallelization: 1)
            else { return nil }
            return .signedScrypt(signerKey: signerKey, separator: separator, cost: cost)
        case "STANDARD_SCRYPT": return standardScrypt(fields, hash)
        case "BCRYPT": return bcrypt(hash)
        case "ARGON2": return ArgonCost(fields["argon2Parameters"]).map { .argon2($0) }
        case "PBKDF2_SHA256", "PBKDF_SHA1":
            guard let rounds = integer(fields["rounds"]), 0...pbkdf2RoundsMax ~= rounds else { return nil }
            return .pbkdf2(name == "PBKDF_SHA1" ? .sha1 : .sha256, rounds: max(rounds, 1))
        default:
            guard let order = order(fields["passwordHashOrder"]) else { return nil }
            if name.hasPrefix("HMAC_") {
                guard let digest = PasswordDigest(rawValue: String(name.dropFirst(5))), let key = bytes(fields["signerKey"]), !key.isEmpty
                else { return nil }
                return .hmac(digest, key: key, isSaltFirst: order == .saltFirst)
            }
            guard let digest = PasswordDigest(rawValue: name), let rounds = integer(fields["rounds"] ?? 0), 0...digestRoundsMax ~= rounds
            else { return nil }
            return .digest(digest, rounds: rounds, isSaltFirst: order != .passwordFirst)
        }
    }

    private static func standardScrypt(_ fields: JSONObject, _ hash: [UInt8]) -> Algorithm? {
        guard let iterations = integer(fields["cpuMemCost"] ?? fields["memoryCost"]), iterations > 1, iterations.nonzeroBitCount == 1,
            let blockSize = integer(fields["blockSize"]), let parallelization = integer(fields["parallelization"]),
            let cost = ScryptCost(logarithm: iterations.trailingZeroBitCount, blockSize: blockSize, parallelization: parallelization)
        else { return nil }
        if let length = fields["dkLen"], integer(length) != hash.count { return nil }
        return .scrypt(cost)
    }

    /// `$2a$10$` and 53 letters of salt and hash. The versions `2a`, `2b` and `2y` are the same for passwords in UTF-8.
    private static func bcrypt(_ hash: [UInt8]) -> Algorithm? {
        guard hash.count == 60 else { return nil }
        let text = String(decoding: hash, as: UTF8.self)
        guard ["$2a$", "$2b$", "$2y$"].contains(text.prefix(4)), hash[6] == UInt8(ascii: "$"),
            hash[4...5].allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), hash[7...].allSatisfy(isBcryptLetter)
        else { return nil }
        guard bcryptCosts ~= Int(hash[4] - UInt8(ascii: "0")) * 10 + Int(hash[5] - UInt8(ascii: "0")) else { return nil }
        return .bcrypt(text)
    }

    private static func isBcryptLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "/"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private enum Order {
        case saltFirst, passwordFirst, unspecified
    }

    private static func order(_ value: JSONValue?) -> Order? {
        switch value?.string {
        case "SALT_AND_PASSWORD", "SALT_FIRST": .saltFirst
        case "PASSWORD_AND_SALT", "PASSWORD_FIRST": .passwordFirst
        case nil, "UNSPECIFIED_ORDER": value == nil || value?.string != nil ? .unspecified : nil
        default: nil
        }
    }

    /// A number, or its decimal text, as 64-bit numbers are written in JSON.
    private static func integer(_ value: JSONValue?) -> Int? {
        value?.int ?? value?.string.flatMap { Int($0) }
    }

    /// The bytes of a value; none for a missing one, nil for an invalid one.
    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        guard let value else { return [] }
        return value.string.flatMap(bytes)
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        text.utf8.count <= valueLettersMax ? PlainBase64.anyBytes(text) : nil
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
