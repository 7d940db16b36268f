import SQLite

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

    /// - Returns: whether the account existed.
    func removeAccount(email: String, project: String) throws(SQLiteError) -> Bool {
        try connection.run("DELETE FROM account WHERE email = ?1 AND project = ?2", .text(email), .text(project)) > 0
    }
}
