public import Tokens

/// The account of the host itself, which signs the custom tokens of functions.
public struct HostTokenAccount: Sendable {
    /// `iss` and `sub` of its tokens. The name cannot be that of a service account: the domain is reserved (RFC 2606).
    public static let name = "functions@hearth.invalid"

    /// `aud` of custom tokens.
    static let audience = "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

    public let account = HostTokenAccount.name
    /// Signs custom tokens.
    public var signer: TokenSigner
    /// Verifies them; nil in development, where tokens are not signed.
    public var verifier: TokenVerifier?

    /// An account with keys of its own.
    public init(signer: TokenSigner, verifier: TokenVerifier?) {
        self.signer = signer
        self.verifier = verifier
    }

    /// The rules for its tokens.
    public static func rules(clockSkewSeconds: Int) -> TokenRules {
        .idToken(project: audience, issuer: name, clockSkewSeconds: clockSkewSeconds)
    }
}
