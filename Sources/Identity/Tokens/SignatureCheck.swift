public import HearthJSON

/// Verifies the signatures of another issuer's tokens (RS256), and leaves the claims to the caller.
public struct SignatureCheck: Sendable {
    private let keys: KeySet

    /// - Parameter keys: the keys of the issuer.
    public init(keys: KeySet) { self.keys = keys }

    /// The payload of a token whose signature is genuine. Waits for keys if there are none yet. Never runs on the caller's loop.
    @concurrent
    public func payload(of token: String) async -> Result<JSONObject, TokenRefusal> {
        do throws(TokenRefusal) {
            let bytes = Array(token.utf8)
            guard bytes.count <= TokenVerifier.tokenBytesMax else { throw .tooLong }
            let parts = try CompactToken(bytes)
            guard !parts.hasExtensions, !parts.isPadded, parts.type ?? "JWT" == "JWT" else { throw .type }
            guard parts.algorithm == "RS256" else { throw .algorithm }
            guard let keyID = parts.keyID else { throw .keyIDMissing }
            let key = try await keys.key(keyID).get()
            guard key.isSignature(parts.signature, of: parts.signed) else { throw .signature }
            guard let payload = try parts.claims().object else { throw .malformed }
            return .success(payload)
        } catch {
            return .failure(error)
        }
    }
}
