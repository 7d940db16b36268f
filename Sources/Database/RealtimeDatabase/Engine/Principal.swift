public import HearthJSON

/// The principal for whom a read or write is performed.
public enum Principal: Sendable {
    /// No rules apply. The checks of the data model and the index requirements do.
    case admin
    /// Rules apply with this `auth`: `{"uid", "provider", "token"}`, or nil for a client that is not signed in.
    case user(auth: JSONValue?)

    var isAdmin: Bool {
        if case .admin = self { return true }
        return false
    }
}

/// The variable `auth` of the rules (spec database 2.4).
public enum AuthVariable {
    /// The variable for the claims of an ID token.
    public static func make(uid: String, claims: JSONValue) -> JSONValue {
        let provider = claims["firebase"]?["sign_in_provider"] ?? claims["provider_id"] ?? .string("custom")
        return .object(["uid": .string(uid), "provider": provider, "token": claims])
    }
}

extension EventOrigin {
    /// The origin of the writes of a principal (spec database 6).
    public init(of principal: Principal) {
        switch principal {
        case .admin: self = .admin
        case .user(auth: nil): self = .unauthenticated
        case .user(let auth?): self = EventOrigin(.user, id: auth["uid"]?.string)
        }
    }
}
