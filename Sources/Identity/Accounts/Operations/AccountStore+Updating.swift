import HearthJSON

/// Changes of a user. A nil property leaves what it names.
public struct AccountChange: Sendable {
    public var displayName: String?
    public var photoURL: String?
    public var email: String?
    public var passwordHash: String?
    public var phone: String?
    public var isEmailVerified: Bool?
    public var isDisabled: Bool?
    public var customAttributes: String?
    public var validSinceSeconds: Int64?
    public var created: Int64?
    public var lastLogin: Int64?
    public var deletedAttributes: [String] = []
    public var deletedProviders: [String] = []
    public var link: LinkedProvider?
    /// Replaces all second factors; the secrets of those that stay are kept.
    public var factors: [SecondFactor]?

    /// No change.
    public init() {}

    /// Whether this removes the e-mail or another way to sign in of the user.
    public var removesSignIn: Bool {
        !Set(deletedProviders).isDisjoint(with: ["password", "phone"])
            || !Set(deletedAttributes).isDisjoint(with: ["EMAIL", "PASSWORD", "PROVIDER"])
    }
}

/// Changing users.
extension AccountStore {
    /// Changes the caller.
    ///
    /// - Parameter recoveryLink: makes the link for the code by which a change of the e-mail can be undone.
    public func update(
        _ change: AccountChange, caller token: CallerToken, tenant: String?, recoveryLink: (String) -> String
    ) throws(AccountFailure) -> SignedIn {
        var user = try caller(token, tenant: tenant)
        let oldEmail = user.email
        let changesEmail = change.email.map { !user.hasEmail($0) } ?? false
        let revokes = changesEmail || change.passwordHash != nil || change.validSinceSeconds != nil
        if revokes || change.removesSignIn { try requireRecent(token) }
        try apply(change, to: &user)
        if revokes { try revokeTokens(of: &user) } else if change.removesSignIn { try removeSecrets(of: user) }
        let recovery = try addRecovery(of: &user, from: oldEmail, token, link: recoveryLink)
        try putWithLinks(user)
        var result = revokes ? try goOn(user, token) : SignedIn(user: user)
        result.recovery = recovery
        return result
    }

    /// Makes the code by which the owner of a former e-mail takes it back, once for each user. Nil if the e-mail has not changed.
    func addRecovery(
        of user: inout UserRecord, from oldEmail: String?, _ token: CallerToken, link: (String) -> String
    ) throws(AccountFailure) -> EmailCode? {
        guard let oldEmail, !user.hasEmail(oldEmail), user.email != nil || policy.isStrict else { return nil }
        guard token.provider != "anonymous", user.initialEmail == nil else { return nil }
        user.initialEmail = oldEmail
        var code = try addCode(.RECOVER_EMAIL, email: oldEmail, uid: user.uid, tenant: user.tenant, isNotice: true, link: link)
        // For the text of the mail; the code goes back to the old e-mail, whatever the new one is then.
        code.newEmail = user.email
        return code
    }

    /// Changes a user, for an administrator.
    public func update(_ change: AccountChange, uid: String, tenant: String) throws(AccountFailure) -> UserRecord {
        guard var user = try user(uid, tenant: tenant) else { throw AccountFailure("USER_NOT_FOUND") }
        let oldEmail = user.email
        try apply(change, to: &user)
        if let verified = change.isEmailVerified { user.isEmailVerified = verified }
        if let disabled = change.isDisabled { user.isDisabled = disabled }
        if let text = change.customAttributes { user.customAttributes = text }
        if let created = change.created { user.created = created }
        if let lastLogin = change.lastLogin { user.lastLogin = lastLogin }
        let changesEmail = oldEmail != nil && !user.hasEmail(oldEmail)
        if change.passwordHash != nil || policy.isStrict && changesEmail { try revokeTokens(of: &user) }
        if let limit = change.validSinceSeconds {
            user.validSinceSeconds = limit
            try removeSecrets(of: user)
        }
        try putWithLinks(user)
        return user
    }

    private func apply(_ change: AccountChange, to user: inout UserRecord) throws(AccountFailure) {
        if let name = change.displayName { user.displayName = name.isEmpty ? nil : name }
        if let photo = change.photoURL { user.photoURL = photo.isEmpty ? nil : photo }
        if let email = change.email, !user.hasEmail(email) {
            if let owner = try self.user(email: email, tenant: user.tenant), !owner.isSameUser(as: user) { throw try emailIsTaken() }
            user.email = email
            user.isEmailVerified = false
            user.usesEmailLink = false
        }
        if let hash = change.passwordHash {
            user.passwordHash = hash
            user.importedHash = nil
            user.passwordChanged = now
            try removeResetCodes(of: user.email, tenant: user.tenant)
        }
        if let phone = change.phone, phone != user.phone {
            if phone.isEmpty {
                user.phone = nil
            } else {
                if let owner = try self.user(phone: phone, tenant: user.tenant), !owner.isSameUser(as: user) {
                    throw AccountFailure("PHONE_NUMBER_EXISTS")
                }
                user.phone = phone
            }
        }
        if let link = change.link { try add(link, to: &user) }
        if let factors = change.factors { replace(factors, of: &user) }
        delete(change, of: &user)
    }

    private func add(_ link: LinkedProvider, to user: inout UserRecord) throws(AccountFailure) {
        if let owner = try self.user(provider: link.provider, rawID: link.rawID, tenant: user.tenant), !owner.isSameUser(as: user) {
            throw AccountFailure("FEDERATED_USER_ID_ALREADY_LINKED")
        }
        if let index = user.index(of: link.provider) { user.providers[index] = link } else { user.providers.append(link) }
    }

    private func replace(_ factors: [SecondFactor], of user: inout UserRecord) {
        user.factors = factors.map { new in
            guard let old = user.factors.first(where: { $0.id.isExactly(new.id) }), new.phone == nil else { return new }
            var kept = old
            kept.displayName = new.displayName
            return kept
        }
    }

    private func delete(_ change: AccountChange, of user: inout UserRecord) {
        for name in change.deletedAttributes {
            switch name {
            case "DISPLAY_NAME": user.displayName = nil
            case "PHOTO_URL": user.photoURL = nil
            case "EMAIL":
                user.email = nil
                user.isEmailVerified = false
                user.usesEmailLink = false
            case "PASSWORD": user.passwordHash = nil
            case "PROVIDER": user.providers = []
            default: break
            }
        }
        for provider in change.deletedProviders {
            switch provider {
            case "password":
                user.email = nil
                user.isEmailVerified = false
                user.usesEmailLink = false
                user.passwordHash = nil
                user.importedHash = nil
            case "phone": user.phone = nil
            default: user.providers.removeAll { $0.provider == provider }
            }
        }
    }
}
