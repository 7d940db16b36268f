import HearthBytes
import Crypto
import HearthJSON

/// JSON Web Tokens that this server signs (RFC 7519).
enum SignedToken {
    /// One that is signed with ES256 (RFC 7518 section 3.4), as push services want to see it.
    ///
    /// - Parameters:
    ///   - header: what stands in its header beside `alg`.
    ///   - claims: what it says.
    static func make(header: JSONObject, claims: JSONObject, key: P256.Signing.PrivateKey) throws -> String {
        var header = header
        header["alg"] = "ES256"
        return try make(header, claims) { try Array(key.signature(for: $0).rawRepresentation) }
    }

    /// One that is signed by whatever `header` says.
    static func make(_ header: JSONObject, _ claims: JSONObject, sign: ([UInt8]) throws -> [UInt8]) throws -> String {
        let text = [header, claims].map { Base64URL.text(JSONValue.object($0).serialized()) }.joined(separator: ".")
        return try "\(text).\(Base64URL.text(sign(Array(text.utf8))))"
    }
}
