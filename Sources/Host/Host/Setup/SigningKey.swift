import Crypto
import CryptoExtras
import Files
import HearthBytes
import HearthJSON
import HostCore

/// A key that signs tokens of the host. Made at the first start, and readable for the host's user only.
final class SigningKey: Sendable {
    private let key: _RSA.Signing.PrivateKey
    /// `kid` of tokens.
    let id: String
    /// The JSON Web Key Set.
    let document: String

    init(file: String) throws(HostStartError) {
        do throws(FileFailure) {
            let pem = try DurableFile.kept(file, sizeBytesMax: 1 << 16, mode: 0o600) {
                Array(((try? _RSA.Signing.PrivateKey(keySize: .bits2048))?.pkcs8PEMRepresentation ?? "").utf8)
            }
            guard let pem, let key = try? _RSA.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self)) else {
                throw FileFailure("read as an RSA key", code: 0)
            }
            self.key = key
        } catch {
            throw HostStartError("\(file) \(error)")
        }
        guard let parts = try? key.publicKey.getKeyPrimitives() else { throw HostStartError("\(file) contains no RSA key") }
        let (n, e) = (Base64URL.text(Array(parts.modulus)), Base64URL.text(Array(parts.publicExponent)))
        let thumbprint = SHA256.hash(data: Array("{\"e\":\"\(e)\",\"kty\":\"RSA\",\"n\":\"\(n)\"}".utf8))
        id = String(Base64URL.text(Array(thumbprint)).prefix(20))
        let jwk: JSONValue = ["kid": .string(id), "kty": "RSA", "alg": "RS256", "use": "sig", "n": .string(n), "e": .string(e)]
        document = "\(JSONValue.object(["keys": [jwk]]))"
    }

    /// Signs a payload (RS256).
    func sign(_ payload: [UInt8]) -> String {
        let header: JSONValue = ["alg": "RS256", "kid": .string(id), "typ": "JWT"]
        let text = "\(Base64URL.text(header.serialized())).\(Base64URL.text(payload))"
        let digest = SHA256.hash(data: Array(text.utf8))
        guard let signature = try? key.signature(for: digest, padding: .insecurePKCS1v1_5) else { return "" }
        return "\(text).\(Base64URL.text(Array(signature.rawRepresentation)))"
    }

    /// An unsigned token, for development.
    static func unsigned(_ payload: [UInt8]) -> String {
        let header: JSONValue = ["alg": "none", "typ": "JWT"]
        return "\(Base64URL.text(header.serialized())).\(Base64URL.text(payload))."
    }
}

/// The public key of a service account.
final class PublicKeyFile: Sendable {
    private let key: _RSA.Signing.PublicKey

    init(_ file: String) throws(HostStartError) {
        do throws(FileFailure) {
            let text = String(decoding: try WholeFile.read(file, sizeBytesMax: 1 << 16), as: UTF8.self)
            guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: text) else { throw FileFailure("read as an RSA public key in PEM", code: 0) }
            self.key = key
        } catch {
            throw HostStartError("\(file) \(error)")
        }
    }

    func isSignature(_ signature: [UInt8], _ signed: [UInt8]) -> Bool {
        key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
    }
}
