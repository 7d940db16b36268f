public import HearthJSON
import SQLite

/// Reading the configuration that administrators change: of the project, of tenants, and of identity providers.
extension AccountReader {
    // MARK: The project

    /// The configuration of the project.
    public func projectDocument() throws(AccountFailure) -> JSONObject {
        try projectChanges()?.applied(to: policy.projectDefaults) ?? policy.projectDefaults
    }

    /// The changes of administrators; nil if there are none.
    func projectChanges() throws(AccountFailure) -> ProjectChanges? {
        try first("SELECT document FROM setting WHERE key = 'project changes'") { row in
            (try? JSONValue(parsing: row.text(at: 0))).flatMap { ProjectChanges(stored: $0) }
        }
    }

    /// The rules for signing in.
    ///
    /// - Parameter tenant: empty for the project itself.
    public func rules(of tenant: String) throws(AccountFailure) -> SignInRules {
        let project = SignInRules(project: try projectDocument())
        guard !tenant.isEmpty else { return project }
        return SignInRules(tenant: try existingTenant(tenant), project: project)
    }

    /// Whether users may have hashes of passwords that cost something else than those that are made today.
    func hasForeignHashes() throws(AccountFailure) -> Bool {
        try first("SELECT 1 FROM setting WHERE key = 'foreign hashes'") { _ in true } ?? false
    }

    // MARK: Tenants

    /// The configuration of a tenant. In development, a tenant that does not exist is made, with everything enabled.
    public func existingTenant(_ id: String) throws(AccountFailure) -> JSONObject {
        if let found = try tenantDocument(id) { return found }
        guard !policy.isStrict, Self.isTenantID(id), try !isBeingRemoved(id) else { throw AccountFailure("TENANT_NOT_FOUND") }
        return try makeTenant(id)
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
}
