/// The reason why a token was refused. For the log only, without contents of the token; clients always get the same message.
public enum TokenRefusal: Error, Sendable, Equatable, CaseIterable {
    /// Longer than ``TokenVerifier/tokenBytesMax``.
    case tooLong
    /// Not three parts of base64url, or not JSON objects inside.
    case malformed
    /// `alg` is `none` where unsigned tokens are not accepted.
    case unsigned
    /// `alg` is not `RS256`.
    case algorithm
    /// `typ` is not `JWT`, or `crit` requires an extension.
    case type
    /// `kid` is missing.
    case keyIDMissing
    /// No key has this `kid`.
    case keyUnknown
    /// There are no keys: none were fetched yet, or the last ones are too old.
    case keysUnavailable
    /// The signature does not match the key.
    case signature
    /// `aud` does not name the project.
    case audience
    /// `iss` is not the configured one.
    case issuer
    /// `sub` is missing, empty, or longer than 128 characters.
    case subject
    /// `exp` has passed.
    case expired
    /// `iat`, `nbf` or `auth_time` is in the future.
    case notYetValid
    /// A time is missing or not a whole number of seconds.
    case time
}

extension TokenRefusal: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .tooLong: "The token is longer than \(TokenVerifier.tokenBytesMax) bytes."
        case .malformed: "The token is not a JSON Web Token."
        case .unsigned: "The token is not signed."
        case .algorithm: "The token is not signed with RS256."
        case .type: "The token's header requires more than a plain JWT."
        case .keyIDMissing: "The token does not name its key."
        case .keyUnknown: "No key has the id that the token names; it is most likely expired."
        case .keysUnavailable: "There are no keys to verify the token with."
        case .signature: "The token's signature is wrong."
        case .audience: "The token is for another project."
        case .issuer: "The token is from another issuer."
        case .subject: "The token's subject is missing, or longer than 128 characters."
        case .expired: "The token has expired."
        case .notYetValid: "The token is not valid yet."
        case .time: "One of the token's times is missing or not a whole number."
        }
    }
}
