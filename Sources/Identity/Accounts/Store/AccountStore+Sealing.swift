import HearthJSON
import SQLite

/// The key of second factors, and stores of earlier versions.
extension AccountStore {
    private static var rowsPerStep: Int64 { 500 }

    /// Encrypts the secrets of second factors that an earlier version has stored as they are; once, since later ones are encrypted at once.
    ///
    /// - Throws: if the secrets were encrypted with another key: without it they would be lost by the next change of a user.
    func sealFactors() throws(SQLiteError) {
        let name = "key of second factors"
        let known = try connection.rows("SELECT document FROM setting WHERE key = ?1", values: [.text(name)]) { $0.text(at: 0) }.first
        if let known {
            guard known != factorSeal.id else { return }
            throw SQLiteError(
                extendedCode: Self.wrongKeyCode, message: "second-factors.keys is not the file with which this store was written",
                operation: "reading the key of second factors")
        }
        // Overwrites the old secrets, so that none stays readable in the file.
        _ = try connection.rows("PRAGMA secure_delete = ON")
        try connection.transaction { () throws(SQLiteError) in
            var last: (tenant: String, uid: String)? = ("", "")
            while let start = last { last = try sealFactors(after: start) }
            try connection.run("INSERT INTO setting VALUES (?1, ?2)", .text(name), .text(factorSeal.id))
        }
        _ = try connection.rows("PRAGMA secure_delete = OFF")
    }

    /// SQLITE_AUTH: "authorization denied".
    private static var wrongKeyCode: Int32 { 23 }

    /// Encrypts the secrets of some users. Returns the last of them; nil at the end.
    private func sealFactors(after start: (tenant: String, uid: String)) throws(SQLiteError) -> (tenant: String, uid: String)? {
        let sql = """
            SELECT tenant, uid, record FROM user WHERE (tenant, uid) > (?1, ?2) AND record LIKE '%"m":[%' ORDER BY tenant, uid LIMIT ?3
            """
        let values: [Value] = [.text(start.tenant), .text(start.uid), .integer(Self.rowsPerStep)]
        let found = try connection.rows(sql, values: values) { ($0.text(at: 0), $0.text(at: 1), $0.text(at: 2)) }
        for (tenant, uid, text) in found {
            guard let stored = try? JSONValue(parsing: text), let user = UserRecord(tenant: tenant, uid: uid, stored: stored, factorSeal),
                user.factors.contains(where: { $0.secret != nil })
            else { continue }
            try connection.run(
                "UPDATE user SET record = ?3 WHERE tenant = ?1 AND uid = ?2", .text(tenant), .text(uid),
                .text(user.stored(factorSeal).text))
        }
        return found.count == Self.rowsPerStep ? found.last.map { ($0.0, $0.1) } : nil
    }
}
