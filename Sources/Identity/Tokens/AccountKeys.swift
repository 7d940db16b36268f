import CryptoExtras
import HearthJSON

/// The public keys of service accounts, and the verification of the tokens that these write themselves (spec auth 1.3 and 1.5).
public struct AccountKeys: Sendable {
    private struct Key: Sendable {
        /// Nil for a key whose id is not known: it serves any `kid`.
        var id: String?
        var key: VerificationKey
    }

    private var keys: [String: [Key]] = [:]

    /// Finds the key of an account that is not in the table: its id, and the public key in DER (SubjectPublicKeyInfo).
    public var others: (@Sendable (_ email: String) -> (id: String, publicKey: [UInt8])?)?

    /// The longest lifetime of a token, in seconds.
    private static let lifetimeMax = 3600

    /// No account.
    public init() {}

    /// Whether there is no key.
    public var isEmpty: Bool { keys.isEmpty }

    /// Adds a key of an account.
    ///
    /// - Parameters:
    ///   - id: the key's id; nil if it is not known.
    ///   - pem: its public key or its certificate.
    /// - Throws: `KeyFetchError` if it is not an RSA key of at least 2048 bits.
    public mutating func add(email: String, id: String? = nil, pem: String) throws(KeyFetchError) {
        let key: VerificationKey
        do {
            key = pem.contains("BEGIN CERTIFICATE") ? try VerificationKey(certificate: pem) : try VerificationKey(publicKey: pem)
        } catch {
            throw KeyFetchError("The key of \(email) is not an RSA public key of at least 2048 bits in PEM.")
        }
        keys[email, default: []].append(Key(id: id, key: key))
    }

    /// Verifies a token that an account has written, and returns its payload.
    ///
    /// The key is chosen by `iss`; the algorithm is always RS256. `sub` must equal `iss`, and the lifetime is at most an hour.
    public func verify(_ token: String, audience: String, now: Int, clockSkewSeconds: Int = 0) throws(TokenRefusal) -> JSONObject {
        let bytes = Array(token.utf8)
        guard bytes.count <= TokenVerifier.tokenBytesMax else { throw .tooLong }
        let parts = try CompactToken(bytes)
        guard !parts.hasExtensions, parts.type ?? "JWT" == "JWT" else { throw .type }
        guard parts.algorithm == "RS256" else { throw parts.algorithm == "none" ? .unsigned : .algorithm }
        guard !parts.isPadded else { throw .malformed }
        let claims = try parts.claims()
        guard claims["aud"]?.string == audience else { throw .audience }
        guard let issuer = claims["iss"]?.string, let known = keys[issuer] ?? otherKeys(of: issuer) else { throw .issuer }
        guard claims["sub"]?.string == issuer else { throw .subject }
        let fitting = known.filter { $0.id == nil || parts.keyID == nil || $0.id == parts.keyID }
        guard !fitting.isEmpty else { throw .keyUnknown }
        guard fitting.contains(where: { $0.key.isSignature(parts.signature, of: parts.signed) }) else { throw .signature }
        try Self.checkTimes(claims, now: now, clockSkewSeconds)
        return claims.object ?? [:]
    }

    private func otherKeys(of email: String) -> [Key]? {
        guard let (id, bytes) = others?(email), let key = try? VerificationKey(publicKey: bytes) else { return nil }
        return [Key(id: id, key: key)]
    }

    private static func checkTimes(_ claims: JSONValue, now: Int, _ skew: Int) throws(TokenRefusal) {
        let years = Int64(0)...253_402_300_799
        guard case .int(let issued)? = claims["iat"], case .int(let expires)? = claims["exp"], years.contains(issued), years.contains(expires),
            expires - issued <= Int64(lifetimeMax)
        else { throw .time }
        guard issued <= Int64(now + skew) else { throw .notYetValid }
        guard expires > Int64(now - skew) else { throw .expired }
    }
}
