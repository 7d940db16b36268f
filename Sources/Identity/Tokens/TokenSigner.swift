import HearthBytes
import HearthJSON

/// Makes tokens of the host: signed with RS256, or unsigned for development.
public struct TokenSigner: Sendable {
    private let ring: KeyRing?

    /// Signs with the keys of a ring.
    public init(_ ring: KeyRing) { self.ring = ring }

    private init() { ring = nil }

    /// Makes tokens without a signature, as the emulators of development do. Everybody can write such tokens.
    public static let unsigned = TokenSigner()

    /// The token of a payload, which must be a JSON object. Blocks; signing takes about a millisecond.
    public func sign(_ payload: [UInt8]) throws(KeyRingError) -> String {
        if let ring { return try ring.sign(payload) }
        let header: JSONValue = ["alg": "none", "typ": "JWT"]
        return "\(Base64URL.text(header.serialized())).\(Base64URL.text(payload))."
    }
}
