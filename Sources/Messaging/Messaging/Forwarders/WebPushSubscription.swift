import HearthBytes
import Crypto

/// A browser's subscription: the keys for encrypting its messages (RFC 8291 section 2).
struct WebPushSubscription: Sendable {
    /// The reason why a subscription cannot be used.
    struct Problem: Error, Sendable, Hashable {
        let text: String
    }

    /// The longest plaintext: every push service accepts bodies of 4,096 bytes, which also have a header, a delimiter and a tag.
    static let plaintextBytesMax = 3993

    private static let recordBytes: UInt32 = 4096
    private let browserKey: P256.KeyAgreement.PublicKey
    private let secret: [UInt8]

    /// - Parameters:
    ///   - p256dh: the browser's public key, an uncompressed point of P-256.
    ///   - auth: the shared secret of browser and application, 16 bytes.
    init(p256dh: [UInt8], auth: [UInt8]) throws(Problem) {
        guard auth.count == 16 else { throw Problem(text: "auth has \(auth.count) bytes; it must have 16") }
        guard p256dh.count == 65, let key = try? P256.KeyAgreement.PublicKey(x963Representation: p256dh) else {
            throw Problem(text: "p256dh is not an uncompressed point of P-256")
        }
        browserKey = key
        secret = auth
    }

    /// Decodes a browser's base64url, with or without padding.
    static func bytes(_ text: String) -> [UInt8]? { Base64URL.bytes(Array(text.utf8).filter { $0 != UInt8(ascii: "=") }[...]) }

    /// The body of a push message: one record of the content coding aes128gcm (RFC 8188 section 2).
    ///
    /// - Parameters:
    ///   - key: a key for this message only.
    ///   - salt: 16 random bytes for this message only.
    func sealed(_ plaintext: [UInt8], key: P256.KeyAgreement.PrivateKey, salt: [UInt8]) throws -> [UInt8] {
        let ours = Array(key.publicKey.x963Representation)
        let shared = try key.sharedSecretFromKeyAgreement(with: browserKey)
        let info = Array("WebPush: info\0".utf8) + Array(browserKey.x963Representation) + ours
        let input = shared.hkdfDerivedSymmetricKey(using: SHA256.self, salt: secret, sharedInfo: info, outputByteCount: 32)
        let contentKey = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), outputByteCount: 16)
        let nonce = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), outputByteCount: 12)
        // The delimiter after the text marks the last record.
        let box = try AES.GCM.seal(
            plaintext + [2], using: contentKey, nonce: AES.GCM.Nonce(data: nonce.withUnsafeBytes { Array($0) }))
        let size = withUnsafeBytes(of: Self.recordBytes.bigEndian) { Array($0) }
        return salt + size + [UInt8(ours.count)] + ours + Array(box.ciphertext) + Array(box.tag)
    }

    /// The body of a push message, with a new key and salt.
    func sealed(_ plaintext: [UInt8]) throws -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return try sealed(plaintext, key: P256.KeyAgreement.PrivateKey(), salt: salt)
    }
}
