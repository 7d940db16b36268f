import Crypto
import CryptoExtras
import SwiftASN1

/// A public key, bound to one algorithm.
///
/// RSA keys serve RS256 only, keys of the curve P-256 ES256 only: a token cannot make a key serve as an HMAC secret. RSA keys have at least
/// 2048 bits.
struct VerificationKey: Sendable {
    private enum Key: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
    }

    private let key: Key

    /// A key from its numbers, unsigned and with the most significant byte first (RFC 7518 section 6.3.1).
    init(modulus: [UInt8], exponent: [UInt8]) throws { key = .rsa(try _RSA.Signing.PublicKey(n: modulus, e: exponent)) }

    /// A key of the curve P-256 from its coordinates (RFC 7518 section 6.2.1). Refuses a point that is not on the curve.
    init(x: [UInt8], y: [UInt8]) throws {
        guard x.count == 32, y.count == 32 else { throw CryptoKitError.incorrectKeySize }
        key = .p256(try P256.Signing.PublicKey(x963Representation: [4] + x + y))
    }

    /// A public key in PEM (RFC 7468 section 13).
    init(publicKey: String) throws { key = .rsa(try _RSA.Signing.PublicKey(pemRepresentation: publicKey)) }

    /// A key in DER, as SubjectPublicKeyInfo.
    init(publicKey: [UInt8]) throws { key = .rsa(try _RSA.Signing.PublicKey(derRepresentation: publicKey)) }

    /// The key of a certificate in PEM (RFC 5280 section 4.1). Only its key is read: the document that contains it is trusted or not.
    init(certificate: String) throws {
        let document = try PEMDocument(pemString: certificate)
        guard document.discriminator == "CERTIFICATE" else { throw ASN1Error.invalidPEMDocument(reason: "no certificate") }
        key = .rsa(try _RSA.Signing.PublicKey(derRepresentation: Self.keyInformation(ofCertificate: document.derBytes)))
    }

    /// Identifies the key, to tell whether two documents contain the same one.
    var fingerprint: String {
        switch key {
        case .rsa(let key): key.pemRepresentation
        case .p256(let key): key.pemRepresentation
        }
    }

    /// The algorithm that the key is for.
    var algorithm: String {
        switch key {
        case .rsa: "RS256"
        case .p256: "ES256"
        }
    }

    /// Whether `signature` is this key's signature of `signed` with SHA-256, in the key's own algorithm. Takes tens of microseconds.
    ///
    /// - Parameter algorithm: the algorithm that the token names; a key of another one has signed nothing.
    func isSignature(_ signature: [UInt8], of signed: ArraySlice<UInt8>, algorithm: String = "RS256") -> Bool {
        guard algorithm == self.algorithm else { return false }
        let hash = SHA256.hash(data: signed)
        switch key {
        case .rsa(let key):
            return key.isValidSignature(_RSA.Signing.RSASignature(rawRepresentation: signature), for: hash, padding: .insecurePKCS1v1_5)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: hash)
        }
    }

    /// The `SubjectPublicKeyInfo` of a certificate.
    private static func keyInformation(ofCertificate bytes: [UInt8]) throws -> ArraySlice<UInt8> {
        try DER.sequence(DER.parse(bytes), identifier: .sequence) { parts in
            // The signed part, the algorithm of the signature, the signature.
            guard let signed = parts.next(), parts.next() != nil, parts.next() != nil else { throw truncated }
            return try DER.sequence(signed, identifier: .sequence) { fields in
                _ = try DER.optionalExplicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) { _ in }
                // Serial number, algorithm, issuer, validity, subject.
                for _ in 0..<5 { guard fields.next() != nil else { throw truncated } }
                guard let key = fields.next() else { throw truncated }
                while fields.next() != nil {}
                return key.encodedBytes
            }
        }
    }

    private static var truncated: ASN1Error { .invalidASN1Object(reason: "a field is missing") }
}
