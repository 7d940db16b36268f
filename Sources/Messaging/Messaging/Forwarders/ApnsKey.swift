import Crypto
import HearthJSON
import Synchronization

/// Who this server is to Apple's push service: a key of the developer's account.
public final class ApnsKey: Sendable {
    /// Why there is none.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        /// One sentence that says what is wrong with the key.
        public let description: String
    }

    /// A token is used again for this long, in seconds: Apple refuses new ones within 20 minutes and old ones after 60.
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
            throw Problem(description: "the APNs key is not a private key of P-256 in PEM, as Apple's .p8 files hold one")
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

    /// Apple says that a token is too old: another one is made for the next request.
    func forget(_ authorization: String) {
        token.withLock { if let current = $0, authorization.hasSuffix(current.text) { $0 = nil } }
    }
}
