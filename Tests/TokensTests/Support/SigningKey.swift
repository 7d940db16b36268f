import Crypto
import CryptoExtras
import HearthJSON
import SwiftASN1

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

    /// A certificate that this key has signed for itself, as PEM (RFC 5280 section 4.1).
    func certificate() throws -> String {
        let signed = try serialized { certificate in
            try certificate.appendConstructedNode(identifier: .sequence) { fields in
                try fields.serialize(2, explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific)
                try fields.serialize(1)
                try Self.appendAlgorithm(to: &fields)
                try Self.appendName("issuer", to: &fields)
                try fields.appendConstructedNode(identifier: .sequence) { validity in
                    try validity.serialize(UTCTime(year: 1970, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0))
                    try validity.serialize(UTCTime(year: 2049, month: 1, day: 1, hours: 0, minutes: 0, seconds: 0))
                }
                try Self.appendName("subject", to: &fields)
                try fields.serialize(DER.parse(Array(key.publicKey.derRepresentation)))
            }
        }
        let signature = try key.signature(for: signed, padding: .insecurePKCS1v1_5)
        let certificate = try serialized { document in
            try document.appendConstructedNode(identifier: .sequence) { parts in
                try parts.serialize(DER.parse(signed))
                try Self.appendAlgorithm(to: &parts)
                try parts.serialize(ASN1BitString(bytes: ArraySlice(signature.rawRepresentation)))
            }
        }
        return PEMDocument(type: "CERTIFICATE", derBytes: certificate).pemString
    }

    private func serialized(_ write: (inout DER.Serializer) throws -> Void) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try write(&serializer)
        return serializer.serializedBytes
    }

    /// sha256WithRSAEncryption (RFC 4055 section 5).
    private static func appendAlgorithm(to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { algorithm in
            try algorithm.serialize([1, 2, 840, 113_549, 1, 1, 11] as ASN1ObjectIdentifier)
            try algorithm.serialize(ASN1Null())
        }
    }

    /// A distinguished name that consists of a common name.
    private static func appendName(_ name: String, to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { names in
            try names.appendConstructedNode(identifier: .set) { set in
                try set.appendConstructedNode(identifier: .sequence) { attribute in
                    try attribute.serialize([2, 5, 4, 3] as ASN1ObjectIdentifier)
                    try attribute.serialize(ASN1UTF8String(name))
                }
            }
        }
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
