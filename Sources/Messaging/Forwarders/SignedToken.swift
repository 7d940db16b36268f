import Crypto
import JSON

/// A JSON Web Token that is signed with ES256 (RFC 7519, RFC 7518 section 3.4), as push services want to see one.
enum SignedToken {
    /// - Parameters:
    ///   - header: what stands in its header beside `alg`.
    ///   - claims: what it says.
    static func make(header: JSONObject, claims: JSONObject, key: P256.Signing.PrivateKey) throws -> String {
        var header = header
        header["alg"] = "ES256"
        let text = [header, claims].map { Base64URL.text(JSONValue.object($0).serialized()) }.joined(separator: ".")
        let signature = try key.signature(for: Array(text.utf8))
        return "\(text).\(Base64URL.text(Array(signature.rawRepresentation)))"
    }
}
