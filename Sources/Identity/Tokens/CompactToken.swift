import HearthBytes
import HearthJSON

/// A parsed but unverified token: three parts in base64url, separated by dots (RFC 7519).
struct CompactToken {
    /// `alg`; nil if it is absent or not a string.
    let algorithm: String?
    /// `kid`; nil if it is absent, empty or not a string. Only a name to look up, never a path or an address.
    let keyID: String?
    /// `typ` in upper case, since it is a media type (RFC 7515 section 4.1.9); nil if it is absent, empty if it is not a string.
    let type: String?
    /// Whether the header demands extensions (`crit`); none is supported (RFC 7515 section 4.1.11).
    let hasExtensions: Bool
    /// The bytes that the signature covers.
    let signed: ArraySlice<UInt8>
    let payload: [UInt8]
    let signature: [UInt8]
    /// Whether header or payload is padded with `=`. RFC 7515 forbids it, but some tools that write unsigned tokens do it.
    let isPadded: Bool

    /// Deeper payloads are refused: no issuer writes them.
    static let payloadLimits = JSONLimits(depthMax: 64)

    init(_ token: [UInt8]) throws(TokenRefusal) {
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.bytes(Self.unpadded(parts[0])), let payload = Base64URL.bytes(Self.unpadded(parts[1])),
            let signature = Base64URL.bytes(parts[2])
        else { throw .malformed }
        isPadded = parts[0].last == UInt8(ascii: "=") || parts[1].last == UInt8(ascii: "=")
        let header = try Self.object(head, JSONLimits(depthMax: 8))
        algorithm = header["alg"]?.string
        keyID = header["kid"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        type = header["typ"].map { $0.string?.uppercased() ?? "" }
        hasExtensions = header["crit"] != nil
        signed = token[..<parts[1].endIndex]
        self.payload = payload
        self.signature = signature
    }

    /// Removes padding of the last four characters (RFC 4648 section 3.2); any other `=` stays and is refused.
    private static func unpadded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard text.count % 4 == 0, text.last == UInt8(ascii: "=") else { return text }
        let shorter = text.dropLast()
        return shorter.last == UInt8(ascii: "=") ? shorter.dropLast() : shorter
    }

    func claims() throws(TokenRefusal) -> JSONValue { try Self.object(payload, Self.payloadLimits) }

    private static func object(_ bytes: [UInt8], _ limits: JSONLimits) throws(TokenRefusal) -> JSONValue {
        guard let value = try? JSONValue(parsing: bytes, limits: limits), value.object != nil else { throw .malformed }
        return value
    }
}
