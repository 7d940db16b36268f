import Crypto
import HearthJSON
import Synchronization

/// The provider key that signs requests to APNs: a key of the developer's account.
public final class ApnsKey: Sendable {
    /// The reason why a key cannot be used.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        /// One sentence that says what is wrong with the key.
        public let description: String
    }

    /// The time for which a token is reused, in seconds. Apple refuses new tokens within 20 minutes, and tokens older than 60 minutes.
    private static let tokenSeconds: Int64 = 45 * 60

    private struct Token {
        var text: String
        var issued: Int64
    }

    private let key: P256.Signing.PrivateKey
    private let keyID: String
    private let teamID: String
    private let token = Mutex<Token?>(nil)

    /// - Parameters:
    ///   - pem: the contents of the `.p8` file.
    ///   - keyID: the key's ten characters.
    ///   - teamID: the team's ten characters.
    public init(pem: String, keyID: String, teamID: String) throws(Problem) {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
            throw Problem(description: "the APNs key is not a P-256 private key in PEM, as in Apple's .p8 files")
        }
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
    }

    /// The value of the `authorization` header.
    ///
    /// - Parameter now: seconds since 1970.
    func authorization(now: Int64) throws -> String {
        try token.withLock { token in
            if let current = token, (0..<Self.tokenSeconds).contains(now - current.issued) { return "bearer \(current.text)" }
            let text = try SignedToken.make(
                header: ["kid": .string(keyID)], claims: ["iss": .string(teamID), "iat": .int(now)], key: key)
            token = Token(text: text, issued: now)
            return "bearer \(text)"
        }
    }

    /// Drops a token that Apple has refused as too old. The next request gets a new one.
    func forget(_ authorization: String) {
        token.withLock { if let current = $0, authorization.hasSuffix(current.text) { $0 = nil } }
    }
}
