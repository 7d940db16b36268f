import HearthJSON

/// Importing users.
extension AccountStore {
    /// Stores imported users. Returns the reason for each that was not stored, by its position.
    public func importUsers(_ users: [(index: Int, user: UserRecord)], mayReplace: Bool) throws(AccountFailure) -> [(index: Int, message: String)] {
        var refused: [(index: Int, message: String)] = []
        let rules = try rules(of: users.first?.user.tenant ?? "")
        for (index, user) in users {
            if let message = try refusal(user, mayReplace: mayReplace, rules) {
                refused.append((index, message))
            } else if try self.user(user.uid, tenant: user.tenant) != nil {
                try putWithLinks(user)
            } else {
                try add(user)
            }
        }
        return refused
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
