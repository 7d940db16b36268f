import HearthBytes
public import HearthJSON
import SQLite

/// The configuration that administrators change: of the project, of tenants, and of identity providers.
extension AccountStore {
    // MARK: The project

    /// The configuration of the project.
    public func projectDocument() throws(AccountFailure) -> JSONObject {
        let changed = try first("SELECT document FROM setting WHERE key = 'project'") { (try? JSONValue(parsing: $0.text(at: 0)))?.object }
        return changed ?? policy.projectDefaults
    }

    /// Replaces the configuration of the project.
    public func setProject(_ document: JSONObject) throws(AccountFailure) {
        try run("INSERT OR REPLACE INTO setting VALUES ('project', ?1)", .text(JSONValue.object(document).text))
    }

    /// The rules for signing in.
    ///
    /// - Parameter tenant: empty for the project itself.
    public func rules(of tenant: String) throws(AccountFailure) -> SignInRules {
        let project = SignInRules(project: try projectDocument())
        guard !tenant.isEmpty else { return project }
        return SignInRules(tenant: try existingTenant(tenant), project: project)
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

    /// The configuration of a tenant. In development, a tenant that does not exist is made, with everything enabled.
    public func existingTenant(_ id: String) throws(AccountFailure) -> JSONObject {
        if let found = try tenantDocument(id) { return found }
        guard !policy.isStrict, Self.isTenantID(id) else { throw AccountFailure("TENANT_NOT_FOUND") }
        let made: JSONObject = [
            "allowPasswordSignup": true, "enableAnonymousUser": true, "enableEmailLinkSignin": true, "disableAuth": false,
            "mfaConfig": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]], "tenantId": .string(id),
        ]
        try setTenant(id, made)
        return made
    }

    /// The configuration of a tenant; nil if it does not exist.
    public func tenantDocument(_ id: String) throws(AccountFailure) -> JSONObject? {
        try first("SELECT document FROM tenant WHERE id = ?1", .text(id)) { (try? JSONValue(parsing: $0.text(at: 0)))?.object }
    }

    /// A page of tenants, ordered by id.
    public func tenants(after id: String, limit: Int) throws(AccountFailure) -> [(id: String, document: JSONObject)] {
        try rows("SELECT id, document FROM tenant WHERE id > ?1 ORDER BY id LIMIT ?2", [.text(id), .integer(Int64(limit))]) { row in
            ((try? JSONValue(parsing: row.text(at: 1)))?.object).map { (row.text(at: 0), $0) }
        }
    }

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

    private static func isTenantID(_ id: String) -> Bool {
        (1...128).contains(id.utf8.count) && id.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0 & 0xDF) || $0 == 45 || $0 == 95 }
    }

    // MARK: Identity providers

    /// The kinds of provider configurations.
    public enum ProviderKind: String, Sendable {
        case oauth, saml
    }

    /// The configuration of an identity provider.
    public func provider(_ id: String, _ kind: ProviderKind, tenant: String) throws(AccountFailure) -> JSONObject? {
        try first(
            "SELECT document FROM provider WHERE tenant = ?1 AND kind = ?2 AND id = ?3", .text(tenant), .text(kind.rawValue), .text(id)
        ) { (try? JSONValue(parsing: $0.text(at: 0)))?.object }
    }

    /// A page of provider configurations, ordered by id.
    public func providers(
        _ kind: ProviderKind, tenant: String, after id: String, limit: Int
    ) throws(AccountFailure) -> [(id: String, document: JSONObject)] {
        try rows(
            "SELECT id, document FROM provider WHERE tenant = ?1 AND kind = ?2 AND id > ?3 ORDER BY id LIMIT ?4",
            [.text(tenant), .text(kind.rawValue), .text(id), .integer(Int64(limit))]
        ) { row in ((try? JSONValue(parsing: row.text(at: 1)))?.object).map { (row.text(at: 0), $0) } }
    }

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
