import SQLite

extension AccountReader {
    /// Accounts of one identity provider that users have linked, ordered by their ids: for the page on which one is chosen in development.
    public func linkedAccounts(of provider: String, tenant: String, limit: Int) throws(AccountFailure) -> [LinkedProvider] {
        let ids = try rows(
            "SELECT uid FROM link WHERE tenant = ?1 AND provider = ?2 ORDER BY rawID LIMIT ?3",
            [.text(tenant), .text(provider), .integer(Int64(limit))]
        ) { $0.text(at: 0) }
        var found: [LinkedProvider] = []
        for uid in ids {
            if let link = try user(uid, tenant: tenant)?.providers.first(where: { $0.provider == provider }) { found.append(link) }
        }
        return found
    }
}
