import Glibc
internal import HearthJSON

/// Tokens, session cookies and links of mails.
extension Auth {
    // MARK: Tokens

    /// Makes a token with which a client signs in as this user (`signIn(withCustomToken:)`). It is valid for an hour.
    ///
    /// - Parameters:
    ///   - uid: the user's id, of 1 to 128 characters; a user that does not exist is created when the token is used.
    ///   - claims: claims of the session's ID tokens, of at most 1000 bytes of JSON.
    public func createCustomToken(_ uid: String, claims: JSONObject? = nil) async throws(FirebaseAuthError) -> String {
        var payload: JSONObject = ["uid": .string(uid)]
        payload["claims"] = claims.map { .object($0) }
        return try await text("createCustomToken", payload, "customToken")
    }

    /// Verifies an ID token that this host has issued.
    ///
    /// The token of a callable's caller is verified already: see ``CallableRequest/auth``. With ``tenant(_:)``, tokens of other tenants are refused.
    ///
    /// - Parameters:
    ///   - token: the token as the client has it.
    ///   - checkRevoked: whether to refuse a token whose user was disabled or deleted, or whose sessions were ended.
    /// - Throws: ``FirebaseAuthError`` with `argumentError`, `idTokenExpired`, `idTokenRevoked`, `userDisabled` or `userNotFound`.
    public func verifyIDToken(_ token: String, checkRevoked: Bool = false) async throws(FirebaseAuthError) -> DecodedToken {
        DecodedToken(try await call("verifyIdToken", ["idToken": .string(token), "checkRevoked": .bool(checkRevoked)]))
    }

    /// Exchanges an ID token for a session cookie.
    ///
    /// - Parameters:
    ///   - token: an ID token of this host.
    ///   - validFor: from 5 minutes to 14 days.
    public func createSessionCookie(_ token: String, validFor: Duration) async throws(FirebaseAuthError) -> String {
        let payload: JSONObject = ["idToken": .string(token), "validDuration": .string(String(validFor.components.seconds))]
        return try await text("createSessionCookie", payload, "sessionCookie")
    }

    /// Verifies a session cookie that this host has issued.
    ///
    /// - Parameters:
    ///   - cookie: the cookie's value.
    ///   - checkRevoked: as for ``verifyIDToken(_:checkRevoked:)``.
    public func verifySessionCookie(_ cookie: String, checkRevoked: Bool = false) async throws(FirebaseAuthError) -> DecodedToken {
        DecodedToken(try await call("verifySessionCookie", ["sessionCookie": .string(cookie), "checkRevoked": .bool(checkRevoked)]))
    }

    private func text(_ method: String, _ payload: JSONObject, _ name: String) async throws(FirebaseAuthError) -> String {
        guard let text = try await call(method, payload)[name]?.string else {
            throw FirebaseAuthError(.internalError, "The answer has no \(name).")
        }
        return text
    }

    // MARK: Links

    /// A link with which the user of this e-mail chooses a new password. Nothing is sent.
    public func generatePasswordResetLink(_ email: String, _ settings: ActionCodeSettings? = nil) async throws(FirebaseAuthError) -> String {
        try await link("PASSWORD_RESET", email, settings)
    }

    /// A link that verifies this e-mail of a user.
    public func generateEmailVerificationLink(_ email: String, _ settings: ActionCodeSettings? = nil) async throws(FirebaseAuthError) -> String {
        try await link("VERIFY_EMAIL", email, settings)
    }

    /// A link with which the owner of this e-mail signs in.
    public func generateSignInWithEmailLink(_ email: String, _ settings: ActionCodeSettings) async throws(FirebaseAuthError) -> String {
        try await link("EMAIL_SIGNIN", email, settings)
    }

    /// A link that verifies a new e-mail of a user, and changes to it.
    public func generateVerifyAndChangeEmailLink(
        _ email: String, newEmail: String, _ settings: ActionCodeSettings? = nil
    ) async throws(FirebaseAuthError) -> String {
        try await link("VERIFY_AND_CHANGE_EMAIL", email, settings, newEmail: newEmail)
    }

    private func link(
        _ type: String, _ email: String, _ settings: ActionCodeSettings?, newEmail: String? = nil
    ) async throws(FirebaseAuthError) -> String {
        var payload: JSONObject = ["requestType": .string(type), "email": .string(email), "returnOobLink": true]
        payload["newEmail"] = newEmail.map { .string($0) }
        settings?.write(to: &payload)
        return try await text("accounts:sendOobCode", payload, "oobLink")
    }
}

/// The claims of a verified ID token or session cookie.
public struct DecodedToken: Sendable, Hashable {
    /// All claims: `token.claims["admin"]?.bool`.
    public let claims: JSONValue

    init(_ claims: JSONValue) { self.claims = claims }

    /// The user's id.
    public var uid: String { claims["sub"]?.string ?? "" }
    /// The user's e-mail.
    public var email: String? { claims["email"]?.string }
    /// The user's tenant.
    public var tenantID: String? { claims["firebase"]?["tenant"]?.string }
    /// The way in which the user signed in, such as "password" or "facebook.com".
    public var signInProvider: String? { claims["firebase"]?["sign_in_provider"]?.string }
    /// The time of the sign-in, in seconds since 1970.
    public var authTime: Int64 { Int64(claims["auth_time"]?.int ?? 0) }
    /// The time at which the token expires, in seconds since 1970.
    public var expires: Int64 { Int64(claims["exp"]?.int ?? 0) }
}

/// The way on from the link of a mail.
public struct ActionCodeSettings: Sendable, Hashable {
    /// The address to continue at, whose domain must be one of `auth.authorizedDomains`.
    public var url: String
    /// Whether the app opens the link itself.
    public var handleCodeInApp: Bool
    /// The domain of the link.
    public var linkDomain: String?
    /// The bundle of the iOS app that opens the link.
    public var iOSBundleID: String?
    /// The package of the Android app that opens the link.
    public var androidPackageName: String?

    /// Settings that continue at `url`.
    public init(
        url: String, handleCodeInApp: Bool = false, linkDomain: String? = nil, iOSBundleID: String? = nil, androidPackageName: String? = nil
    ) {
        self.url = url
        self.handleCodeInApp = handleCodeInApp
        self.linkDomain = linkDomain
        self.iOSBundleID = iOSBundleID
        self.androidPackageName = androidPackageName
    }

    func write(to payload: inout JSONObject) {
        payload["continueUrl"] = .string(url)
        if handleCodeInApp { payload["canHandleCodeInApp"] = true }
        payload["linkDomain"] = linkDomain.map { .string($0) }
        payload["iOSBundleId"] = iOSBundleID.map { .string($0) }
        payload["androidPackageName"] = androidPackageName.map { .string($0) }
    }
}

/// The time of day.
enum WallTime {
    /// Seconds since 1970.
    static var seconds: Int { time(nil) }
}
