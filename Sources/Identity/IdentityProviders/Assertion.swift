public import HearthJSON

/// The verified statement of an identity provider about a user.
public struct Assertion: Sendable, Equatable {
    /// Such as `facebook.com`.
    public var provider: String
    /// The provider's id of the user.
    public var rawID: String
    /// In lower case; nil if the provider tells none, or something that is not an address.
    public var email: String?
    /// Whether the provider vouches for the address.
    public var isEmailVerified = false
    public var displayName: String?
    public var firstName: String?
    public var lastName: String?
    public var screenName: String?
    public var photoURL: String?
    /// The provider's own data about the user, for `rawUserInfo`.
    public var profile = JSONObject()
    /// The ID token, if the credential is one.
    public var idToken: String?
    public var accessToken: String?
    /// The remaining lifetime of ``accessToken``, if the provider tells it.
    public var accessTokenSeconds: Int?
    /// Claims of OIDC providers for `firebase.sign_in_attributes`.
    public var attributes = JSONObject()
    /// The tenant that a redirect began for; nil for credentials that clients send themselves.
    public var redirectTenant: String?

    /// A statement without a profile.
    public init(provider: String, rawID: String) {
        self.provider = provider
        self.rawID = rawID
    }

    /// Fields of the answer of `signInWithIdp` that are about the credential, by their wire names.
    public var answer: JSONObject {
        var fields = JSONObject()
        fields["rawUserInfo"] = .string("\(JSONValue.object(profile))")
        fields["fullName"] = displayName.map { .string($0) }
        fields["firstName"] = firstName.map { .string($0) }
        fields["lastName"] = lastName.map { .string($0) }
        fields["oauthIdToken"] = idToken.map { .string($0) }
        fields["oauthAccessToken"] = accessToken.map { .string($0) }
        fields["oauthExpireIn"] = accessTokenSeconds.map { .int(Int64($0)) }
        return fields
    }
}

/// The reason why there is no assertion, in the words of the protocol. It never contains a token or a secret.
public struct AssertionError: Error, Sendable, Equatable {
    /// The code that client SDKs distinguish.
    public let code: String
    /// A sentence for developers.
    public let detail: String?
    /// The HTTP status.
    public let status: Int
    /// The canonical name of the status; nil for business errors.
    public let statusName: String?

    /// A business error, with status 400.
    public init(_ code: String, _ detail: String? = nil, status: Int = 400, statusName: String? = nil) {
        self.code = code
        self.detail = detail
        self.status = status
        self.statusName = statusName
    }

    /// The text of the error: `CODE`, or `CODE : detail`.
    public var message: String { detail.map { "\(code) : \($0)" } ?? code }

    /// The provider is off or unknown.
    static let notAllowed = AssertionError(
        "OPERATION_NOT_ALLOWED", "The identity provider configuration is not found or not enabled.")
    static let duplicate = AssertionError(
        "MISSING_OR_INVALID_NONCE", "Duplicate credential received. Please try again with a new credential.")

    static func invalid(_ detail: String) -> AssertionError { AssertionError("INVALID_IDP_RESPONSE", detail) }

    /// The provider does not answer: the credential may be fine, so clients should try again.
    static func remote(_ provider: String) -> AssertionError {
        AssertionError(
            "INVALID_IDP_RESPONSE", "Remote site 5XX from \(provider) for VERIFY_CREDENTIAL", status: 503, statusName: "UNAVAILABLE")
    }

    /// The store of used credentials does not answer.
    static let storeUnavailable = AssertionError("UNAVAILABLE", status: 503, statusName: "UNAVAILABLE")
}

/// Remembers the credentials that may be used once. The store of users implements it.
public protocol CredentialLedger: Sendable {
    /// Marks a credential as used, durably.
    ///
    /// - Parameters:
    ///   - key: identifies the credential; contains no secret.
    ///   - expires: when the credential expires by itself, in seconds since 1970.
    /// - Returns: whether this is its first use; nil if the store does not answer.
    func isFirstUse(of key: String, expires: Int) async -> Bool?
}
