import Synchronization

/// The existing service accounts, for the loops that check access tokens, since a token becomes invalid with its account. The store's loop
/// updates them. Can be used from any thread.
final class LiveAccounts: Sendable {
    private struct Account {
        var project: String
        var keyID: String
        var publicKey: [UInt8]
        var signsCustomTokens: Bool

        init(_ account: ServiceAccount) {
            (project, keyID, publicKey) = (account.project, account.keyID, account.publicKey)
            signsCustomTokens = account.signsCustomTokens
        }
    }

    /// Nil while the store is not open.
    private let accounts = Mutex<[String: Account]?>(nil)

    /// Sets the existing accounts.
    func replace(with accounts: [ServiceAccount]) {
        let known = Dictionary(accounts.map { ($0.email, Account($0)) }) { first, _ in first }
        self.accounts.withLock { $0 = known }
    }

    /// Forgets the accounts, because another process has the store and may change them.
    func forgetAll() { accounts.withLock { $0 = nil } }

    func put(_ account: ServiceAccount) {
        accounts.withLock { $0?[account.email] = Account(account) }
    }

    func remove(email: String) { accounts.withLock { $0?[email] = nil } }

    /// The key with which an account signs custom tokens: its id, and the public key in DER. Nil if no such account may, or while the accounts
    /// are not known.
    func key(of email: String, project: String) -> (id: String, publicKey: [UInt8])? {
        guard let account = accounts.withLock({ $0?[email] }), account.project == project, account.signsCustomTokens else { return nil }
        return (account.keyID, account.publicKey)
    }

    /// Whether an account exists, with the key that a token was issued for.
    ///
    /// - Parameter keyID: nil for a token of a former version, which did not contain the key; such tokens expire within an hour of the upgrade.
    /// - Throws: `unavailable` while the accounts are not known.
    func contains(email: String, project: String, keyID: String?) throws(MessagingError) -> Bool {
        guard let accounts = accounts.withLock({ $0 }) else { throw .unavailable(retryAfterSeconds: 1) }
        guard let account = accounts[email], account.project == project else { return false }
        return keyID == nil || account.keyID == keyID
    }
}
