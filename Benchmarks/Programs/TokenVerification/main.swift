import Crypto
import CryptoExtras
import Foundation
import HearthBytes
import HearthJSON
import Tokens

// Prints the nanoseconds of verifying an ID token as JSON: known to the cache, not known, and the signature alone by the crypto library.

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("token-verification-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
print(try await Measurement(ring: KeyRing(file: folder.appendingPathComponent("id-token.keys").path)).run())

/// The three alternate in short rounds, so that other work on the machine affects all of them alike. Each figure is a median of the rounds.
struct Measurement {
    let ring: KeyRing

    private static let (rounds, perRound, cachedPerRound) = (41, 200, 20_000)
    private static let project = "demo-hearth"

    /// Runs on the pool of Swift's tasks, as the host's verification does, so that no figure has a change of threads in it.
    @concurrent
    func run() async throws -> String {
        let tokens = try (0..<Self.perRound).map(makeToken)
        let key = try publicKey()
        let signatures = tokens.map { token -> (signed: [UInt8], signature: [UInt8]) in
            let parts = token.split(separator: UInt8(ascii: "."))
            guard let signature = Base64URL.bytes(String(decoding: parts[2], as: UTF8.self)) else { fatalError("a token has no signature") }
            return (Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1]), signature)
        }
        let rules = TokenRules.idToken(
            project: Self.project, issuer: "https://securetoken.google.com/\(Self.project)", clockSkewSeconds: 0, acceptsUnsigned: false)
        let keys = KeySet(source: .ring(ring))
        let known = TokenVerifier(rules: rules, keys: keys)
        guard case .success = await known.verify(tokens[0]) else { fatalError("the verifier refuses a token of the ring") }
        var (cached, uncached, library): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<Self.rounds {
            var start = ContinuousClock.now
            for _ in 0..<Self.cachedPerRound where !Self.isKnown(tokens[0], to: known) { fatalError("the cache has forgotten the token") }
            cached.append(Self.nanoseconds(since: start, Self.cachedPerRound))
            // A verifier that knows none of them.
            let fresh = TokenVerifier(rules: rules, keys: keys)
            start = .now
            for token in tokens {
                guard case .success = await fresh.verify(token) else { fatalError("the verifier refuses a token of the ring") }
            }
            uncached.append(Self.nanoseconds(since: start, Self.perRound))
            start = .now
            for one in signatures {
                let signature = _RSA.Signing.RSASignature(rawRepresentation: one.signature)
                let isValid = key.isValidSignature(signature, for: SHA256.hash(data: one.signed), padding: .insecurePKCS1v1_5)
                guard isValid else { fatalError("the library refuses a signature of the ring") }
            }
            library.append(Self.nanoseconds(since: start, Self.perRound))
        }
        return """
            {"cachedNanoseconds": \(Self.median(cached)), "uncachedNanoseconds": \(Self.median(uncached)), \
            "libraryNanoseconds": \(Self.median(library))}
            """
    }

    private func makeToken(_ number: Int) throws -> [UInt8] {
        let (uid, now) = ("user\(number)", Int64(Date().timeIntervalSince1970))
        let claims: JSONValue = [
            "iss": .string("https://securetoken.google.com/\(Self.project)"), "aud": .string(Self.project), "sub": .string(uid),
            "user_id": .string(uid), "iat": .int(now - 10), "auth_time": .int(now - 10), "exp": .int(now + 3000),
            "email": .string("\(uid)@example.org"), "email_verified": true, "name": "A user of the benchmark",
            "firebase": ["sign_in_provider": "password", "identities": ["email": [.string("\(uid)@example.org")]]],
        ]
        return Array(try ring.sign(claims.serialized()).utf8)
    }

    /// The public key of the ring, as the crypto library has it.
    private func publicKey() throws -> _RSA.Signing.PublicKey {
        let document = try JSONValue(parsing: String(decoding: ring.keySet(), as: UTF8.self))
        guard let key = document["keys"]?.array?.first, let modulus = key["n"]?.string, let exponent = key["e"]?.string,
            let n = Base64URL.bytes(modulus), let e = Base64URL.bytes(exponent)
        else { fatalError("the ring's document has no key") }
        return try _RSA.Signing.PublicKey(n: n, e: e)
    }

    private static func isKnown(_ token: [UInt8], to verifier: TokenVerifier) -> Bool { verifier.cached(token.span) != nil }

    private static func nanoseconds(since start: ContinuousClock.Instant, _ count: Int) -> Double {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(count)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
