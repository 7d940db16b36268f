import HearthBytes
import Crypto

/// A browser's subscription: where its push service takes messages, and the keys to encrypt them for it (RFC 8291 section 2).
struct WebPushSubscription: Sendable {
    /// Why a subscription cannot be used.
    struct Problem: Error, Sendable, Hashable {
        let text: String
    }

    /// Plaintext that fits into the 4,096 bytes of a body that every push service takes: less header, delimiter and tag.
    static let plaintextBytesMax = 3993

    private static let recordBytes: UInt32 = 4096
    private let browserKey: P256.KeyAgreement.PublicKey
    private let secret: [UInt8]

    /// - Parameters:
    ///   - p256dh: the browser's public key, an uncompressed point of P-256.
    ///   - auth: the 16 bytes that browser and application share.
    init(p256dh: [UInt8], auth: [UInt8]) throws(Problem) {
        guard auth.count == 16 else { throw Problem(text: "auth has \(auth.count) bytes; it must have 16") }
        guard p256dh.count == 65, let key = try? P256.KeyAgreement.PublicKey(x963Representation: p256dh) else {
            throw Problem(text: "p256dh is not an uncompressed point of P-256")
        }
        browserKey = key
        secret = auth
    }

    /// What a browser writes in base64url, with padding or without.
    static func bytes(_ text: String) -> [UInt8]? { Base64URL.bytes(Array(text.utf8).filter { $0 != UInt8(ascii: "=") }[...]) }

    /// The body of a push: one record of the content coding aes128gcm (RFC 8188 section 2).
    ///
    /// - Parameters:
    ///   - key: of this message alone.
    ///   - salt: 16 bytes of this message alone.
    func sealed(_ plaintext: [UInt8], key: P256.KeyAgreement.PrivateKey, salt: [UInt8]) throws -> [UInt8] {
        let ours = Array(key.publicKey.x963Representation)
        let shared = try key.sharedSecretFromKeyAgreement(with: browserKey)
        let info = Array("WebPush: info\0".utf8) + Array(browserKey.x963Representation) + ours
        let input = shared.hkdfDerivedSymmetricKey(using: SHA256.self, salt: secret, sharedInfo: info, outputByteCount: 32)
        let contentKey = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), outputByteCount: 16)
        let nonce = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), outputByteCount: 12)
        // The byte behind the text says that no further record follows.
        let box = try AES.GCM.seal(
            plaintext + [2], using: contentKey, nonce: AES.GCM.Nonce(data: nonce.withUnsafeBytes { Array($0) }))
        let size = withUnsafeBytes(of: Self.recordBytes.bigEndian) { Array($0) }
        return salt + size + [UInt8(ours.count)] + ours + Array(box.ciphertext) + Array(box.tag)
    }

    /// The same with a key and a salt made now.
    func sealed(_ plaintext: [UInt8]) throws -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return try sealed(plaintext, key: P256.KeyAgreement.PrivateKey(), salt: salt)
    }
}
