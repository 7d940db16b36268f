public import HearthJSON

/// The result of a sign-in.
public struct SignedIn: Sendable {
    public var user: UserRecord
    public var isNew = false
    /// The tokens of the session; nil while a second factor is missing.
    public var tokens: IssuedTokens?
    /// The credential for the second factor; nil if none is needed.
    public var pendingCredential: String?
    /// The mails that tell of what was changed.
    public var notices: [SecurityNotice] = []
    /// The reason why a change was not told.
    public var withheldNotice: String?

    /// A result without tokens.
    public init(user: UserRecord) { self.user = user }
}

/// The tokens of a session. The ID token is not signed yet.
public struct IssuedTokens: Sendable {
    /// The payload of the ID token.
    public var payload: JSONObject
    public var refreshToken: String
}

/// The verified content of a caller's ID token.
public struct CallerToken: Sendable {
    public var uid: String
    public var tenant: String
    public var provider: String
    public var secondFactor: String?
    public var secondFactorID: String?
    /// Seconds since 1970.
    public var issued: Int64
    /// Seconds since 1970.
    public var authTime: Int64

    /// Reads the payload of a verified ID token; nil if claims are missing.
    public init?(payload: JSONObject) {
        guard let uid = payload["sub"]?.string ?? payload["user_id"]?.string else { return nil }
        self.uid = uid
        let firebase = payload["firebase"]
        tenant = firebase?["tenant"]?.string ?? ""
        provider = firebase?["sign_in_provider"]?.string ?? "custom"
        secondFactor = firebase?["sign_in_second_factor"]?.string
        secondFactorID = firebase?["second_factor_identifier"]?.string
        issued = Int64(payload["iat"]?.int ?? 0)
        authTime = Int64(payload["auth_time"]?.int ?? payload["iat"]?.int ?? 0)
    }
}

extension AccountReader {
    /// Refuses a change of sign-in data by a caller who signed in long ago. Anonymous users cannot sign in again; the token does not tell whether
    /// its user still is one.
    func requireRecent(_ token: CallerToken, _ user: UserRecord) throws(AccountFailure) {
        guard policy.isStrict, !user.isAnonymous, nowSeconds - token.authTime > Self.recentSeconds else { return }
        throw AccountFailure("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    }

    private static var recentSeconds: Int64 { 300 }

    /// Refuses a caller who may not change sign-in data: before costly work, such as hashing a password.
    public func requireRecentCaller(_ token: CallerToken, tenant: String?) throws(AccountFailure) {
        try requireRecent(token, try caller(token, tenant: tenant))
    }
}

extension AccountStore {
    /// Ends a sign-in: issues tokens, or a credential for the second factor if the user has one.
    ///
    /// - Parameter user: stored again, with its times.
    func finish(
        _ user: UserRecord, isNew: Bool = false, provider: String, claims: JSONObject = JSONObject(), attributes: JSONObject = JSONObject()
    ) throws(AccountFailure) -> SignedIn {
        let rules = try rules(of: user.tenant)
        var result = SignedIn(user: user)
        result.isNew = isNew
        if rules.usesSecondFactors, !user.isDisabled, !user.factors.isEmpty, provider != "custom", provider != "anonymous", provider != "phone" {
            var content: JSONObject = ["provider": .string(provider), "claims": .object(claims), "attributes": .object(attributes)]
            // A link by e-mail has the provider of passwords.
            content["method"] = pass?.method.map { .string($0) }
            result.pendingCredential = try addProof(
                .secondFactor, tenant: user.tenant, uid: user.uid, content: .object(content),
                seconds: policy.isStrict ? 600 : 86_400)
            // The times of a sign-in are those of its end; what the first factor has changed stays, such as a better hash.
            try put(user)
            return result
        }
        var session = UserSession(tenant: user.tenant, uid: user.uid, provider: provider, authTime: nowSeconds)
        session.claims = claims
        session.attributes = attributes
        let more = try decideSignIn(&result.user, isNew: isNew, method: provider, attributes: attributes)
        for (name, value) in more { session.claims[name] = value }
        try begin(session, &result)
        return result
    }

    /// Issues new tokens for a caller whose way to sign in has changed. A second factor stays; claims of a custom token do not, since those that an
    /// administrator has removed meanwhile look the same.
    func goOn(_ user: UserRecord, _ token: CallerToken, provider: String? = nil) throws(AccountFailure) -> SignedIn {
        // A change is no sign-in: it must not make an old token a recent one. The session is younger than what the change has revoked.
        let authTime = policy.isStrict ? max(token.authTime, user.validSinceSeconds ?? 0) : nowSeconds
        var session = UserSession(tenant: user.tenant, uid: user.uid, provider: provider ?? token.provider, authTime: authTime)
        session.secondFactor = token.secondFactor
        session.secondFactorID = token.secondFactorID
        var result = SignedIn(user: user)
        try begin(session, &result)
        return result
    }

    /// Notes the time of a sign-in, and issues its tokens.
    func begin(_ session: UserSession, _ result: inout SignedIn) throws(AccountFailure) {
        let now = now
        try endWrongTime(of: &result.user)
        result.user.lastLogin = now
        result.user.lastRefresh = now
        try put(result.user)
        result.tokens = try issue(session, for: result.user)
    }
}

extension AccountReader {
    /// The user of an ID token, if the token is still valid.
    ///
    /// - Parameter tenant: the tenant that the request names; nil if it names none.
    public func caller(_ token: CallerToken, tenant: String? = nil) throws(AccountFailure) -> UserRecord {
        if let tenant, tenant != token.tenant { throw AccountFailure("TENANT_ID_MISMATCH") }
        guard let user = try user(token.uid, tenant: token.tenant) else { throw AccountFailure("USER_NOT_FOUND") }
        if user.isDisabled { throw AccountFailure("USER_DISABLED") }
        if let limit = user.validSinceSeconds, token.issued < limit || policy.isStrict && token.authTime < limit {
            throw AccountFailure("TOKEN_EXPIRED")
        }
        return user
    }
}
