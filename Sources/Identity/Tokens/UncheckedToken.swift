public import HearthJSON

/// A parsed token of another issuer, for verifiers with rules of their own: identity providers.
///
/// Check the claims first, so that a token for another audience fetches no keys, then the signature. Neither alone is enough.
public struct UncheckedToken: Sendable {
    /// The claims as the token states them.
    public let claims: JSONObject
    /// `typ` in upper case; nil if it is absent, empty if it is not a string.
    public let type: String?
    private let parts: CompactToken

    /// Parses a token. Refuses unsigned ones, padding, extensions, and algorithms other than those of ``VerificationKey``.
    public init(_ text: String) throws(TokenRefusal) {
        let bytes = Array(text.utf8)
        guard bytes.count <= TokenVerifier.tokenBytesMax else { throw .tooLong }
        parts = try CompactToken(bytes)
        guard !parts.hasExtensions else { throw .type }
        guard !parts.isPadded else { throw .malformed }
        guard parts.algorithm != "none" else { throw .unsigned }
        guard parts.keyID != nil else { throw .keyIDMissing }
        guard let claims = try parts.claims().object else { throw .malformed }
        self.claims = claims
        type = parts.type
    }

    /// Verifies the signature; nil if it is one of the keys'. Waits for keys if there are none yet. Never runs on the caller's loop.
    ///
    /// - Parameter algorithms: the accepted values of `alg`; the key of the token must be for the same algorithm.
    @concurrent
    public func refusal(keys: KeySet, algorithms: Set<String>) async -> TokenRefusal? {
        guard let algorithm = parts.algorithm, algorithms.contains(algorithm) else { return .algorithm }
        guard let id = parts.keyID else { return .keyIDMissing }
        switch await keys.key(id) {
        case .failure(let refusal): return refusal
        case .success(let key):
            return key.isSignature(parts.signature, of: parts.signed, algorithm: algorithm) ? nil : .signature
        }
    }
}
