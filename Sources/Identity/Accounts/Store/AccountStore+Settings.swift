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

    // MARK: Tenants

    /// Creates or replaces a tenant.
    public func setTenant(_ id: String, _ document: JSONObject) throws(AccountFailure) {
        try run("INSERT OR REPLACE INTO tenant VALUES (?1, ?2)", .text(id), .text(JSONValue.object(document).text))
    }

    /// Deletes a tenant with all its users.
    public func removeTenant(_ id: String) throws(AccountFailure) {
        try run("DELETE FROM tenant WHERE id = ?1", .text(id))
        try removeAllUsers(tenant: id)
        for table in ["code", "message", "proof", "provider"] { try run("DELETE FROM \(table) WHERE tenant = ?1", .text(id)) }
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
