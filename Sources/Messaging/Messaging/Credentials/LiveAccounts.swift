import Synchronization

/// The service accounts that there are, for the loops that check access tokens: a token ends with its account. The store's loop keeps this
/// up to date. Can be used from any thread.
final class LiveAccounts: Sendable {
    private struct Account {
        var project: String
        var keyID: String
    }

    /// Nil while the store is not open.
    private let accounts = Mutex<[String: Account]?>(nil)

    /// These are all that there are.
    func replace(with accounts: [ServiceAccount]) {
        let known = Dictionary(accounts.map { ($0.email, Account(project: $0.project, keyID: $0.keyID)) }) { first, _ in first }
        self.accounts.withLock { $0 = known }
    }

    /// Another process has the store and may change it.
    func forgetAll() { accounts.withLock { $0 = nil } }

    func put(_ account: ServiceAccount) {
        accounts.withLock { $0?[account.email] = Account(project: account.project, keyID: account.keyID) }
    }

    func remove(email: String) { accounts.withLock { $0?[email] = nil } }

    /// Whether an account is there, with the key that a token was given for.
    ///
    /// - Parameter keyID: nil for a token of a version that did not name the key; such tokens end within an hour of the upgrade.
    /// - Throws: `unavailable` while it is not known which accounts there are.
    func contains(email: String, project: String, keyID: String?) throws(MessagingError) -> Bool {
        guard let accounts = accounts.withLock({ $0 }) else { throw .unavailable(retryAfterSeconds: 1) }
        guard let account = accounts[email], account.project == project else { return false }
        return keyID == nil || account.keyID == keyID
    }
}
