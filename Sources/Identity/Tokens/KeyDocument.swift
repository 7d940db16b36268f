import HearthBytes
import HearthJSON

/// The keys of a document: a JSON Web Key Set (RFC 7517) or a JSON object of key ids and PEM certificates.
struct KeyDocument: Sendable {
    /// By key id.
    let keys: [String: VerificationKey]
    /// Problems with keys that are left out, one sentence each. A document without any usable key is an error.
    let problems: [String]

    /// The most keys read from a document; further ones are ignored.
    private static let keysMax = 256

    init(parsing bytes: [UInt8]) throws(KeyFetchError) {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes, limits: JSONLimits(depthMax: 16))
        } catch {
            throw KeyFetchError("The keys are not JSON: \(error).")
        }
        guard let members = document.object else { throw KeyFetchError("The keys are not a JSON object.") }
        var collected = Collected()
        if let list = members["keys"]?.array {
            for (index, key) in list.prefix(Self.keysMax).enumerated() { collected.add(jwk: key, index: index) }
        } else {
            for (id, certificate) in members.prefix(Self.keysMax) { collected.add(certificate: certificate, id: id) }
        }
        keys = collected.keys
        problems = collected.problems
        guard !keys.isEmpty else {
            throw KeyFetchError((["There is no RS256 signing key among the keys."] + problems).joined(separator: " "))
        }
    }
}

/// The keys read so far.
private struct Collected {
    var keys: [String: VerificationKey] = [:]
    var problems: [String] = []

    mutating func add(jwk: JSONValue, index: Int) {
        // Keys of other types and uses are ignored, without a problem.
        guard jwk["kty"]?.string == "RSA", jwk["use"]?.string ?? "sig" == "sig", jwk["alg"]?.string ?? "RS256" == "RS256" else {
            if jwk["kty"]?.string == nil { problems.append("Key \(index) has no \"kty\".") }
            return
        }
        guard let id = jwk["kid"]?.string, !id.isEmpty else {
            problems.append("Key \(index) has no \"kid\".")
            return
        }
        guard let modulus = jwk["n"]?.string.flatMap(Base64URL.bytes), let exponent = jwk["e"]?.string.flatMap(Base64URL.bytes) else {
            problems.append("Key \(index) (\"\(id)\") has no \"n\" and \"e\" in base64url.")
            return
        }
        add("Key \(index) (\"\(id)\")", id) { try VerificationKey(modulus: modulus, exponent: exponent) }
    }

    mutating func add(certificate: JSONValue, id: String) {
        guard let text = certificate.string, !id.isEmpty else {
            problems.append("Certificate \"\(id)\" is not a text.")
            return
        }
        add("Certificate \"\(id)\"", id) { try VerificationKey(certificate: text) }
    }

    private mutating func add(_ name: String, _ id: String, _ read: () throws -> VerificationKey) {
        guard keys[id] == nil else {
            problems.append("\(name) has the id of another key.")
            return
        }
        do {
            keys[id] = try read()
        } catch {
            problems.append("\(name) is not an RSA public key of at least 2048 bits.")
        }
    }
}
