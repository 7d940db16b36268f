import HearthBytes
public import HearthJSON
import SQLite

/// Changing the configuration of the project, of tenants, and of identity providers.
extension AccountStore {
    /// Changes the configuration of the project. Returns it.
    ///
    /// - Parameter change: gets the changes so far.
    @discardableResult
    public func changeProject(_ change: (inout ProjectChanges) -> Void) throws(AccountFailure) -> JSONObject {
        var changes = try projectChanges() ?? ProjectChanges()
        change(&changes)
        guard changes.count <= ProjectChanges.countMax else { throw AccountFailure("INVALID_ARGUMENT", "Too many fields were changed.") }
        try run("INSERT OR REPLACE INTO setting VALUES ('project changes', ?1)", .text(changes.stored.text))
        return changes.applied(to: policy.projectDefaults)
    }

    /// Keeps of a configuration that an earlier version has stored as a whole only what differs from the configuration file, once.
    func separateProjectChanges() throws(SQLiteError) {
        let sql = "SELECT document FROM setting WHERE key = 'project'"
        guard let text = try connection.rows(sql, values: [], { $0.text(at: 0) }).first else { return }
        let document = (try? JSONValue(parsing: text))?.object ?? policy.projectDefaults
        let changes = ProjectChanges(of: document, comparedWith: policy.projectDefaults)
        try connection.transaction { () throws(SQLiteError) in
            try connection.run("INSERT OR IGNORE INTO setting VALUES ('project changes', ?1)", .text(changes.stored.text))
            try connection.run("DELETE FROM setting WHERE key = 'project'")
        }
    }

    /// A random secret of this store, made when it is first used.
    func secret(_ name: String) throws(AccountFailure) -> [UInt8] {
        let key = Value.text("secret \(name)")
        let found = try first("SELECT document FROM setting WHERE key = ?1", key) { Base64URL.bytes($0.text(at: 0)) }
        if let found { return found }
        let made = SecretText.bytes(32)
        try run("INSERT INTO setting VALUES (?1, ?2)", key, .text(Base64URL.text(made)))
        return made
    }

    // MARK: Hashes of passwords

    /// Notes that some hash costs something else than those that are made today.
    func noteForeignHashes() throws(AccountFailure) { try run("INSERT OR IGNORE INTO setting VALUES ('foreign hashes', '1')") }

    /// Notes the cost of new hashes. After a change of it, hashes of both costs are in the store; what an earlier version has stored is unknown.
    func notePasswordCost() throws(SQLiteError) {
        guard let cost = policy.passwordCost else { return }
        let known = try connection.rows("SELECT document FROM setting WHERE key = 'password cost'", values: []) { $0.text(at: 0) }.first
        guard known != cost else { return }
        let hasUsers = try !connection.rows("SELECT 1 FROM user LIMIT 1", values: []) { _ in true }.isEmpty
        try connection.transaction { () throws(SQLiteError) in
            if hasUsers { try connection.run("INSERT OR IGNORE INTO setting VALUES ('foreign hashes', '1')") }
            try connection.run("INSERT OR REPLACE INTO setting VALUES ('password cost', ?1)", .text(cost))
        }
    }

    // MARK: Tenants

    /// Creates or replaces a tenant.
    public func setTenant(_ id: String, _ document: JSONObject) throws(AccountFailure) {
        try run("INSERT OR REPLACE INTO tenant VALUES (?1, ?2)", .text(id), .text(JSONValue.object(document).text))
    }

    /// Deletes a tenant with all its users. It is gone at once; many users are removed in portions, between which other operations run.
    public func removeTenant(_ id: String) throws(AccountFailure) {
        try run("DELETE FROM tenant WHERE id = ?1", .text(id))
        try run("DELETE FROM provider WHERE tenant = ?1", .text(id))
        try run("INSERT OR IGNORE INTO removal VALUES (?1)", .text(id))
        if try removePortion(of: id) { hasNewRemoval = true }
    }

    /// Goes on with removing deleted tenants. Returns whether there is more to do.
    func removeTenants() throws(AccountFailure) -> Bool {
        guard let id = try first("SELECT tenant FROM removal LIMIT 1", convert: { $0.text(at: 0) }) else { return false }
        _ = try removePortion(of: id)
        return try first("SELECT 1 FROM removal LIMIT 1") { _ in true } ?? false
    }

    /// The most rows of a portion.
    static var removedRowsMax: Int { 500 }

    /// Removes some of what belongs to a tenant. Returns whether there is more.
    private func removePortion(of id: String) throws(AccountFailure) -> Bool {
        let tenant = Value.text(id)
        var left = Self.removedRowsMax
        // Sessions first. Messages and proofs without a user end by themselves, and have no index to be found by.
        for (table, condition) in [("session", ""), ("code", ""), ("message", " AND uid IS NOT NULL"), ("proof", " AND uid IS NOT NULL")] {
            left -= try run(
                "DELETE FROM \(table) WHERE hash IN (SELECT hash FROM \(table) WHERE tenant = ?1\(condition) LIMIT ?2)", tenant,
                .integer(Int64(left)))
            guard left > 0 else { return true }
        }
        left -= try run(
            """
            DELETE FROM link WHERE tenant = ?1 AND (provider, rawID) IN (SELECT provider, rawID FROM link WHERE tenant = ?1 LIMIT ?2)
            """, tenant, .integer(Int64(left)))
        guard left > 0 else { return true }
        left -= try run(
            "DELETE FROM user WHERE tenant = ?1 AND uid IN (SELECT uid FROM user WHERE tenant = ?1 LIMIT ?2)", tenant, .integer(Int64(left)))
        guard left > 0 else { return true }
        try run("DELETE FROM userCount WHERE tenant = ?1", tenant)
        try run("DELETE FROM removal WHERE tenant = ?1", tenant)
        return false
    }

    // MARK: Identity providers

    /// Creates or replaces a provider configuration.
    public func setProvider(_ id: String, _ kind: ProviderKind, tenant: String, _ document: JSONObject) throws(AccountFailure) {
        try run(
            "INSERT OR REPLACE INTO provider VALUES (?1, ?2, ?3, ?4)", .text(tenant), .text(kind.rawValue), .text(id),
            .text(JSONValue.object(document).text))
    }

    /// Deletes a provider configuration.
    public func removeProvider(_ id: String, _ kind: ProviderKind, tenant: String) throws(AccountFailure) {
        let count = try run(
            "DELETE FROM provider WHERE tenant = ?1 AND kind = ?2 AND id = ?3", .text(tenant), .text(kind.rawValue), .text(id))
        if count == 0 { throw AccountFailure("CONFIGURATION_NOT_FOUND") }
    }
}
