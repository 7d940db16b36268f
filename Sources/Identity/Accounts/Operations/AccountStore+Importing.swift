import HearthJSON
import SQLite

/// Importing users.
extension AccountStore {
    /// Stores imported users. Returns the reason for each that was not stored, by its position.
    public func importUsers(_ users: [(index: Int, user: UserRecord)], mayReplace: Bool) throws(AccountFailure) -> [(index: Int, message: String)] {
        var refused: [(index: Int, message: String)] = []
        let rules = try rules(of: users.first?.user.tenant ?? "")
        for (index, user) in users {
            if let message = try refusal(user, mayReplace: mayReplace, rules) {
                refused.append((index, message))
            } else if let old = try self.user(user.uid, tenant: user.tenant) {
                try replace(old, by: user)
            } else {
                var user = user
                endFormerTokens(of: &user)
                try add(user)
            }
            if user.importedHash != nil { try noteForeignHashes() }
        }
        return refused
    }

    /// Replaces a user by an imported one: nothing that gave access to the old one does so any longer. No file has the secrets of one-time codes, so
    /// these factors are kept: an import of an export must not leave an account with the password alone.
    private func replace(_ old: UserRecord, by imported: UserRecord) throws(AccountFailure) {
        var user = imported
        for kept in old.factors where kept.secret != nil && user.email != nil {
            if let index = user.factors.firstIndex(where: { $0.id.isExactly(kept.id) }) {
                guard user.factors[index].phone == nil else { continue }
                (user.factors[index].secret, user.factors[index].lastStep) = (kept.secret, kept.lastStep)
            } else {
                user.factors.append(kept)
            }
        }
        endFormerTokens(of: &user)
        try run("DELETE FROM session WHERE tenant = ?1 AND uid = ?2", .text(user.tenant), .text(user.uid))
        try removeSecrets(of: old, keeping: .none)
        try putWithLinks(user)
    }

    private func refusal(_ user: UserRecord, mayReplace: Bool, _ rules: SignInRules) throws(AccountFailure) -> String? {
        if let email = user.email, let owner = try self.user(email: email, tenant: user.tenant), !owner.isSameUser(as: user) {
            return "email exists in other account in database"
        }
        if let phone = user.phone, let owner = try self.user(phone: phone, tenant: user.tenant), !owner.isSameUser(as: user) {
            return "phone number exists in other account in database"
        }
        for link in user.providers {
            if let owner = try self.user(provider: link.provider, rawID: link.rawID, tenant: user.tenant), !owner.isSameUser(as: user) {
                return "raw id exists in other account in database"
            }
        }
        if !mayReplace, try self.user(user.uid, tenant: user.tenant) != nil {
            return "localId belongs to an existing account - can not overwrite."
        }
        return nil
    }
}
