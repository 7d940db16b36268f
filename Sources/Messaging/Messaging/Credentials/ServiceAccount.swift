import Crypto
import CryptoExtras
import HearthJSON
import SQLite

/// Whoever has its private key may send for a project (spec messaging 5.1). The server keeps the public key only.
struct ServiceAccount: Sendable {
    var email: String
    var project: String
    var keyID: String
    /// DER, SubjectPublicKeyInfo.
    var publicKey: [UInt8]
    var created: Int64

    /// A new account, and the key file that is given out once.
    ///
    /// - Parameters:
    ///   - name: the part of its address before the `@`.
    ///   - tokenURI: this server's token endpoint.
    static func make(name: String, project: String, tokenURI: String, now: Int64) -> (account: ServiceAccount, keyFile: JSONValue)? {
        guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { return nil }
        let keyID = RandomText.bytes(20).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let email = "\(name)@\(project).iam.gserviceaccount.com"
        let account = ServiceAccount(
            email: email, project: project, keyID: keyID, publicKey: Array(key.publicKey.derRepresentation), created: now)
        let file: JSONValue = [
            "type": "service_account", "project_id": .string(project), "private_key_id": .string(keyID),
            "private_key": .string(key.pkcs8PEMRepresentation + "\n"), "client_email": .string(email),
            "client_id": .string(MessagingProject.number(for: email)), "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": .string(tokenURI), "universe_domain": "googleapis.com",
        ]
        return (account, file)
    }

    /// Whether `signature` is this account's of `text` (RS256).
    func hasSigned(_ text: [UInt8], _ signature: [UInt8]) -> Bool {
        guard let key = try? _RSA.Signing.PublicKey(derRepresentation: publicKey) else { return false }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
    }

    /// Whether a name can be the first part of an account's address.
    static func isName(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count) && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
    }
}

extension MessagingStore {
    func account(email: String) throws(SQLiteError) -> ServiceAccount? {
        try connection.with("SELECT project, keyID, publicKey, created FROM account WHERE email = ?1") { row throws(SQLiteError) in
            row.bind(.text(email), at: 1)
            guard try row.step() else { return nil }
            return ServiceAccount(
                email: email, project: row.text(at: 0), keyID: row.text(at: 1), publicKey: [UInt8](row.bytes(at: 2)), created: row.integer(at: 3))
        }
    }

    func put(_ account: ServiceAccount) throws(SQLiteError) {
        try connection.run(
            "INSERT OR REPLACE INTO account(email, project, keyID, publicKey, created) VALUES(?1, ?2, ?3, ?4, ?5)", .text(account.email),
            .text(account.project), .text(account.keyID), .blob(account.publicKey), .integer(account.created))
    }

    func accounts(project: String) throws(SQLiteError) -> [ServiceAccount] {
        let sql = "SELECT email, keyID, created FROM account WHERE project = ?1 ORDER BY email LIMIT 1000"
        return try connection.with(sql) { row throws(SQLiteError) in
            row.bind(.text(project), at: 1)
            var found: [ServiceAccount] = []
            while try row.step() {
                found.append(
                    ServiceAccount(email: row.text(at: 0), project: project, keyID: row.text(at: 1), publicKey: [], created: row.integer(at: 2)))
            }
            return found
        }
    }

    /// All accounts, without their keys.
    func accounts() throws(SQLiteError) -> [ServiceAccount] {
        try connection.with("SELECT email, project, keyID, created FROM account") { row throws(SQLiteError) in
            var found: [ServiceAccount] = []
            while try row.step() {
                found.append(
                    ServiceAccount(
                        email: row.text(at: 0), project: row.text(at: 1), keyID: row.text(at: 2), publicKey: [], created: row.integer(at: 3)))
            }
            return found
        }
    }

    /// - Returns: whether there was one.
    func removeAccount(email: String, project: String) throws(SQLiteError) -> Bool {
        try connection.run("DELETE FROM account WHERE email = ?1 AND project = ?2", .text(email), .text(project)) > 0
    }
}
