import Synchronization

/// A token that was found good.
public struct VerifiedToken: Sendable, Equatable {
    /// `sub`: the user's id in an ID token, the app's id in an App Check token. 1 to 128 UTF-16 units.
    public let subject: String
    /// The payload as the issuer wrote it: a JSON object in UTF-8.
    public let claims: [UInt8]
    /// `exp`, in seconds since 1970.
    public let expires: Int
    /// When it is refused from on: `exp` and the allowed difference between clocks, in seconds since 1970.
    public let validUntil: Int
    /// Whether nobody signed it. True in development only, and then the token proves nothing.
    public let isUnsigned: Bool
    /// The number of this verification: two tokens never have the same, so that values made of a token can be kept under it.
    public let serial: UInt64

    private static let verifications = Atomic<UInt64>(0)

    init(subject: String, claims: [UInt8], expires: Int, validUntil: Int, isUnsigned: Bool) {
        self.subject = subject
        self.claims = claims
        self.expires = expires
        self.validUntil = validUntil
        self.isUnsigned = isUnsigned
        serial = Self.verifications.add(1, ordering: .relaxed).newValue
    }
}
