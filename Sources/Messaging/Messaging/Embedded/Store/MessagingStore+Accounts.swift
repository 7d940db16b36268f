import SQLite

extension MessagingStore {
    private static let accountColumns =
        "SELECT email, project, keyID, publicKey, created, (SELECT scopes FROM accountScopes WHERE accountScopes.email = account.email) FROM account"

    func account(email: String) throws(SQLiteError) -> ServiceAccount? {
        try connection.with("\(Self.accountColumns) WHERE email = ?1") { row throws(SQLiteError) in
            row.bind(.text(email), at: 1)
            return try row.step() ? ServiceAccount(row) : nil
        }
    }

    func put(_ account: ServiceAccount) throws(SQLiteError) {
        try connection.run(
            "INSERT OR REPLACE INTO account(email, project, keyID, publicKey, created) VALUES(?1, ?2, ?3, ?4, ?5)", .text(account.email),
            .text(account.project), .text(account.keyID), .blob(account.publicKey), .integer(account.created))
        try connection.run("DELETE FROM accountScopes WHERE email = ?1", .text(account.email))
        guard let bounds = account.bounds else { return }
        try connection.run(
            "INSERT INTO accountScopes(email, scopes) VALUES(?1, ?2)", .text(account.email), .integer(Int64(bounds.rawValue)))
    }

    func accounts(project: String) throws(SQLiteError) -> [ServiceAccount] {
        try connection.with("\(Self.accountColumns) WHERE project = ?1 ORDER BY email LIMIT 1000") { row throws(SQLiteError) in
            row.bind(.text(project), at: 1)
            var found: [ServiceAccount] = []
            while try row.step() { found.append(ServiceAccount(row)) }
            return found
        }
    }

    /// All accounts.
    func accounts() throws(SQLiteError) -> [ServiceAccount] {
        try connection.with(Self.accountColumns) { row throws(SQLiteError) in
            var found: [ServiceAccount] = []
            while try row.step() { found.append(ServiceAccount(row)) }
            return found
        }
    }

    /// - Returns: whether the account existed.
    func removeAccount(email: String, project: String) throws(SQLiteError) -> Bool {
        guard try connection.run("DELETE FROM account WHERE email = ?1 AND project = ?2", .text(email), .text(project)) > 0 else { return false }
        try connection.run("DELETE FROM accountScopes WHERE email = ?1", .text(email))
        return true
    }
}

extension ServiceAccount {
    /// The account of a row with the columns of `accountColumns`.
    fileprivate init(_ row: Statement) {
        // No account is bounded to nothing: 0 stands for the missing row.
        let bounds = Scopes(rawValue: Int(row.integer(at: 5)))
        self.init(
            email: row.text(at: 0), project: row.text(at: 1), keyID: row.text(at: 2), publicKey: [UInt8](row.bytes(at: 3)),
            created: row.integer(at: 4), bounds: bounds.isEmpty ? nil : bounds)
    }
}
