import Crypto
import CryptoExtras
import SwiftASN1

/// A public key, bound to one algorithm.
///
/// The algorithm is always RS256: a token cannot make an RSA key serve as an HMAC secret. Keys have at least 2048 bits.
struct VerificationKey: Sendable {
    private let key: _RSA.Signing.PublicKey

    /// A key from its numbers, unsigned and with the most significant byte first (RFC 7518 section 6.3.1).
    init(modulus: [UInt8], exponent: [UInt8]) throws { key = try _RSA.Signing.PublicKey(n: modulus, e: exponent) }

    /// A public key in PEM (RFC 7468 section 13).
    init(publicKey: String) throws { key = try _RSA.Signing.PublicKey(pemRepresentation: publicKey) }

    /// The key of a certificate in PEM (RFC 5280 section 4.1). Only its key is read: the document that contains it is trusted or not.
    init(certificate: String) throws {
        let document = try PEMDocument(pemString: certificate)
        guard document.discriminator == "CERTIFICATE" else { throw ASN1Error.invalidPEMDocument(reason: "no certificate") }
        key = try _RSA.Signing.PublicKey(derRepresentation: Self.keyInformation(ofCertificate: document.derBytes))
    }

    /// Identifies the key, to tell whether two documents contain the same one.
    var fingerprint: String { key.pemRepresentation }

    /// Whether `signature` is this key's RSASSA-PKCS1-v1_5 signature of `signed` with SHA-256. Takes tens of microseconds.
    func isSignature(_ signature: [UInt8], of signed: ArraySlice<UInt8>) -> Bool {
        key.isValidSignature(_RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
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
