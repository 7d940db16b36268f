import HearthBytes
import Crypto
import HearthJSON

/// Signs JSON Web Tokens (RFC 7519).
enum SignedToken {
    /// Makes a token that is signed with ES256 (RFC 7518 section 3.4), as push services require.
    ///
    /// - Parameters:
    ///   - header: the members of its header, except for `alg`.
    ///   - claims: the claims.
    static func make(header: JSONObject, claims: JSONObject, key: P256.Signing.PrivateKey) throws -> String {
        var header = header
        header["alg"] = "ES256"
        return try make(header, claims) { try Array(key.signature(for: $0).rawRepresentation) }
    }

    /// Makes a token with this header. `sign` must use the algorithm that the header names.
    static func make(_ header: JSONObject, _ claims: JSONObject, sign: ([UInt8]) throws -> [UInt8]) throws -> String {
        let text = [header, claims].map { Base64URL.text(JSONValue.object($0).serialized()) }.joined(separator: ".")
        return try "\(text).\(Base64URL.text(sign(Array(text.utf8))))"
    }
}
