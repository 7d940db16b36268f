import Crypto
import HearthBytes
import HearthJSON
import SQLite

/// Sessions and their refresh tokens.
extension AccountStore {
    /// The time in which a used refresh token gives the same successor again, for answers that were lost and pages that refresh at once.
    private static var graceMilliseconds: Int64 { 60_000 }

    /// The difference between two readings of the clock that is no sign of a wrong one: clocks are set back a little now and then.
    private static var wrongClockSeconds: Int64 { 60 }

    /// Stores a session, and makes its tokens.
    func issue(_ session: UserSession, for user: UserRecord) throws(AccountFailure) -> IssuedTokens {
        let token = "rt1.\(SecretText.letters(43))"
        try add(session, token: token, family: SecretText.hash(token))
        return IssuedTokens(payload: payload(session, user), refreshToken: token)
    }

    private func payload(_ session: UserSession, _ user: UserRecord) -> JSONObject {
        session.payload(for: user, project: policy.project, issuer: policy.issuer, now: nowSeconds)
    }

    private func add(_ session: UserSession, token: String, family: [UInt8]) throws(AccountFailure) {
        try run(
            "INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, NULL)",
            .blob(SecretText.hash(token)), .blob(family), .text(session.tenant), .text(session.uid), .text(session.provider),
            .optional(session.secondFactor), .optional(session.secondFactorID),
            session.claims.isEmpty ? .null : .text(JSONValue.object(session.claims).text),
            session.attributes.isEmpty ? .null : .text(JSONValue.object(session.attributes).text), .integer(session.authTime), .integer(now))
    }

    private struct Row {
        var session: UserSession
        var family: [UInt8]
        var created: Int64
        var used: Int64
        var isUsed: Bool

        init?(_ row: Statement) {
            session = UserSession(
                tenant: row.text(at: 1), uid: row.text(at: 2), provider: row.text(at: 3), authTime: row.integer(at: 8))
            if case .text(let factor) = row.value(at: 4) { session.secondFactor = factor }
            if case .text(let id) = row.value(at: 5) { session.secondFactorID = id }
            session.claims = (try? JSONValue(parsing: row.text(at: 6)))?.object ?? JSONObject()
            session.attributes = (try? JSONValue(parsing: row.text(at: 7)))?.object ?? JSONObject()
            family = [UInt8](row.bytes(at: 0))
            created = row.integer(at: 9)
            used = row.integer(at: 10)
            isUsed = row.integer(at: 11) != 0
        }
    }

    /// Exchanges a refresh token for new tokens.
    public func refresh(_ token: String) throws(AccountFailure) -> SignedIn {
        let hash = SecretText.hash(token)
        let row = try first(
            """
            SELECT family, tenant, uid, provider, factor, factorID, claims, attributes, authTime, created, used, successor IS NOT NULL
            FROM session WHERE hash = ?1
            """, .blob(hash), convert: Row.init)
        guard let row, var user = try user(row.session.uid, tenant: row.session.tenant) else { throw AccountFailure("INVALID_REFRESH_TOKEN") }
        if try rules(of: user.tenant).isDisabled { throw AccountFailure("PROJECT_DISABLED") }
        if user.isDisabled { throw AccountFailure("USER_DISABLED") }
        if policy.isStrict, let limit = user.validSinceSeconds, min(row.created / 1000, row.session.authTime) < limit {
            throw AccountFailure("TOKEN_EXPIRED")
        }
        // The clock was wrong when this session began. Its tokens would be refused until that time, so the user signs in again.
        guard row.session.authTime <= nowSeconds + Self.wrongClockSeconds else { throw AccountFailure("TOKEN_EXPIRED") }
        if row.isUsed, abs(now - row.used) > Self.graceMilliseconds {
            // A token that was replaced may be stolen, so the whole session ends.
            try run("DELETE FROM session WHERE family = ?1", .blob(row.family))
            throw .counted(AuthError("TOKEN_EXPIRED"))
        }
        user.lastRefresh = now
        try put(user)
        var result = SignedIn(user: user)
        let next = policy.isStrict ? try successor(of: token, row) : token
        var session = row.session
        session.authTime = min(session.authTime, nowSeconds)
        result.tokens = IssuedTokens(payload: payload(session, user), refreshToken: next)
        return result
    }

    /// The successor of a refresh token: always the same, so that it need not be stored.
    private func successor(of token: String, _ row: Row) throws(AccountFailure) -> String {
        let key = SymmetricKey(data: try secret("refresh"))
        let next = "rt1.\(Base64URL.text(Array(HMAC<SHA256>.authenticationCode(for: Array(token.utf8), using: key))))"
        guard !row.isUsed else { return next }
        try run(
            "UPDATE session SET used = ?2, successor = ?3 WHERE hash = ?1", .blob(SecretText.hash(token)), .integer(now),
            .blob(SecretText.hash(next)))
        try add(row.session, token: next, family: row.family)
        try run(
            """
            DELETE FROM session WHERE hash IN (
                SELECT hash FROM session WHERE family = ?1 AND successor IS NOT NULL ORDER BY used DESC LIMIT -1 OFFSET ?2)
            """, .blob(row.family), .integer(Self.usedTokensMax))
        return next
    }

    /// The used tokens of a session that are known, so that a stolen one ends the session: those of a week with one each hour, and some more. A
    /// client that refreshes without a pause does not fill the disk; its older tokens are refused as unknown ones.
    static var usedTokensMax: Int64 { 200 }

    /// Ends all sessions of a user. Nothing changes for unexpired ID tokens unless `validSince` is set too.
    func endSessions(of user: UserRecord) throws(AccountFailure) {
        guard policy.isStrict else { return }
        try run("DELETE FROM session WHERE tenant = ?1 AND uid = ?2", .text(user.tenant), .text(user.uid))
    }

    /// Ends a revocation at a time that has not come yet, because the clock was wrong: a user who signs in now would be refused until then. Tokens
    /// that were revoked stay so. The caller stores the user.
    func endWrongTime(of user: inout UserRecord) throws(AccountFailure) {
        guard let limit = user.validSinceSeconds, limit > nowSeconds else { return }
        if policy.isStrict {
            try run(
                "DELETE FROM session WHERE tenant = ?1 AND uid = ?2 AND min(created / 1000, authTime) < ?3", .text(user.tenant), .text(user.uid),
                .integer(limit))
        }
        user.validSinceSeconds = nowSeconds
    }

    /// Makes tokens that were issued before invalid.
    ///
    /// - Parameter withThisSecond: whether those of the running second end too, which times in seconds do not tell from later ones. For operations
    ///   that issue no tokens; a sign-in in the same second sets the limit back.
    func revokeTokens(of user: inout UserRecord, withThisSecond: Bool = false) throws(AccountFailure) {
        user.validSinceSeconds = nowSeconds + (withThisSecond && policy.isStrict ? 1 : 0)
        try endSessions(of: user)
        try removeSecrets(of: user)
    }
}
