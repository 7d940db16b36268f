import Crypto
import HearthBytes
import HearthJSON

/// A team's key for Sign in with Apple. Apple takes no fixed client secret, but a token that this key signs.
public struct AppleKey: Sendable, Equatable {
    /// The lifetime of a client secret. Apple allows half a year; each serves one request.
    static let lifetimeSeconds = 300

    let teamID: String
    let keyID: String
    private let pem: String

    /// - Parameter pem: the contents of the `.p8` file. Nil if it is not a P-256 key.
    public init?(teamID: String, keyID: String, pem: String) {
        guard (try? P256.Signing.PrivateKey(pemRepresentation: pem)) != nil else { return nil }
        self.teamID = teamID
        self.keyID = keyID
        self.pem = pem
    }

    /// A client secret (ES256).
    ///
    /// - Parameters:
    ///   - client: the services id, or the bundle id of an app.
    ///   - audience: Apple's issuer.
    ///   - now: seconds since 1970.
    func clientSecret(client: String, audience: String, now: Int) -> String? {
        let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSONValue = [
            "iss": .string(teamID), "iat": .int(Int64(now)), "exp": .int(Int64(now + Self.lifetimeSeconds)), "aud": .string(audience),
            "sub": .string(client),
        ]
        let text = [header, claims].map { Base64URL.text($0.serialized()) }.joined(separator: ".")
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem), let signature = try? key.signature(for: Array(text.utf8)) else {
            return nil
        }
        return "\(text).\(Base64URL.text(Array(signature.rawRepresentation)))"
    }
}
