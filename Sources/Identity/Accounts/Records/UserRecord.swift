public import HearthJSON

/// A user, as it is stored. Times are milliseconds since 1970 unless their name says seconds.
public struct UserRecord: Sendable, Equatable {
    /// The tenant; empty for users of the project itself.
    public var tenant: String
    /// 1 to 128 characters.
    public var uid: String
    /// In lower case.
    public var email: String?
    /// The e-mail before the first change of it.
    public var initialEmail: String?
    public var isEmailVerified = false
    /// Whether the user has signed in by e-mail link.
    public var usesEmailLink = false
    /// The password's hash and its parameters; for an imported hash, the text that ``importedHash`` explains.
    public var passwordHash: String?
    /// The hash algorithm of an import, in JSON, until the password was verified once. Nil for hashes of this host.
    public var importedHash: JSONValue?
    public var passwordChanged: Int64 = 0
    public var displayName: String?
    public var photoURL: String?
    public var phone: String?
    public var isDisabled = false
    /// Whether the user has signed in with a custom token.
    public var usesCustomToken = false
    /// Custom claims: a JSON object of at most 1000 characters.
    public var customAttributes: String?
    /// Tokens issued before are refused. Seconds since 1970; nil if there is no limit.
    public var validSinceSeconds: Int64?
    public var created: Int64
    public var lastLogin: Int64?
    public var lastRefresh: Int64?
    /// Further profile fields of identity providers, by their wire names.
    public var profile = JSONObject()
    public var providers: [LinkedProvider] = []
    public var factors: [SecondFactor] = []

    /// A user without any way to sign in.
    public init(tenant: String, uid: String, created: Int64) {
        self.tenant = tenant
        self.uid = uid
        self.created = created
    }

    /// Whether the user has a password.
    public var hasPassword: Bool { passwordHash != nil }

    /// Whether the user can sign in with e-mail and password, or with a link to the e-mail.
    public var hasEmailSignIn: Bool { email != nil && (hasPassword || usesEmailLink) }

    /// Whether the user has no way to sign in again: signed up anonymously, and has added nothing since.
    public var isAnonymous: Bool { email == nil && phone == nil && !hasPassword && providers.isEmpty && !usesCustomToken }

    /// The position of a provider's entry.
    public func index(of provider: String) -> Int? { providers.firstIndex { $0.provider == provider } }

    /// Whether a second factor by text message is enrolled.
    public var hasPhoneFactor: Bool { factors.contains { $0.phone != nil } }
}

/// An account of an identity provider that is linked to a user.
public struct LinkedProvider: Sendable, Equatable {
    /// Such as `facebook.com`.
    public var provider: String
    /// The provider's id of the user.
    public var rawID: String
    public var email: String?
    public var displayName: String?
    public var photoURL: String?
    public var screenName: String?
    public var phone: String?

    /// A link without profile.
    public init(provider: String, rawID: String) {
        self.provider = provider
        self.rawID = rawID
    }
}

/// An enrolled second factor.
public struct SecondFactor: Sendable, Equatable {
    public var id: String
    public var displayName: String?
    /// Milliseconds since 1970.
    public var enrolled: Int64
    /// The number for text messages; nil for one-time codes.
    public var phone: String?
    /// The secret of one-time codes; nil for text messages.
    public var secret: [UInt8]?
    /// The time step of the last accepted one-time code.
    public var lastStep: Int64 = 0

    /// A name for the user: the one that the user has chosen, or the last digits of the number.
    public var label: String { displayName ?? phone.map { AccountText.obfuscated(phone: $0) } ?? "TOTP" }

    /// A factor of one of the two kinds.
    public init(id: String, displayName: String?, enrolled: Int64, phone: String?, secret: [UInt8]? = nil) {
        self.id = id
        self.displayName = displayName
        self.enrolled = enrolled
        self.phone = phone
        self.secret = secret
    }
}
