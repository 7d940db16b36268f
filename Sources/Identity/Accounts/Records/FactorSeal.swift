import Crypto
import HearthBytes

/// Encrypts the secrets of one-time codes, which unlike passwords have to be stored in a form that can be read (AES-256-GCM).
///
/// The key is in a file of its own: who reads a copy of the store alone gets no secrets.
public struct FactorSeal: Sendable {
    /// The length of a key.
    public static let keyBytes = 32
    /// The version of the form.
    private static let prefix = "g1."

    private let key: SymmetricKey

    /// - Parameter key: of any length; ``keyBytes`` random bytes.
    public init(key: [UInt8]) { self.key = SymmetricKey(data: SHA256.hash(data: Array("second factors ".utf8) + key)) }

    /// A seal for a store that nobody opens again.
    public init() { self.init(key: SecretText.bytes(Self.keyBytes)) }

    /// Tells keys apart, and tells nothing about the key.
    var id: String {
        Base64URL.text(Array(HMAC<SHA256>.authenticationCode(for: Array("id".utf8), using: key).prefix(12)))
    }

    /// The encrypted form of a secret.
    ///
    /// - Parameter place: where it is stored: elsewhere it cannot be read.
    func sealed(_ secret: [UInt8], _ place: String) -> String {
        guard let box = try? AES.GCM.seal(secret, using: key, authenticating: Array(place.utf8)), let bytes = box.combined else {
            preconditionFailure("AES-GCM encrypts with every key of 32 bytes")
        }
        return Self.prefix + Base64URL.text(Array(bytes))
    }

    /// The secret of an encrypted form; nil if it was encrypted with another key or for another place, or was changed.
    func opened(_ text: String, _ place: String) -> [UInt8]? {
        guard Self.isSealed(text), let bytes = Base64URL.bytes(String(text.dropFirst(Self.prefix.count))),
            let box = try? AES.GCM.SealedBox(combined: bytes), let secret = try? AES.GCM.open(box, using: key, authenticating: Array(place.utf8))
        else { return nil }
        return Array(secret)
    }

    /// Whether a text is an encrypted form. Earlier versions stored the secret itself.
    static func isSealed(_ text: String) -> Bool { text.hasPrefix(prefix) }
}
