public import HearthJSON

/// The verified assertion of an identity provider about a user.
public struct ProviderIdentity: Sendable, Equatable {
    /// Such as `facebook.com`.
    public var provider: String
    /// The provider's id of the user.
    public var rawID: String
    /// In lower case.
    public var email: String?
    public var isEmailVerified = false
    public var displayName: String?
    public var photoURL: String?
    public var screenName: String?
    /// Fields of the answer that the store does not use, by their wire names: tokens, further names, the raw data.
    public var answer = JSONObject()
    /// Claims of OIDC and SAML providers for `firebase.sign_in_attributes`.
    public var attributes = JSONObject()
    /// When the pending token ends of which this was read, in milliseconds since 1970; nil for the credential of a provider.
    var pendingEnds: Int64?

    /// An assertion without profile.
    public init(provider: String, rawID: String) {
        self.provider = provider
        self.rawID = rawID
    }

    var link: LinkedProvider {
        var link = LinkedProvider(provider: provider, rawID: rawID)
        link.email = email
        link.displayName = displayName
        link.photoURL = photoURL
        link.screenName = screenName
        return link
    }

    var stored: JSONValue {
        var object: JSONObject = ["provider": .string(provider), "rawID": .string(rawID), "isEmailVerified": .bool(isEmailVerified)]
        object["email"] = email.map { .string($0) }
        object["displayName"] = displayName.map { .string($0) }
        object["photoURL"] = photoURL.map { .string($0) }
        object["screenName"] = screenName.map { .string($0) }
        object["answer"] = .object(answer)
        object["attributes"] = .object(attributes)
        return .object(object)
    }

    init?(stored: JSONValue) {
        guard let provider = stored["provider"]?.string, let rawID = stored["rawID"]?.string else { return nil }
        self.init(provider: provider, rawID: rawID)
        email = stored["email"]?.string
        isEmailVerified = stored["isEmailVerified"]?.bool ?? false
        displayName = stored["displayName"]?.string
        photoURL = stored["photoURL"]?.string
        screenName = stored["screenName"]?.string
        answer = stored["answer"]?.object ?? JSONObject()
        attributes = stored["attributes"]?.object ?? JSONObject()
    }
}

/// The result of signing in with an identity provider.
public struct ProviderSignIn: Sendable {
    public var identity: ProviderIdentity
    /// The user, with tokens or a credential for the second factor. Nil if nothing was changed.
    public var signedIn: SignedIn?
    /// The reason why the caller's account was not linked, as an error code.
    public var linkError: String?
    /// Whether the e-mail belongs to an account that uses other providers.
    public var needsConfirmation = false
    /// These other providers.
    public var verifiedProviders: [String] = []
    /// The owner of the e-mail that needs confirmation.
    public var ownerID: String?
    /// Whether the account had another account of the same provider.
    public var isEmailRecycled = false
    /// The e-mail of the account, if the provider asserts another one.
    public var originalEmail: String?
    /// A handle of the assertion, with which the client can try again.
    public var pendingToken: String?
}
