import HearthBytes
public import HearthJSON
import SQLite

/// Changing the configuration of the project, of tenants, and of identity providers.
extension AccountStore {
    /// Replaces the configuration of the project.
    public func setProject(_ document: JSONObject) throws(AccountFailure) {
        try run("INSERT OR REPLACE INTO setting VALUES ('project', ?1)", .text(JSONValue.object(document).text))
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
