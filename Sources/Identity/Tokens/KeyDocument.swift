import HearthBytes
import HearthJSON
import JWTKit

/// The keys of a document: a JSON Web Key Set (RFC 7517) or a JSON object of key ids and PEM certificates.
struct KeyDocument: Sendable {
    /// By key id.
    let keys: [String: VerificationKey]
    /// What was wrong with the keys that are left out, one sentence each. Never empty-handed: a document without a single
    /// usable key is an error.
    let problems: [String]

    /// Keys that are looked at; a document with more is cut there.
    private static let keysMax = 256

    init(parsing bytes: [UInt8]) async throws(KeyFetchError) {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes, limits: JSONLimits(depthMax: 16))
        } catch {
            throw KeyFetchError("The keys are not JSON: \(error).")
        }
        guard let members = document.object else { throw KeyFetchError("The keys are not a JSON object.") }
        var collected = Collected()
        if let list = members["keys"]?.array {
            for (index, key) in list.prefix(Self.keysMax).enumerated() { await collected.add(jwk: key, index: index) }
        } else {
            for (id, certificate) in members.prefix(Self.keysMax) { await collected.add(certificate: certificate, id: id) }
        }
        keys = collected.keys
        problems = collected.problems
        guard !keys.isEmpty else {
            throw KeyFetchError((["There is no RS256 signing key among the keys."] + problems).joined(separator: " "))
        }
    }
}

/// The keys met so far.
private struct Collected {
    var keys: [String: VerificationKey] = [:]
    var problems: [String] = []

    mutating func add(jwk: JSONValue, index: Int) async {
        // Of other types and purposes: not ours, and not wrong.
        guard jwk["kty"]?.string == "RSA", jwk["use"]?.string ?? "sig" == "sig", jwk["alg"]?.string ?? "RS256" == "RS256" else {
            if jwk["kty"]?.string == nil { problems.append("Key \(index) has no \"kty\".") }
            return
        }
        guard let id = jwk["kid"]?.string, !id.isEmpty else {
            problems.append("Key \(index) has no \"kid\".")
            return
        }
        guard let modulus = jwk["n"]?.string, let exponent = jwk["e"]?.string, Base64URL.bytes(modulus) != nil,
            Base64URL.bytes(exponent) != nil
        else {
            problems.append("Key \(index) (\"\(id)\") has no \"n\" and \"e\" in base64url.")
            return
        }
        await add("Key \(index) (\"\(id)\")", id) { try Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent) }
    }

    mutating func add(certificate: JSONValue, id: String) async {
        guard let text = certificate.string, !id.isEmpty else {
            problems.append("Certificate \"\(id)\" is not a text.")
            return
        }
        await add("Certificate \"\(id)\"", id) { try Insecure.RSA.PublicKey(certificatePEM: text) }
    }

    private mutating func add(_ name: String, _ id: String, _ read: () throws -> Insecure.RSA.PublicKey) async {
        guard keys[id] == nil else {
            problems.append("\(name) has the id of another key.")
            return
        }
        do {
            keys[id] = try await VerificationKey(read())
        } catch {
            problems.append("\(name) is not an RSA public key of at least 2048 bits.")
        }
    }
}
