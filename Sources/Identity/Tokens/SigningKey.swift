import Crypto
import CryptoExtras
import HearthBytes
import HearthJSON
import SwiftASN1

/// One key of a ``KeyRing``: an RSA key of 2048 bits.
struct SigningKey: Sendable {
    private let key: _RSA.Signing.PrivateKey
    /// The beginning of the key's thumbprint (RFC 7638), the `kid` of its tokens.
    let id: String
    /// When it begins to sign, in seconds since 1970.
    let signsFrom: Int
    /// The public key.
    let verification: VerificationKey
    private let modulus: String
    private let exponent: String

    init(pem: String, signsFrom: Int) throws { try self.init(_RSA.Signing.PrivateKey(pemRepresentation: pem), signsFrom: signsFrom) }

    private init(_ key: _RSA.Signing.PrivateKey, signsFrom: Int) throws {
        self.key = key
        self.signsFrom = signsFrom
        let numbers = try key.publicKey.getKeyPrimitives()
        verification = try VerificationKey(modulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent))
        modulus = Base64URL.text(Array(numbers.modulus))
        exponent = Base64URL.text(Array(numbers.publicExponent))
        let thumbprint = SHA256.hash(data: Array("{\"e\":\"\(exponent)\",\"kty\":\"RSA\",\"n\":\"\(modulus)\"}".utf8))
        id = String(Base64URL.text(Array(thumbprint)).prefix(20))
    }

    /// Makes a key. Takes a good part of a second.
    static func make(signsFrom: Int) throws(KeyRingError) -> SigningKey {
        do {
            return try SigningKey(_RSA.Signing.PrivateKey(keySize: .bits2048), signsFrom: signsFrom)
        } catch {
            throw KeyRingError("No RSA key could be made.")
        }
    }

    /// The private key, for the file.
    var pem: String { key.pkcs8PEMRepresentation }

    /// The public key (RFC 7517 section 4, RFC 7518 section 6.3.1).
    var jwk: JSONValue {
        ["kid": .string(id), "kty": "RSA", "alg": "RS256", "use": "sig", "n": .string(modulus), "e": .string(exponent)]
    }

    func sign(_ payload: [UInt8]) throws(KeyRingError) -> String {
        let header: JSONValue = ["alg": "RS256", "kid": .string(id), "typ": "JWT"]
        let text = "\(Base64URL.text(header.serialized())).\(Base64URL.text(payload))"
        return "\(text).\(Base64URL.text(try signature(Array(text.utf8))))"
    }

    private func signature(_ bytes: [UInt8]) throws(KeyRingError) -> [UInt8] {
        do {
            return Array(try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation)
        } catch {
            throw KeyRingError("A token could not be signed.")
        }
    }

    /// A self-signed certificate of the key, in PEM (RFC 5280 section 4.1). The same at each call.
    func certificate() throws(KeyRingError) -> String {
        let algorithm = DERText.sequence([DERText.objectID([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]), DERText.null])
        // `commonName`.
        let name = DERText.sequence([
            DERText.set([DERText.sequence([DERText.objectID([0x55, 0x04, 0x03]), DERText.text("hearth")])])
        ])
        let serial = Array(SHA256.hash(data: Array(id.utf8)).prefix(8))
        let signed = DERText.sequence([
            DERText.item(0xA0, DERText.integer([2])), DERText.integer(serial), algorithm, name,
            // A day before, for verifiers with a slow clock; the verifier's own rule is that the key is in the document.
            DERText.sequence([DERText.time(signsFrom - 2 * 86_400), DERText.time(signsFrom + 10 * 365 * 86_400)]), name,
            Array(key.publicKey.derRepresentation),
        ])
        let bytes = DERText.sequence([signed, algorithm, DERText.item(0x03, [0] + (try signature(signed)))])
        return PEMDocument(type: "CERTIFICATE", derBytes: bytes).pemString + "\n"
    }
}
