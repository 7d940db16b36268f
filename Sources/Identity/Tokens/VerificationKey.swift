import JWTKit

/// A public key, bound to the one algorithm that it is used with.
///
/// The algorithm is RS256 by construction: nothing that a token says can make an HMAC secret of an RSA key.
struct VerificationKey: Sendable {
    private let algorithm: any JWTAlgorithm
    /// The key itself, to tell whether two documents name the same one.
    let fingerprint: String

    init(_ key: Insecure.RSA.PublicKey) async throws {
        fingerprint = key.pemRepresentation
        algorithm = try await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256).getKey()
    }

    /// Whether `signature` is this key's RSASSA-PKCS1-v1_5 signature of `signed` with SHA-256. Takes tens of microseconds.
    func isSignature(_ signature: [UInt8], of signed: ArraySlice<UInt8>) -> Bool {
        (try? algorithm.verify(signature, signs: signed)) ?? false
    }
}
