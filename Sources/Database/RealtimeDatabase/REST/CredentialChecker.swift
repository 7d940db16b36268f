public import HearthJSON

/// Verifies the tokens of requests to the database. Belongs to the loop of its front end.
public protocol CredentialChecker: AnyObject {
    /// What is known of a token without waiting: that it was verified before. Nil where that takes time.
    func known(_ token: Span<UInt8>) -> CredentialVerdict?

    /// Verifies a token; `completion` is called on the front end's loop, never before this returns.
    func check(_ token: [UInt8], completion: @escaping (CredentialVerdict) -> Void)
}

/// What a token is worth.
public enum CredentialVerdict: Sendable {
    /// An administrator's: no rules apply.
    ///
    /// - Parameter expires: when the token ends, in seconds since 1970.
    case admin(expires: Int64)
    /// A user's.
    ///
    /// - Parameters:
    ///   - auth: what `auth` is in the rules; ``AuthVariable`` makes it.
    ///   - expires: when the token ends, in seconds since 1970; nil where it does not.
    ///   - isUnsigned: whether anybody could have written it.
    case user(auth: JSONValue, expires: Int64?, isUnsigned: Bool)
    /// Nobody's.
    case refused(CredentialRefusal)
}

/// Why a token is worth nothing.
public enum CredentialRefusal: Sendable, Hashable {
    /// It is no token.
    case unreadable
    /// It was one.
    case expired
    /// It is one, but not one of this project.
    case unauthorized
    /// It cannot be verified now.
    case unavailable
}

/// `auth` of the rules (spec database 2.4).
public enum AuthVariable {
    /// The variable for the claims of an ID token.
    public static func make(uid: String, claims: JSONValue) -> JSONValue {
        let provider = claims["firebase"]?["sign_in_provider"] ?? claims["provider_id"] ?? .string("custom")
        return .object(["uid": .string(uid), "provider": provider, "token": claims])
    }
}
