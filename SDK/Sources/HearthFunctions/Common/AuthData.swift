/// The caller, as the verified ID token names it.
public struct AuthData: Sendable {
    /// The user's id.
    public let uid: String
    /// The token's claims: `auth.token["email"]?.string`.
    public let token: JSONValue
    /// The token itself, to pass on.
    public let rawToken: String

    init(_ members: JSONValue) {
        uid = members["uid"]?.string ?? ""
        token = members["token"] ?? [:]
        rawToken = members["rawToken"]?.string ?? ""
    }

    /// The claim `name` where it is a text.
    func text(_ name: String) -> String? { token[name]?.string }

    /// The user's display name.
    public var name: String? { text("name") }
    /// The address of the user's picture.
    public var picture: String? { text("picture") }
    /// The user's e-mail address.
    public var email: String? { text("email") }
}

/// The app, as the verified App Check token names it.
public struct AppCheckData: Sendable {
    /// The app's id.
    public let appID: String
    /// The token's claims.
    public let token: JSONValue
    /// Whether the token had been used before; nil unless the function consumes tokens.
    public let alreadyConsumed: Bool?

    init(_ members: JSONValue) {
        appID = members["appId"]?.string ?? ""
        token = members["token"] ?? [:]
        alreadyConsumed = members["alreadyConsumed"]?.bool
    }
}
