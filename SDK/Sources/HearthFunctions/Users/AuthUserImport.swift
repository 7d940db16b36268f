internal import HearthBytes
internal import HearthJSON

/// A user to import.
public struct AuthUserImport: Sendable, Hashable {
    /// The id, of 1 to 128 characters.
    public var uid: String
    /// The e-mail.
    public var email: String?
    /// Whether the e-mail is verified.
    public var emailVerified: Bool
    /// The name for people.
    public var displayName: String?
    /// The address of a picture.
    public var photoURL: String?
    /// The phone number, such as "+15555550100".
    public var phoneNumber: String?
    /// Whether the user cannot sign in.
    public var disabled: Bool
    /// The custom claims.
    public var customClaims: JSONObject?
    /// Linked accounts of identity providers.
    public var providerData: [AuthUserInfo]
    /// The hash of the password.
    public var passwordHash: [UInt8]?
    /// The salt of the hash.
    public var passwordSalt: [UInt8]?

    /// A user; only the id is needed.
    public init(
        uid: String, email: String? = nil, emailVerified: Bool = false, displayName: String? = nil, photoURL: String? = nil,
        phoneNumber: String? = nil, disabled: Bool = false, customClaims: JSONObject? = nil, providerData: [AuthUserInfo] = [],
        passwordHash: [UInt8]? = nil, passwordSalt: [UInt8]? = nil
    ) {
        self.uid = uid
        self.email = email
        self.emailVerified = emailVerified
        self.displayName = displayName
        self.photoURL = photoURL
        self.phoneNumber = phoneNumber
        self.disabled = disabled
        self.customClaims = customClaims
        self.providerData = providerData
        self.passwordHash = passwordHash
        self.passwordSalt = passwordSalt
    }

    var fields: JSONObject {
        var fields: JSONObject = ["localId": .string(uid)]
        let texts: [(String, String?)] = [
            ("email", email), ("displayName", displayName), ("photoUrl", photoURL), ("phoneNumber", phoneNumber),
            ("customAttributes", customClaims.map { JSONValue.object($0).description }), ("passwordHash", passwordHash.map(Base64URL.text)),
            ("salt", passwordSalt.map(Base64URL.text)),
        ]
        for (name, text) in texts { fields[name] = text.map { .string($0) } }
        if emailVerified { fields["emailVerified"] = true }
        if disabled { fields["disabled"] = true }
        if !providerData.isEmpty { fields["providerUserInfo"] = .array(providerData.map(\.fields)) }
        return fields
    }
}

/// The algorithm of imported password hashes. A hash is replaced by one of the host at the user's first sign-in.
public struct AuthPasswordHash: Sendable {
    /// A message digest.
    public enum Digest: String, Sendable {
        case sha512 = "SHA512"
        case sha256 = "SHA256"
        case sha1 = "SHA1"
        case md5 = "MD5"
    }

    /// The order of password and salt.
    public enum Order: String, Sendable {
        case saltFirst = "SALT_AND_PASSWORD"
        case passwordFirst = "PASSWORD_AND_SALT"
    }

    let fields: JSONObject

    private init(_ fields: JSONObject) { self.fields = fields }

    /// Firebase's own scrypt, with the parameters that its console shows.
    public static func scrypt(key: [UInt8], saltSeparator: [UInt8] = [], rounds: Int = 8, memoryCost: Int = 14) -> AuthPasswordHash {
        AuthPasswordHash([
            "hashAlgorithm": "SCRYPT", "signerKey": .string(Base64URL.text(key)), "saltSeparator": .string(Base64URL.text(saltSeparator)),
            "rounds": JSONValue(rounds), "memoryCost": JSONValue(memoryCost),
        ])
    }

    /// The scrypt of RFC 7914. `memoryCost` is N, a power of two.
    public static func standardScrypt(memoryCost: Int, blockSize: Int, parallelization: Int, derivedKeyLength: Int) -> AuthPasswordHash {
        AuthPasswordHash([
            "hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": JSONValue(memoryCost), "blockSize": JSONValue(blockSize),
            "parallelization": JSONValue(parallelization), "dkLen": JSONValue(derivedKeyLength),
        ])
    }

    /// bcrypt; the hash is its text, which contains the salt.
    public static let bcrypt = AuthPasswordHash(["hashAlgorithm": "BCRYPT"])

    /// PBKDF2 with HMAC-SHA-256.
    public static func pbkdf2SHA256(rounds: Int) -> AuthPasswordHash {
        AuthPasswordHash(["hashAlgorithm": "PBKDF2_SHA256", "rounds": JSONValue(rounds)])
    }

    /// PBKDF2 with HMAC-SHA-1.
    public static func pbkdfSHA1(rounds: Int) -> AuthPasswordHash {
        AuthPasswordHash(["hashAlgorithm": "PBKDF_SHA1", "rounds": JSONValue(rounds)])
    }

    /// HMAC with a key.
    public static func hmac(_ digest: Digest, key: [UInt8], order: Order = .passwordFirst) -> AuthPasswordHash {
        AuthPasswordHash([
            "hashAlgorithm": .string("HMAC_\(digest.rawValue)"), "signerKey": .string(Base64URL.text(key)),
            "passwordHashOrder": .string(order.rawValue),
        ])
    }

    /// A repeated digest.
    public static func digest(_ digest: Digest, rounds: Int, order: Order = .saltFirst) -> AuthPasswordHash {
        AuthPasswordHash([
            "hashAlgorithm": .string(digest.rawValue), "rounds": JSONValue(rounds), "passwordHashOrder": .string(order.rawValue),
        ])
    }
}
