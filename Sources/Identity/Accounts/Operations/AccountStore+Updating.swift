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
}

/// Changing users.
extension AccountStore {
    /// The result of a change by the user.
    public struct Change: Sendable {
        public var signedIn: SignedIn
        /// The mail by which the owner of the former e-mail can undo the change.
        public var recovery: EmailCode?
    }

    /// Changes the caller.
    ///
    /// - Parameter recoveryLink: makes the link for the code by which a change of the e-mail can be undone.
    public func update(
        _ change: AccountChange, caller token: CallerToken, tenant: String?, recoveryLink: (String) -> String
    ) throws(AccountFailure) -> Change {
        var user = try caller(token, tenant: tenant)
        let oldEmail = user.email
        let changesEmail = change.email != nil && change.email != user.email
        let revokes = changesEmail || change.passwordHash != nil || change.validSinceSeconds != nil
        if revokes { try requireRecent(token) }
        try apply(change, to: &user)
        var result = Change(signedIn: SignedIn(user: user))
        if changesEmail, let oldEmail, token.provider != "anonymous", user.initialEmail == nil {
            user.initialEmail = oldEmail
            result.recovery = try addCode(.RECOVER_EMAIL, email: oldEmail, uid: user.uid, tenant: user.tenant, link: recoveryLink)
        }
        if revokes { try revokeTokens(of: &user) }
        try putWithLinks(user)
        result.signedIn.user = user
        if revokes { result.signedIn = try goOn(user, token) }
        return result
    }

    /// Changes a user, for an administrator.
    public func update(_ change: AccountChange, uid: String, tenant: String) throws(AccountFailure) -> UserRecord {
        guard var user = try user(uid, tenant: tenant) else { throw AccountFailure("USER_NOT_FOUND") }
        let hadEmail = user.email
        try apply(change, to: &user)
        if let verified = change.isEmailVerified { user.isEmailVerified = verified }
        if let disabled = change.isDisabled { user.isDisabled = disabled }
        if let text = change.customAttributes { user.customAttributes = text }
        if let created = change.created { user.created = created }
        if let lastLogin = change.lastLogin { user.lastLogin = lastLogin }
        if change.passwordHash != nil || policy.isStrict && user.email != hadEmail && hadEmail != nil { try revokeTokens(of: &user) }
        if let limit = change.validSinceSeconds { user.validSinceSeconds = limit }
        try putWithLinks(user)
        return user
    }

    private func apply(_ change: AccountChange, to user: inout UserRecord) throws(AccountFailure) {
        if let name = change.displayName { user.displayName = name.isEmpty ? nil : name }
        if let photo = change.photoURL { user.photoURL = photo.isEmpty ? nil : photo }
        if let email = change.email, email != user.email {
            if let owner = try self.user(email: email, tenant: user.tenant), owner.uid != user.uid { throw AccountFailure("EMAIL_EXISTS") }
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
                if let owner = try self.user(phone: phone, tenant: user.tenant), owner.uid != user.uid { throw AccountFailure("PHONE_NUMBER_EXISTS") }
                user.phone = phone
            }
        }
        if let link = change.link { try add(link, to: &user) }
        if let factors = change.factors { replace(factors, of: &user) }
        delete(change, of: &user)
    }

    private func add(_ link: LinkedProvider, to user: inout UserRecord) throws(AccountFailure) {
        if let owner = try self.user(provider: link.provider, rawID: link.rawID, tenant: user.tenant), owner.uid != user.uid {
            throw AccountFailure("FEDERATED_USER_ID_ALREADY_LINKED")
        }
        if let index = user.index(of: link.provider) { user.providers[index] = link } else { user.providers.append(link) }
    }

    private func replace(_ factors: [SecondFactor], of user: inout UserRecord) {
        user.factors = factors.map { new in
            guard let old = user.factors.first(where: { $0.id == new.id }), new.phone == nil else { return new }
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
