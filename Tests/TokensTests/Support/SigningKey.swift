import Crypto
import CryptoExtras
import FoundationEssentials
import HearthJSON
import SwiftASN1
import X509

@testable import Tokens

/// An RSA key that a test signs tokens with.
struct SigningKey: Sendable {
    let id: String
    let key: _RSA.Signing.PrivateKey

    /// Made once for all tests: making one takes a while.
    static let first = SigningKey(id: "first", bits: 2048)
    static let second = SigningKey(id: "second", bits: 2048)
    static let small = SigningKey(id: "small", bits: 1024)

    private init(id: String, bits: Int) {
        self.id = id
        do {
            key = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits))
        } catch {
            preconditionFailure("no RSA key: \(error)")
        }
    }

    private init(id: String, key: _RSA.Signing.PrivateKey) {
        self.id = id
        self.key = key
    }

    /// The same key under another id.
    func renamed(_ id: String) -> SigningKey { SigningKey(id: id, key: key) }

    /// The public key as a member of a JSON Web Key Set.
    func jwk() throws -> JSONValue {
        let numbers = try key.publicKey.getKeyPrimitives()
        return [
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(id), "n": .string(base64URL(Array(numbers.modulus))),
            "e": .string(base64URL(Array(numbers.publicExponent))),
        ]
    }

    /// A certificate that this key has signed for itself, as PEM.
    func certificate() throws -> String {
        let name = try DistinguishedName { CommonName("issuer") }
        let signer = Certificate.PrivateKey(key)
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: signer.publicKey, notValidBefore: Date(timeIntervalSince1970: 0),
            notValidAfter: Date(timeIntervalSince1970: 4_000_000_000), issuer: name, subject: name,
            signatureAlgorithm: .sha256WithRSAEncryption, extensions: Certificate.Extensions(), issuerPrivateKey: signer)
        return try certificate.serializeAsPEM().pemString
    }

    /// A token with this payload; `header` replaces or adds members of the usual header, and null removes them.
    func token(_ payload: JSONValue, header: [String: JSONValue] = [:]) throws -> String {
        try token(payloadBytes: payload.serialized(), header: header)
    }

    func token(payloadBytes: [UInt8], header: [String: JSONValue] = [:]) throws -> String {
        var head: JSONValue = ["alg": "RS256", "kid": .string(id), "typ": "JWT"]
        for (name, value) in header { head[name] = value.isNull ? Optional.none : value }
        let signed = base64URL(head.serialized()) + "." + base64URL(payloadBytes)
        let signature = try key.signature(for: Array(signed.utf8), padding: .insecurePKCS1v1_5)
        return signed + "." + base64URL(Array(signature.rawRepresentation))
    }
}

/// A JSON Web Key Set of these keys.
func keySet(_ keys: SigningKey...) throws -> String {
    let document: JSONValue = ["keys": .array(try keys.map { try $0.jwk() })]
    return document.description
}

/// RFC 4648 section 5, without padding.
func base64URL(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        var bits = group.reduce(0) { $0 << 8 | Int($1) } << ((3 - group.count) * 8)
        var characters: [Character] = []
        for _ in 0..<4 {
            characters.insert(letters[bits & 63], at: 0)
            bits >>= 6
        }
        text += String(characters.prefix(group.count + 1))
    }
    return text
}

/// An unsigned token in the emulator's form.
func unsignedToken(_ payload: JSONValue, algorithm: JSONValue = "none") -> String {
    let header: JSONValue = ["alg": algorithm, "typ": "JWT"]
    return base64URL(header.serialized()) + "." + base64URL(payload.serialized()) + "."
}
