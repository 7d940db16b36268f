import HearthJSON

/// The reason why a password is not hashed.
public enum PasswordFailure: Error, Sendable {
    /// Longer than ``PasswordHasher/passwordBytesMax``.
    case tooLong
    /// No memory for the derivation.
    case noMemory
    /// The queue of ``PasswordQueue`` is full: try again later.
    case busy
}

/// The password of a user as it is stored.
public struct StoredPassword: Sendable {
    /// The text that ``PasswordHasher/hash(_:)`` made, or for an import the value of `passwordHash`.
    public var hash: String
    /// The parameters of an imported hash; nil for one of our own.
    public var imported: JSONValue?

    /// A stored password.
    public init(hash: String, imported: JSONValue? = nil) {
        self.hash = hash
        self.imported = imported
    }
}

/// The result of verifying a password.
public struct PasswordCheck: Sendable, Equatable {
    public var isRight: Bool
    /// For a right password whose hash is imported or has other parameters than today's: a hash to store instead.
    public var better: String?

    static let wrong = PasswordCheck(isRight: false)
}

/// Hashes and verifies passwords with scrypt. Every function blocks for the time of a derivation: call it through ``PasswordQueue``.
public struct PasswordHasher: Sendable {
    /// Longer passwords are refused before anything is computed.
    public static let passwordBytesMax = 4096

    private let cost: ScryptCost

    /// - Parameter cost: of new hashes; a hash with another cost is replaced at the next sign-in.
    public init(cost: ScryptCost = .standard) { self.cost = cost }

    /// A hash of `password` with a new salt.
    public func hash(_ password: String) throws(PasswordFailure) -> String {
        guard password.utf8.count <= Self.passwordBytesMax else { throw .tooLong }
        var random = SystemRandomNumberGenerator()
        let salt = (0..<ScryptHash.saltBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        guard let made = derive(Array(password.utf8), salt) else { throw .noMemory }
        return ScryptHash(cost: cost, salt: salt, hash: made).text
    }

    /// Whether `stored` has to be replaced when the password is known.
    public func needsUpgrade(_ stored: StoredPassword) -> Bool {
        guard stored.imported == nil, let own = ScryptHash(stored.hash) else { return true }
        return own.cost != cost || own.salt.count != ScryptHash.saltBytes || own.hash.count != ScryptHash.hashBytes
    }

    /// Verifies a password.
    ///
    /// A derivation with today's cost takes place in every case: for an unknown user, and after a hash that costs something else, so that the
    /// time does not tell which of them it is. A password that is too long is refused at once, for known and unknown users.
    ///
    /// - Parameter stored: nil for an unknown user, or one without a password.
    public func verify(_ password: String, _ stored: StoredPassword?) -> PasswordCheck {
        guard password.utf8.count <= Self.passwordBytesMax else { return .wrong }
        let bytes = Array(password.utf8)
        guard let stored else { return refuse(bytes) }
        if let imported = stored.imported {
            let isRight = ImportedHash(hash: stored.hash, parameters: imported)?.matches(bytes) ?? false
            return isRight ? PasswordCheck(isRight: true, better: replacement(password)) : refuse(bytes)
        }
        guard let own = ScryptHash(stored.hash) else { return refuse(bytes) }
        let made = DerivedKey.scrypt(bytes, salt: own.salt, cost: own.cost, count: own.hash.count)
        let isRight = made.map { DerivedKey.isEqual($0, own.hash) } ?? false
        guard needsUpgrade(stored) else { return PasswordCheck(isRight: isRight) }
        return isRight ? PasswordCheck(isRight: true, better: replacement(password)) : refuse(bytes)
    }

    private func replacement(_ password: String) -> String? {
        do throws(PasswordFailure) { return try hash(password) } catch { return nil }
    }

    private func refuse(_ password: [UInt8]) -> PasswordCheck {
        _ = derive(password, [UInt8](repeating: 0, count: ScryptHash.saltBytes))
        return .wrong
    }

    private func derive(_ password: [UInt8], _ salt: [UInt8]) -> [UInt8]? {
        DerivedKey.scrypt(password, salt: salt, cost: cost, count: ScryptHash.hashBytes)
    }
}
