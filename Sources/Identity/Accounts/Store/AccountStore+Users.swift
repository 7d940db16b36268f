import SQLite

/// Writing users.
extension AccountStore {
    /// Adds a user. Its id must be new, and its e-mail, phone number and linked accounts must not be those of another user.
    func add(_ user: UserRecord) throws(AccountFailure) {
        try countSignUp()
        try run(
            "INSERT INTO user VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", .text(user.tenant), .text(user.uid), .optional(user.email),
            .optional(user.phone), .optional(user.displayName), .integer(user.created), user.lastLogin.map { .integer($0) } ?? .null,
            .text(user.stored(factorSeal).text))
        try addLinks(of: user)
    }

    /// Replaces a user's record.
    func put(_ user: UserRecord) throws(AccountFailure) {
        try run(
            """
            UPDATE user SET email = ?3, phone = ?4, name = ?5, created = ?6, signedIn = ?7, record = ?8 WHERE tenant = ?1 AND uid = ?2
            """, .text(user.tenant), .text(user.uid), .optional(user.email), .optional(user.phone), .optional(user.displayName),
            .integer(user.created), user.lastLogin.map { .integer($0) } ?? .null, .text(user.stored(factorSeal).text))
    }

    /// Replaces a user's record, and the index of its linked accounts.
    func putWithLinks(_ user: UserRecord) throws(AccountFailure) {
        try put(user)
        try run("DELETE FROM link WHERE tenant = ?1 AND uid = ?2", .text(user.tenant), .text(user.uid))
        try addLinks(of: user)
    }

    private func addLinks(of user: UserRecord) throws(AccountFailure) {
        for link in user.providers {
            try run(
                "INSERT OR REPLACE INTO link VALUES (?1, ?2, ?3, ?4, ?5)", .text(user.tenant), .text(link.provider), .text(link.rawID),
                .text(user.uid), .optional(link.email))
        }
    }

    /// Removes a user with everything that belongs to it.
    func remove(_ user: UserRecord) throws(AccountFailure) {
        let (tenant, uid) = (Value.text(user.tenant), Value.text(user.uid))
        try run("DELETE FROM user WHERE tenant = ?1 AND uid = ?2", tenant, uid)
        try run("DELETE FROM link WHERE tenant = ?1 AND uid = ?2", tenant, uid)
        try run("DELETE FROM session WHERE tenant = ?1 AND uid = ?2", tenant, uid)
        try removeSecrets(of: user, keeping: .none)
    }

    /// Removes all users of a tenant. Codes stay.
    public func removeAllUsers(tenant: String) throws(AccountFailure) {
        for table in ["user", "link", "session"] { try run("DELETE FROM \(table) WHERE tenant = ?1", .text(tenant)) }
    }
}
