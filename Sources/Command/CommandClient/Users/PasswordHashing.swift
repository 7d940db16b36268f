public import HearthJSON
import HearthBytes

/// The algorithm of the password hashes in a file, and its parameters, as the options of the Firebase tools name them.
public struct PasswordHashing: Sendable, Hashable {
    /// The algorithms that a host verifies.
    public enum Algorithm: String, Sendable, CaseIterable {
        case SCRYPT, STANDARD_SCRYPT, BCRYPT, ARGON2, PBKDF2_SHA256, PBKDF_SHA1, HMAC_SHA512, HMAC_SHA256, HMAC_SHA1, HMAC_MD5
        case SHA512, SHA256, SHA1, MD5
    }

    /// The variants of Argon2.
    public enum ArgonKind: String, Sendable, CaseIterable {
        case ID, I, D
    }

    public var algorithm: Algorithm
    /// The key of HMAC or of Firebase's scrypt, in Base64.
    public var key: String?
    /// In Base64.
    public var saltSeparator: String?
    public var rounds: Int?
    public var memoryCost: Int?
    public var blockSize: Int?
    public var parallelization: Int?
    public var derivedKeyLength: Int?
    /// The variant of Argon2; nil for `ID`.
    public var argonKind: ArgonKind?
    /// Whether the salt comes before the password; nil for the algorithm's usual order.
    public var isSaltFirst: Bool?

    /// An algorithm without parameters.
    public init(_ algorithm: Algorithm) { self.algorithm = algorithm }

    /// The reason why the parameters do not fit the algorithm, with the options' names; nil if they do.
    public var fault: String? {
        let name = algorithm.rawValue
        func needs(_ option: String, _ value: Int?, _ range: ClosedRange<Int>) -> String? {
            guard let value, range.contains(value) else { return "\(name) needs \(option), from \(range.lowerBound) to \(range.upperBound)" }
            return nil
        }
        if let saltSeparator, FileBase64.normal(saltSeparator) == nil { return "--salt-separator must be in Base64" }
        if let key, !key.isEmpty {
            // The word KEY of an example is Base64 by accident: it is refused for its length, because no password would match.
            guard let bytes = FileBase64.bytes(key) else { return "--hash-key must be in Base64" }
            let least = algorithm == .SCRYPT ? Self.signerKeyBytesMin : Self.keyBytesMin
            guard bytes.count >= least else { return "--hash-key has \(bytes.count) bytes; a key of \(name) has at least \(least)" }
        }
        switch algorithm {
        case .BCRYPT: return nil
        case .SCRYPT:
            if key?.isEmpty != false { return "\(name) needs --hash-key, the signer key in Base64" }
            return needs("--rounds", rounds, 1...8) ?? needs("--mem-cost", memoryCost, 1...14)
        case .STANDARD_SCRYPT:
            if let fault = needs("--mem-cost", memoryCost, 2...(1 << 20)) { return fault }
            guard let cost = memoryCost, cost.nonzeroBitCount == 1 else { return "\(name) needs a power of two as --mem-cost" }
            return needs("--block-size", blockSize, 1...32) ?? needs("--parallelization", parallelization, 1...16)
                ?? (derivedKeyLength == nil ? nil : needs("--dk-len", derivedKeyLength, 16...512))
        case .ARGON2:
            return needs("--rounds", rounds, 1...10_000) ?? needs("--mem-cost", memoryCost, 8...(128 << 10))
                ?? needs("--parallelization", parallelization, 1...16)
                ?? (derivedKeyLength == nil ? nil : needs("--dk-len", derivedKeyLength, 16...512))
        case .PBKDF2_SHA256, .PBKDF_SHA1: return needs("--rounds", rounds, 0...1_000_000)
        case .HMAC_SHA512, .HMAC_SHA256, .HMAC_SHA1, .HMAC_MD5:
            return key?.isEmpty != false ? "\(name) needs --hash-key, the key in Base64" : nil
        case .SHA512, .SHA256, .SHA1: return needs("--rounds", rounds, 1...8192)
        case .MD5: return needs("--rounds", rounds, 0...8192)
        }
    }

    private static let signerKeyBytesMin = 16
    private static let keyBytesMin = 8

    /// The fields of a request, and of `passwordHashParameters` in a file.
    public var fields: JSONObject {
        if algorithm == .ARGON2 { return ["hashAlgorithm": .string(algorithm.rawValue), "argon2Parameters": .object(argonFields)] }
        var fields: JSONObject = ["hashAlgorithm": .string(algorithm.rawValue)]
        fields["signerKey"] = key.map { .string($0) }
        fields["saltSeparator"] = saltSeparator.map { .string($0) }
        fields["rounds"] = rounds.map { JSONValue($0) }
        fields[algorithm == .STANDARD_SCRYPT ? "cpuMemCost" : "memoryCost"] = memoryCost.map { JSONValue($0) }
        fields["blockSize"] = blockSize.map { JSONValue($0) }
        fields["parallelization"] = parallelization.map { JSONValue($0) }
        fields["dkLen"] = derivedKeyLength.map { JSONValue($0) }
        fields["passwordHashOrder"] = isSaltFirst.map { $0 ? "SALT_AND_PASSWORD" : "PASSWORD_AND_SALT" }
        return fields
    }

    private var argonFields: JSONObject {
        var fields: JSONObject = ["hashType": .string("ARGON2_\((argonKind ?? .ID).rawValue)"), "version": "VERSION_13"]
        fields["iterations"] = rounds.map { JSONValue($0) }
        fields["memoryCostKib"] = memoryCost.map { JSONValue($0) }
        fields["parallelism"] = parallelization.map { JSONValue($0) }
        fields["hashLengthBytes"] = derivedKeyLength.map { JSONValue($0) }
        return fields
    }

    /// The options with which a file with such hashes is imported.
    public var options: String {
        let pairs: [(String, Int?)] = [
            ("--rounds", rounds), ("--mem-cost", memoryCost), ("--block-size", blockSize), ("--parallelization", parallelization),
            ("--dk-len", derivedKeyLength),
        ]
        return (["--hash-algo \(algorithm.rawValue)"] + pairs.compactMap { name, value in value.map { "\(name) \($0)" } }).joined(separator: " ")
    }
}

/// The password of an exported user, as a host gives it.
struct ExportedPassword: Equatable {
    /// In Base64 with the letters `+` and `/`.
    var hash: String
    var salt: String
    /// The members of `passwordHashParameters`.
    var parameters: JSONObject

    /// The parameters of a hash by scrypt of RFC 7914, of which a host makes its own; nil for another algorithm.
    var scrypt: PasswordHashing? {
        guard parameters["hashAlgorithm"]?.string == PasswordHashing.Algorithm.STANDARD_SCRYPT.rawValue else { return nil }
        func number(_ name: String) -> Int? { parameters[name]?.int ?? parameters[name]?.string.flatMap { Int($0) } }
        var hashing = PasswordHashing(.STANDARD_SCRYPT)
        hashing.memoryCost = number("cpuMemCost") ?? number("memoryCost")
        hashing.blockSize = number("blockSize")
        hashing.parallelization = number("parallelization")
        // An import may have left out the length, which the hash itself has.
        hashing.derivedKeyLength = FileBase64.bytes(hash)?.count
        return hashing.fault == nil ? hashing : nil
    }

    /// Nil if the user has no password, or one of an unknown form.
    init?(of user: JSONObject) {
        guard let text = user["passwordHash"]?.string, !text.isEmpty else { return nil }
        if let parameters = user["passwordHashParameters"]?.object {
            guard let hash = FileBase64.normal(text), let salt = FileBase64.normal(user["salt"]?.string ?? "") else { return nil }
            (self.hash, self.salt, self.parameters) = (hash, salt, parameters)
            return
        }
        guard let bytes = FileBase64.bytes(text), let own = Self.parsed(String(decoding: bytes, as: UTF8.self)) else { return nil }
        self = own
    }

    private init(hash: String, salt: String, parameters: JSONObject) { (self.hash, self.salt, self.parameters) = (hash, salt, parameters) }

    /// Parses `$scrypt$ln=15,r=8,p=1$SALT$HASH`, the PHC string format.
    private static func parsed(_ text: String) -> ExportedPassword? {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt", let hash = FileBase64.bytes(parts[4]),
            let salt = FileBase64.normal(parts[3])
        else { return nil }
        var numbers: [String: Int] = [:]
        for pair in parts[2].split(separator: ",") {
            let sides = pair.split(separator: "=")
            guard sides.count == 2, let number = Int(sides[1]) else { return nil }
            numbers[String(sides[0])] = number
        }
        guard let logarithm = numbers["ln"], 1...20 ~= logarithm else { return nil }
        var hashing = PasswordHashing(.STANDARD_SCRYPT)
        hashing.memoryCost = 1 << logarithm
        hashing.blockSize = numbers["r"]
        hashing.parallelization = numbers["p"]
        hashing.derivedKeyLength = hash.count
        return ExportedPassword(hash: Base64.text(hash), salt: salt, parameters: hashing.fields)
    }
}

/// Base64 of files: either alphabet, padded or not.
enum FileBase64 {
    /// The decoded bytes; nil if the text is not Base64.
    static func bytes(_ text: String) -> [UInt8]? {
        var letters = Array(text.utf8)
        while letters.last == UInt8(ascii: "=") { letters.removeLast() }
        guard letters.count + 2 >= text.utf8.count else { return nil }
        for index in letters.indices {
            switch letters[index] {
            case UInt8(ascii: "+"): letters[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): letters[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return Base64URL.bytes(letters[...])
    }

    /// The text with the letters `+` and `/`, padded; nil if it is not Base64.
    static func normal(_ text: String) -> String? { bytes(text).map { Base64.text($0) } }
}
