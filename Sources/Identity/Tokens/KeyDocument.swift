import HearthBytes
import HearthJSON
import JWTKit

/// The keys of a document: a JSON Web Key Set (RFC 7517) or a JSON object of key ids and PEM certificates.
struct KeyDocument: Sendable {
    /// By key id.
    let keys: [String: VerificationKey]
    /// Problems with keys that are left out, one sentence each. A document without any usable key is an error.
    let problems: [String]

    /// The most keys read from a document; further ones are ignored.
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

/// The keys read so far.
private struct Collected {
    var keys: [String: VerificationKey] = [:]
    var problems: [String] = []

    mutating func add(jwk: JSONValue, index: Int) async {
        // Keys of other types and uses are ignored, without a problem.
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

/// A public key, bound to one algorithm.
///
/// The algorithm is always RS256: a token cannot make an RSA key serve as an HMAC secret.
struct VerificationKey: Sendable {
    private let algorithm: any JWTAlgorithm
    /// Identifies the key, to tell whether two documents contain the same one.
    let fingerprint: String

    init(_ key: Insecure.RSA.PublicKey) async throws {
        fingerprint = key.pemRepresentation
        algorithm = try await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256).getKey()
    }

    /// Whether `signature` is this key's RSASSA-PKCS1-v1_5 signature of `signed` with SHA-256. Takes tens of microseconds.
    func isSignature(_ signature: [UInt8], of signed: ArraySlice<UInt8>) -> Bool {
        (try? algorithm.verify(signature, signs: signed)) ?? false
    }
}

/// The lifetimes of keys and the intervals of fetching, in seconds.
public struct KeyTimes: Sendable, Equatable {
    /// The lifetime of keys whose answer states none.
    public var maxAgeDefault = 3600
    /// The least lifetime, for answers that state less.
    public var maxAgeFloor = 10
    /// The greatest lifetime, for answers that state more.
    public var maxAgeCeiling = 86_400
    /// How long expired keys stay in use while newer ones cannot be fetched.
    public var staleMax = 86_400
    /// The least interval between fetches for unknown key ids.
    public var unknownKeyInterval = 30
    /// The least time between a failure and the next fetch.
    public var retryInterval = 5
    /// The lifetime of the contents of a file.
    public var fileMaxAge = 60

    /// The values of the host.
    public init() {}

    /// The lifetime of an answer's keys.
    func lifetime(_ maxAge: Int?) -> Int { min(max(maxAge ?? maxAgeDefault, maxAgeFloor), maxAgeCeiling) }
}
