import HearthJSON
import SQLite

/// Secrets that prove something for a moment: pending credentials, temporary proofs, sessions of enrolments. And credentials that may be used once.
extension AccountStore {
    /// Stores a proof, and returns its secret.
    func addProof(_ kind: ProofKind, tenant: String, uid: String?, content: JSONValue, seconds: Int64) throws(AccountFailure) -> String {
        try addProof(kind, tenant: tenant, uid: uid, content: content, ends: now + seconds * 1000)
    }

    /// Stores a proof that ends at a time, in milliseconds since 1970: a proof that is made of another one must not outlive it.
    func addProof(_ kind: ProofKind, tenant: String, uid: String?, content: JSONValue, ends: Int64) throws(AccountFailure) -> String {
        let secret = SecretText.letters(64)
        try run(
            "INSERT INTO proof VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)", .blob(SecretText.hash(secret)), .text(kind.rawValue), .text(tenant),
            .optional(uid), .text(content.text), .integer(ends))
        return secret
    }

    func removeProof(_ secret: String) throws(AccountFailure) {
        try run("DELETE FROM proof WHERE hash = ?1", .blob(SecretText.hash(secret)))
    }

    /// Counts a wrong code for a proof, which ends after five.
    func countAttempt(ofProof secret: String, _ proof: Proof) throws(AccountFailure) {
        guard policy.isStrict else { return }
        if proof.attempts + 1 >= Self.attemptsMax { return try removeProof(secret) }
        try run("UPDATE proof SET attempts = attempts + 1 WHERE hash = ?1", .blob(SecretText.hash(secret)))
    }

    static var attemptsMax: Int { 5 }

    /// Marks a credential as used.
    ///
    /// - Parameters:
    ///   - key: identifies the credential.
    ///   - expires: when it expires by itself, in seconds since 1970.
    /// - Returns: false if it was used before.
    public func useOnce(_ key: String, expires: Int64) throws(AccountFailure) -> Bool {
        let hash = SecretText.hash(key)
        return try run("INSERT OR IGNORE INTO replay VALUES (?1, ?2)", .blob(hash), .integer(expires * 1000)) > 0
    }

    /// Removes a part of the expired rows.
    ///
    /// - Returns: whether there may be more.
    func removeExpired() throws(AccountFailure) -> Bool {
        var isBehind = false
        let limit = 500
        let old = now - 7 * 86_400_000
        for (table, column, time) in [
            ("code", "expires", now - 86_400_000), ("message", "expires", now), ("proof", "expires", now), ("replay", "expires", now),
        ] {
            let sql = "DELETE FROM \(table) WHERE hash IN (SELECT hash FROM \(table) WHERE \(column) < ?1 LIMIT \(limit))"
            if try run(sql, .integer(time)) == limit { isBehind = true }
        }
        // No count is as long as two days: one that ends later is of a clock that was wrong.
        for range in ["ends < ?1", "ends > ?1 + 172800000"] {
            let sql = "DELETE FROM attempt WHERE key IN (SELECT key FROM attempt WHERE \(range) LIMIT \(limit))"
            if try run(sql, .integer(now)) == limit { isBehind = true }
        }
        // As with counts, one of a later time is of a clock that was wrong.
        try run(
            "DELETE FROM notice WHERE created < ?1 OR created > ?2", .integer(now - Self.noticeLifeMilliseconds),
            .integer(now + Self.noticeLifeMilliseconds))
        let sessions =
            "DELETE FROM session WHERE hash IN (SELECT hash FROM session WHERE successor IS NOT NULL AND used < ?1 LIMIT \(limit))"
        if try run(sessions, .integer(old)) == limit { isBehind = true }
        return isBehind
    }
}

extension AccountReader {
    /// The kinds of proofs. A proof of one kind is never accepted for another.
    enum ProofKind: String {
        /// The first factor was right, the second is missing.
        case secondFactor
        /// An identity provider's assertion, for another attempt.
        case assertion
        /// The caller has a phone number that belongs to another user.
        case phone
        /// A secret of one-time codes that is being enrolled.
        case enrolment
    }

    struct Proof {
        var tenant: String
        var uid: String?
        var content: JSONValue
        var attempts: Int
        /// Milliseconds since 1970.
        var expires: Int64
    }

    /// The proof of a secret; nil if there is none, or it has expired.
    func proof(_ kind: ProofKind, _ secret: String) throws(AccountFailure) -> Proof? {
        try first(
            "SELECT tenant, uid, content, attempts, expires FROM proof WHERE hash = ?1 AND kind = ?2 AND expires > ?3",
            .blob(SecretText.hash(secret)), .text(kind.rawValue), .integer(now)
        ) { row in
            guard let content = try? JSONValue(parsing: row.text(at: 2)) else { return nil }
            var uid: String?
            if case .text(let text) = row.value(at: 1) { uid = text }
            return Proof(
                tenant: row.text(at: 0), uid: uid, content: content, attempts: Int(row.integer(at: 3)), expires: row.integer(at: 4))
        }
    }
}
