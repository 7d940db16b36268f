public import Accounts
import EventLoop
public import IdentityProviders

extension AccountService: CredentialLedger {
    /// Marks a credential as used. Nil if the store does not answer.
    public func isFirstUse(of key: String, expires: Int) async -> Bool? {
        do throws(AuthError) {
            return try await perform { store throws(AccountFailure) in try store.useOnce(key, expires: Int64(expires)) }
        } catch {
            return nil
        }
    }
}
