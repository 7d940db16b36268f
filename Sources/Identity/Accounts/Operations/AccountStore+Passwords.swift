import HearthJSON
import SQLite

/// Signing in with a password. The hash is verified between the two operations, on another thread.
extension AccountStore {
    /// Counts a wrong password, or an unknown e-mail.
    public func passwordFailed(email: String, tenant: String, address: String) throws(AccountFailure) {
        try requireUnlocked(email: email, tenant: tenant, address: address)
        guard policy.isStrict else { return }
        try countFailure("password \(tenant) \(email)", seconds: policy.windowSeconds)
        try countFailure("address \(address)", seconds: policy.windowSeconds)
    }

    /// Signs in a user whose password was right.
    ///
    /// - Parameters:
    ///   - hash: the hash that was verified: it may have changed meanwhile.
    ///   - better: a hash with current parameters, if the old one is outdated.
    public func passwordSucceeded(
        _ uid: String, hash: String, better: String?, email: String, tenant: String, address: String
    ) throws(AccountFailure) -> SignedIn {
        // Guesses that were made at the same time may have locked the account meanwhile.
        try requireUnlocked(email: email, tenant: tenant, address: address)
        guard var user = try user(uid, tenant: tenant), user.passwordHash == hash else { throw AccountFailure("INVALID_LOGIN_CREDENTIALS") }
        if user.isDisabled { throw AccountFailure("USER_DISABLED") }
        if let better {
            user.passwordHash = better
            user.importedHash = nil
        }
        try forgetFailures("password \(tenant) \(email)")
        return try finish(user, provider: "password")
    }

    // MARK: Failed attempts

    /// - Parameter seconds: the time of counting.
    func countFailure(_ key: String, seconds: Int64) throws(AccountFailure) {
        try run(
            """
            INSERT INTO attempt VALUES (?1, 1, ?3) ON CONFLICT DO UPDATE SET
            count = CASE WHEN ends > ?2 AND ends <= ?3 THEN count + 1 ELSE 1 END,
            ends = CASE WHEN ends > ?2 AND ends <= ?3 THEN ends ELSE excluded.ends END
            """, .text(key), .integer(now), .integer(now + seconds * 1000))
    }

    func forgetFailures(_ key: String) throws(AccountFailure) { try run("DELETE FROM attempt WHERE key = ?1", .text(key)) }
}

/// The part of that which only reads.
extension AccountReader {
    /// Finds the user of an e-mail, if there were not too many failed attempts.
    ///
    /// - Parameter address: the client's address.
    /// - Returns: the user, and whether hashes of users differ in their cost, so that the time of a refusal could tell who has an account.
    public func passwordUser(
        email: String, tenant: String, address: String
    ) throws(AccountFailure) -> (user: UserRecord?, hasForeignHashes: Bool) {
        try requireUnlocked(email: email, tenant: tenant, address: address)
        return (try user(email: email, tenant: tenant), try hasForeignHashes())
    }

    /// Refuses an account or an address with too many failed attempts.
    func requireUnlocked(email: String, tenant: String, address: String) throws(AccountFailure) {
        guard policy.isStrict else { return }
        let ofAccount = try failures("password \(tenant) \(email)", seconds: policy.windowSeconds)
        let ofAddress = try failures("address \(address)", seconds: policy.windowSeconds)
        if ofAccount >= policy.failuresMax || ofAddress >= policy.failuresPerAddressMax {
            throw .refused(Self.tooManyAttempts)
        }
    }

    private static var tooManyAttempts: AuthError {
        AuthError(
            "TOO_MANY_ATTEMPTS_TRY_LATER",
            "Access to this account has been temporarily disabled due to many failed login attempts. You can immediately restore it by "
                + "resetting your password or you can try again later.")
    }

    /// The attempts that are counted at present.
    ///
    /// - Parameter seconds: the time of counting. A count that ends later is of a clock that was wrong, and locks nobody out.
    func failures(_ key: String, seconds: Int64) throws(AccountFailure) -> Int {
        try first(
            "SELECT count FROM attempt WHERE key = ?1 AND ends > ?2 AND ends <= ?3", .text(key), .integer(now), .integer(now + seconds * 1000)
        ) { Int($0.integer(at: 0)) } ?? 0
    }
}
