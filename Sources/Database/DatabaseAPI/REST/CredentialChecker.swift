public import HearthJSON

/// Verifies the tokens of requests to the database. Belongs to the loop of its front end.
public protocol CredentialChecker: AnyObject {
    /// The verdict on a token that was verified before. Nil if the token must be verified, which takes time.
    func known(_ token: Span<UInt8>) -> CredentialVerdict?

    /// Verifies a token. `completion` is called on the front end's loop, never before this returns.
    func check(_ token: [UInt8], completion: @escaping (CredentialVerdict) -> Void)

    /// The verdict on an App Check token that was verified before. Nil if the token must be verified, which takes time.
    func knownApp(_ token: Span<UInt8>) -> AppVerdict?

    /// Verifies an App Check token. `completion` is called on the front end's loop, never before this returns.
    func checkApp(_ token: [UInt8], completion: @escaping (AppVerdict) -> Void)

    /// Notes for the log that a request without an App Check token was refused.
    func appWasMissing()
}

/// The result of verifying a token.
public enum CredentialVerdict: Sendable {
    /// The token of an administrator, to whom no rules apply.
    ///
    /// - Parameter expires: the expiry time of the token, in seconds since 1970.
    case admin(expires: Int64)
    /// The token of a user.
    ///
    /// - Parameters:
    ///   - auth: the value of `auth` in the rules, made by ``AuthVariable``.
    ///   - expires: the expiry time of the token, in seconds since 1970; nil if it does not expire.
    ///   - isUnsigned: whether the token has no signature, so that anybody could have written it.
    case user(auth: JSONValue, expires: Int64?, isUnsigned: Bool)
    /// The token is not accepted.
    case refused(CredentialRefusal)
}

/// The result of verifying an App Check token.
public enum AppVerdict: Sendable, Equatable {
    /// The token of an app.
    ///
    /// - Parameters:
    ///   - expires: the expiry time of the token, in seconds since 1970; nil if it does not expire.
    ///   - isUnsigned: whether the token has no signature, so that anybody could have written it.
    case app(expires: Int64?, isUnsigned: Bool)
    /// The token is not accepted.
    case refused(CredentialRefusal)
}

/// The reason why a token is not accepted.
public enum CredentialRefusal: Sendable, Hashable {
    /// The text is not a token.
    case unreadable
    /// The token has expired.
    case expired
    /// The token does not belong to this project.
    case unauthorized
    /// The token cannot be verified now.
    case unavailable
}
