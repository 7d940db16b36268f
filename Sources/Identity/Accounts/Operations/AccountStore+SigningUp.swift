public import HearthJSON

/// A new user, as an administrator or a sign-up describes it.
public struct NewUser: Sendable {
    public var uid: String?
    public var email: String?
    public var isEmailVerified = false
    public var passwordHash: String?
    public var displayName: String?
    public var photoURL: String?
    public var phone: String?
    public var isDisabled = false
    public var factors: [SecondFactor] = []

    /// A user without any data.
    public init() {}
}

/// Creating and deleting users.
extension AccountStore {
    /// Creates a user without a session, for an administrator: no function decides about it.
    public func create(_ new: NewUser, tenant: String) throws(AccountFailure) -> UserRecord {
        let user = try made(new, tenant: tenant)
        try create(user)
        return user
    }

    /// A new user, which is not stored yet.
    private func made(_ new: NewUser, tenant: String) throws(AccountFailure) -> UserRecord {
        let uid = new.uid ?? newIdentifier()
        guard AccountText.isUserID(uid) else { throw AccountFailure("INVALID_LOCAL_ID") }
        if new.uid != nil, try user(uid, tenant: tenant) != nil { throw AccountFailure("DUPLICATE_LOCAL_ID") }
        var user = UserRecord(tenant: tenant, uid: uid, created: now)
        user.email = new.email
        user.isEmailVerified = new.isEmailVerified
        user.passwordHash = new.passwordHash
        if new.passwordHash != nil { user.passwordChanged = user.created }
        user.displayName = new.displayName
        user.photoURL = new.photoURL
        user.phone = new.phone
        user.isDisabled = new.isDisabled
        user.factors = new.factors
        if new.uid != nil { endFormerTokens(of: &user) }
        if let email = new.email, try self.user(email: email, tenant: tenant) != nil { throw try emailIsTaken() }
        if let phone = new.phone, try self.user(phone: phone, tenant: tenant) != nil { throw AccountFailure("PHONE_NUMBER_EXISTS") }
        if !policy.isStrict { user.lastLogin = user.created }
        return user
    }

    /// Refuses an e-mail that has a user, before its password is hashed.
    public func requireFree(email: String, tenant: String, caller: CallerToken?) throws(AccountFailure) {
        if caller == nil { try requireSignUps() }
        if let caller { try requireRecentCaller(caller, tenant: tenant) }
        let owner = try user(email: email, tenant: tenant)
        if let owner, !owner.uid.isExactly(caller?.uid) { throw try emailIsTaken() }
    }

    /// Signs a new user up, anonymously or with a password.
    public func signUp(_ new: NewUser, tenant: String) throws(AccountFailure) -> SignedIn {
        let method = new.passwordHash == nil ? "anonymous" : "password"
        let user = try createDecided(try made(new, tenant: tenant), method: method)
        return try finish(user, isNew: true, provider: method)
    }

    /// Adds e-mail and password to the caller, who may be anonymous.
    ///
    /// - Parameter recoveryLink: makes the link for the code by which a change of the e-mail can be undone.
    public func linkPassword(
        email: String, hash: String, displayName: String?, caller token: CallerToken, tenant: String?, recoveryLink: (String) -> String
    ) throws(AccountFailure) -> SignedIn {
        let old = try caller(token, tenant: tenant)
        try requireRecent(token, old)
        var user = old
        if let owner = try self.user(email: email, tenant: user.tenant), !owner.isSameUser(as: user) { throw try emailIsTaken() }
        if !user.hasEmail(email) { user.isEmailVerified = false }
        user.email = email
        user.passwordHash = hash
        user.importedHash = nil
        user.passwordChanged = now
        if let displayName { user.displayName = displayName }
        try revokeTokens(of: &user)
        let notices = try addRecovery(of: &user, before: old, token, link: recoveryLink)
        var result = try goOn(user, token, provider: "password")
        result.notices = notices
        return result
    }

    /// Makes the ID tokens of a former user with the id of a new one invalid: another person chose it, and the tokens outlive their user. Those of
    /// the new one's first second are as old as the user.
    func endFormerTokens(of user: inout UserRecord) {
        guard policy.isStrict else { return }
        user.validSinceSeconds = max(user.validSinceSeconds ?? 0, nowSeconds)
    }

    /// Deletes the caller.
    public func delete(_ token: CallerToken, tenant: String?) throws(AccountFailure) {
        let user = try caller(token, tenant: tenant)
        if try rules(of: user.tenant).forbidsDeletion { throw AccountFailure("ADMIN_ONLY_OPERATION") }
        try requireRecent(token, user)
        try delete(user)
    }

    /// Deletes a user, for an administrator.
    public func delete(uid: String, tenant: String) throws(AccountFailure) {
        guard let user = try user(uid, tenant: tenant) else { throw AccountFailure("USER_NOT_FOUND") }
        try delete(user)
    }

    /// Deletes users. Returns the positions of those that are not disabled, unless `force`.
    public func delete(uids: [String], tenant: String, force: Bool) throws(AccountFailure) -> [Int] {
        var refused: [Int] = []
        for (index, uid) in uids.enumerated() {
            guard let user = try user(uid, tenant: tenant) else { continue }
            if force || user.isDisabled { try delete(user) } else { refused.append(index) }
        }
        return refused
    }

    /// Signs in the user of a verified custom token, and creates it if necessary.
    public func signIn(customUser uid: String, claims: JSONObject, tenant: String) throws(AccountFailure) -> SignedIn {
        let known = try user(uid, tenant: tenant)
        var user = known ?? UserRecord(tenant: tenant, uid: uid, created: now)
        if user.isDisabled { throw AccountFailure("USER_DISABLED") }
        user.usesCustomToken = true
        if known == nil {
            endFormerTokens(of: &user)
            try create(user)
        }
        return try finish(user, isNew: known == nil, provider: "custom", claims: claims)
    }
}
