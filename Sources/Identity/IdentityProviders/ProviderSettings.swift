/// The identity providers of a project.
public struct ProviderSettings: Sendable {
    /// Whether unsigned JSON credentials are accepted for every provider, and nothing else, as in the emulator. For development only.
    public var acceptsUnsigned = false
    /// Nil: Facebook is off.
    public var facebook: FacebookSettings?
    public var google: GoogleSettings?
    public var apple: AppleSettings?
    /// OIDC providers of the configuration file, by id; each begins with `oidc.`.
    public var oidc: [String: OIDCSettings] = [:]

    /// No provider.
    public init() {}
}

/// Facebook: classic login and Limited Login (spec auth 3).
public struct FacebookSettings: Sendable, Equatable {
    public var appID: String
    public var appSecret: String
    /// With the version; no slash at the end.
    public var graphBaseURL = "https://graph.facebook.com/v23.0"
    /// The page on which users agree, of the redirect flow.
    public var dialogURL = "https://www.facebook.com/v23.0/dialog/oauth"
    /// Documents with the keys of Limited Login. The first that answers counts.
    public var keyURLs = [
        "https://limited.facebook.com/.well-known/oauth/openid/jwks/", "https://www.facebook.com/.well-known/oauth/openid/jwks/",
    ]
    /// Accepted issuers of Limited Login, exactly.
    public var issuers = ["https://www.facebook.com", "https://limited.facebook.com", "https://facebook.com"]
    /// Whether addresses that Facebook states count as verified.
    public var trustsEmail = false
    /// The limit of one request; a failed one is repeated once.
    public var timeoutMilliseconds = 5000

    /// Facebook's own addresses.
    public init(appID: String, appSecret: String) {
        self.appID = appID
        self.appSecret = appSecret
    }
}

/// Google.
public struct GoogleSettings: Sendable, Equatable {
    /// Accepted audiences. The first is that of the redirect flow.
    public var clientIDs: [String]
    /// For the redirect flow.
    public var clientSecret: String?
    public var keyURL = "https://www.googleapis.com/oauth2/v3/certs"
    public var issuers = ["https://accounts.google.com", "accounts.google.com"]
    public var tokenInfoURL = "https://oauth2.googleapis.com/tokeninfo"
    public var userInfoURL = "https://openidconnect.googleapis.com/v1/userinfo"
    public var authorizationURL = "https://accounts.google.com/o/oauth2/v2/auth"
    public var tokenURL = "https://oauth2.googleapis.com/token"
    /// The limit of one request.
    public var timeoutMilliseconds = 5000

    /// Google's own addresses.
    public init(clientIDs: [String]) { self.clientIDs = clientIDs }
}

/// Apple.
public struct AppleSettings: Sendable, Equatable {
    /// Bundle ids and services ids. The first is that of the redirect flow.
    public var clientIDs: [String]
    /// Signs the client secrets of the redirect flow; nil: there is none.
    public var key: AppleKey?
    public var keyURL = "https://appleid.apple.com/auth/keys"
    public var issuer = "https://appleid.apple.com"
    public var authorizationURL = "https://appleid.apple.com/auth/authorize"
    public var tokenURL = "https://appleid.apple.com/auth/token"
    public var revocationURL = "https://appleid.apple.com/auth/revoke"
    /// The limit of one request.
    public var timeoutMilliseconds = 5000

    /// Apple's own addresses.
    public init(clientIDs: [String]) { self.clientIDs = clientIDs }
}

/// An OpenID Connect provider.
public struct OIDCSettings: Sendable, Equatable {
    /// Exactly the `iss` of its tokens; its discovery document is below it.
    public var issuer: String
    /// That of the redirect flow.
    public var clientID: String
    /// Further accepted audiences, such as those of apps.
    public var otherClientIDs: [String] = []
    public var clientSecret: String?
    public var isEnabled = true
    /// Whether the redirect flow asks for a code; otherwise for an ID token.
    public var usesCode = false
    /// For administrators.
    public var displayName: String?
    /// The limit of one request.
    public var timeoutMilliseconds = 5000

    /// A provider that is on.
    public init(issuer: String, clientID: String) {
        self.issuer = issuer
        self.clientID = clientID
    }
}
