public import HearthJSON

/// A sign-in: the part of an ID token that does not come from the user's record. It lives as long as its refresh token.
public struct UserSession: Sendable, Equatable {
    public var tenant: String
    public var uid: String
    /// The method of the first factor, such as `password`.
    public var provider: String
    /// `phone` or `totp`, after a second factor.
    public var secondFactor: String?
    /// The id of the second factor that was used.
    public var secondFactorID: String?
    /// The claims of a custom token or a blocking function.
    public var claims: JSONObject = JSONObject()
    /// The attributes that the identity provider asserted.
    public var attributes: JSONObject = JSONObject()
    /// When the user signed in, in seconds since 1970.
    public var authTime: Int64

    /// A session with one factor.
    public init(tenant: String, uid: String, provider: String, authTime: Int64) {
        self.tenant = tenant
        self.uid = uid
        self.provider = provider
        self.authTime = authTime
    }

    /// The payload of an ID token.
    ///
    /// - Parameters:
    ///   - issuer: `iss`.
    ///   - now: seconds since 1970.
    public func payload(for user: UserRecord, project: String, issuer: String, now: Int64) -> JSONObject {
        var claims = JSONObject()
        claims["name"] = user.displayName.map { .string($0) }
        claims["picture"] = user.photoURL.map { .string($0) }
        if let text = user.customAttributes, let custom = (try? JSONValue(parsing: text))?.object {
            for (name, value) in custom { claims[name] = value }
        }
        for (name, value) in self.claims { claims[name] = value }
        for name in ReservedClaims.names { claims[name] = nil }
        for name in ["email", "email_verified", "phone_number", "provider_id", "user_id"] { claims[name] = nil }
        claims["iss"] = .string(issuer)
        claims["aud"] = .string(project)
        claims["auth_time"] = .int(authTime)
        claims["user_id"] = .string(user.uid)
        claims["sub"] = .string(user.uid)
        claims["iat"] = .int(now)
        claims["exp"] = .int(now + Self.tokenSeconds)
        if let email = user.email {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(user.isEmailVerified)
        }
        claims["phone_number"] = user.phone.map { .string($0) }
        if provider == "anonymous" { claims["provider_id"] = "anonymous" }
        claims["firebase"] = .object(identity(of: user))
        return claims
    }

    /// The lifetime of an ID token.
    public static let tokenSeconds: Int64 = 3600

    private func identity(of user: UserRecord) -> JSONObject {
        var identities = JSONObject()
        if let email = user.email { identities["email"] = [.string(email)] }
        for link in user.providers where link.provider != "password" && link.provider != "phone" {
            identities[link.provider] = .array((identities[link.provider]?.array ?? []) + [.string(link.rawID)])
        }
        if let phone = user.phone { identities["phone"] = [.string(phone)] }
        var object: JSONObject = ["identities": .object(identities), "sign_in_provider": .string(provider)]
        object["sign_in_second_factor"] = secondFactor.map { .string($0) }
        object["second_factor_identifier"] = secondFactorID.map { .string($0) }
        if !tenant.isEmpty { object["tenant"] = .string(tenant) }
        if !attributes.isEmpty { object["sign_in_attributes"] = .object(attributes) }
        return object
    }
}

/// Custom claims, and the names that they may not have.
public enum ReservedClaims {
    /// Set by the host alone.
    public static let names = [
        "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "nonce", "azp", "acr", "amr", "cnf", "auth_time", "firebase", "at_hash", "c_hash",
    ]

    /// Refuses claims with a reserved name.
    public static func check(_ claims: JSONObject) throws(AuthError) {
        for name in names where claims[name] != nil { throw AuthError("FORBIDDEN_CLAIM", name) }
    }

    /// Checks the text of a user's custom attributes.
    public static func check(attributes text: String) throws(AuthError) {
        guard let object = (try? JSONValue(parsing: text, limits: JSONLimits(depthMax: 64)))?.object else { throw AuthError("INVALID_CLAIMS") }
        try check(object)
        guard text.utf16.count <= 1000 else { throw AuthError("CLAIMS_TOO_LARGE") }
    }
}
