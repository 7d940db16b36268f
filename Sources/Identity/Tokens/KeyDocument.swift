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

    /// - Parameter algorithms: those of the keys to read: `RS256`, `ES256`.
    init(parsing bytes: [UInt8], algorithms: Set<String> = ["RS256"]) throws(KeyFetchError) {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: bytes, limits: JSONLimits(depthMax: 16))
        } catch {
            throw KeyFetchError("The keys are not JSON: \(error).")
        }
        guard let members = document.object else { throw KeyFetchError("The keys are not a JSON object.") }
        var collected = Collected(algorithms: algorithms)
        if let list = members["keys"]?.array {
            for (index, key) in list.prefix(Self.keysMax).enumerated() { collected.add(jwk: key, index: index) }
        } else {
            for (id, certificate) in members.prefix(Self.keysMax) { collected.add(certificate: certificate, id: id) }
        }
        keys = collected.keys
        problems = collected.problems
        guard !keys.isEmpty else {
            let names = algorithms.sorted().reversed().joined(separator: " or ")
            throw KeyFetchError((["There is no \(names) signing key among the keys."] + problems).joined(separator: " "))
        }
    }
}

/// The keys read so far.
private struct Collected {
    let algorithms: Set<String>
    var keys: [String: VerificationKey] = [:]
    var problems: [String] = []

    mutating func add(jwk: JSONValue, index: Int) {
        // Keys of other types and uses are ignored, without a problem.
        guard let algorithm = Self.algorithm(jwk), algorithms.contains(algorithm) else {
            if jwk["kty"]?.string == nil { problems.append("Key \(index) has no \"kty\".") }
            return
        }
        guard let id = jwk["kid"]?.string, !id.isEmpty else {
            problems.append("Key \(index) has no \"kid\".")
            return
        }
        if algorithm == "ES256" { return add(curve: jwk, "Key \(index) (\"\(id)\")", id) }
        guard let modulus = jwk["n"]?.string.flatMap(Base64URL.bytes), let exponent = jwk["e"]?.string.flatMap(Base64URL.bytes) else {
            problems.append("Key \(index) (\"\(id)\") has no \"n\" and \"e\" in base64url.")
            return
        }
        add("Key \(index) (\"\(id)\")", id) { try VerificationKey(modulus: modulus, exponent: exponent) }
    }

    /// The algorithm that a signing key is for; nil for keys of other types and uses.
    private static func algorithm(_ jwk: JSONValue) -> String? {
        guard jwk["use"]?.string ?? "sig" == "sig" else { return nil }
        let algorithm: String
        switch jwk["kty"]?.string {
        case "RSA": algorithm = "RS256"
        case "EC" where jwk["crv"]?.string == "P-256": algorithm = "ES256"
        default: return nil
        }
        return jwk["alg"]?.string ?? algorithm == algorithm ? algorithm : nil
    }

    private mutating func add(curve jwk: JSONValue, _ name: String, _ id: String) {
        guard let x = jwk["x"]?.string.flatMap(Base64URL.bytes), let y = jwk["y"]?.string.flatMap(Base64URL.bytes) else {
            problems.append("\(name) has no \"x\" and \"y\" in base64url.")
            return
        }
        add(name, id, problem: "is not a point of the curve P-256") { try VerificationKey(x: x, y: y) }
    }

    mutating func add(certificate: JSONValue, id: String) {
        guard let text = certificate.string, !id.isEmpty else {
            problems.append("Certificate \"\(id)\" is not a text.")
            return
        }
        add("Certificate \"\(id)\"", id) { try VerificationKey(certificate: text) }
    }

    private mutating func add(
        _ name: String, _ id: String, problem: String = "is not an RSA public key of at least 2048 bits", _ read: () throws -> VerificationKey
    ) {
        guard keys[id] == nil else {
            problems.append("\(name) has the id of another key.")
            return
        }
        do {
            let key = try read()
            // The key of a certificate is known only now.
            if algorithms.contains(key.algorithm) { keys[id] = key }
        } catch {
            problems.append("\(name) \(problem).")
        }
    }
}
