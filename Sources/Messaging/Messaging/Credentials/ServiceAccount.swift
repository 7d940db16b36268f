import Crypto
import CryptoExtras
import HearthJSON

/// A service account. Holders of its private key may send for a project (spec messaging 5.1). The server stores only the public key.
struct ServiceAccount: Sendable {
    var email: String
    var project: String
    var keyID: String
    /// The public key in DER, as SubjectPublicKeyInfo.
    var publicKey: [UInt8]
    var created: Int64
    /// The most that the account may do; nil for everything.
    var bounds: Scopes?

    /// Makes a new account and its key file, which is returned only once.
    ///
    /// - Parameters:
    ///   - name: the part of the address before the `@`.
    ///   - tokenURI: the token endpoint of this server.
    ///   - bounds: what the account may do at most; nil for everything.
    static func make(
        name: String, project: String, tokenURI: String, bounds: Scopes?, now: Int64
    ) -> (account: ServiceAccount, keyFile: JSONValue)? {
        guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { return nil }
        let keyID = RandomText.bytes(20).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let email = "\(name)@\(project).iam.gserviceaccount.com"
        let account = ServiceAccount(
            email: email, project: project, keyID: keyID, publicKey: Array(key.publicKey.derRepresentation), created: now,
            bounds: bounds)
        let file: JSONValue = [
            "type": "service_account", "project_id": .string(project), "private_key_id": .string(keyID),
            "private_key": .string(key.pkcs8PEMRepresentation + "\n"), "client_email": .string(email),
            "client_id": .string(MessagingProject.number(for: email)), "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": .string(tokenURI), "universe_domain": "googleapis.com",
        ]
        return (account, file)
    }

    /// Whether this account has signed `text` (RS256).
    func hasSigned(_ text: [UInt8], _ signature: [UInt8]) -> Bool {
        guard let key = try? _RSA.Signing.PublicKey(derRepresentation: publicKey) else { return false }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
    }

    /// Whether the account may sign tokens with which users sign in, and apps prove what they are.
    var signsCustomTokens: Bool { bounds?.contains(.users) ?? true }

    /// Whether the text can be the first part of an account's address.
    static func isName(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count) && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
    }
}
