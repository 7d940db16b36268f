import HearthJSON

/// Signing in with identity providers (the decisions of spec auth 3.5).
extension AccountStore {
    private static var pendingTokenSeconds: Int64 { 600 }

    /// The assertion of a pending token.
    @discardableResult
    public func requireAssertion(_ token: String, tenant: String) throws(AccountFailure) -> ProviderIdentity {
        guard let proof = try proof(.assertion, token), proof.tenant == tenant, var identity = ProviderIdentity(stored: proof.content) else {
            throw AccountFailure("INVALID_PENDING_TOKEN")
        }
        identity.pendingEnds = proof.expires
        return identity
    }

    /// Ends a pending token: it counts for one operation.
    public func useAssertion(_ token: String) throws(AccountFailure) { try removeProof(token) }

    private func pendingToken(_ identity: ProviderIdentity, tenant: String) throws(AccountFailure) -> String {
        // Counted from the provider's own credential: a token that is exchanged for another one again and again would never end.
        let ends = identity.pendingEnds ?? now + Self.pendingTokenSeconds * 1000
        return try addProof(.assertion, tenant: tenant, uid: nil, content: identity.stored, ends: ends)
    }

    /// Signs in with an assertion, or links it to the caller.
    ///
    /// - Parameters:
    ///   - token: the caller, if the assertion is to be linked.
    ///   - mayCreate: whether a new user is created for an unknown assertion.
    public func signIn(
        _ identity: ProviderIdentity, tenant: String, caller token: CallerToken?, mayCreate: Bool
    ) throws(AccountFailure) -> ProviderSignIn {
        if let token { return try link(identity, tenant: tenant, token) }
        let rules = try rules(of: tenant)
        var result = ProviderSignIn(identity: identity)
        if var user = try user(provider: identity.provider, rawID: identity.rawID, tenant: tenant) {
            if user.isDisabled { throw AccountFailure("USER_DISABLED") }
            attach(identity, to: &user)
            try putWithLinks(user)
            if let email = user.email, let asserted = identity.email, !email.isExactly(asserted) { result.originalEmail = email }
            result.signedIn = try finish(user, provider: identity.provider, attributes: identity.attributes)
            return result
        }
        if !rules.allowsDuplicateEmails, let email = identity.email, let owner = try user(email: email, tenant: tenant) {
            return try takeOver(owner, identity, result)
        }
        guard mayCreate || !policy.isStrict else { throw AccountFailure("USER_NOT_FOUND") }
        var user = UserRecord(tenant: tenant, uid: newIdentifier(), created: now)
        user.displayName = identity.displayName
        user.photoURL = identity.photoURL
        if !rules.allowsDuplicateEmails, let email = identity.email {
            user.email = email
            user.isEmailVerified = identity.isEmailVerified
        }
        attach(identity, to: &user)
        user = try createDecided(user, method: identity.provider)
        result.signedIn = try finish(user, isNew: true, provider: identity.provider, attributes: identity.attributes)
        return result
    }

    /// Links an assertion to the user who has its e-mail, if the provider has verified that e-mail.
    private func takeOver(
        _ owner: UserRecord, _ identity: ProviderIdentity, _ result: ProviderSignIn
    ) throws(AccountFailure) -> ProviderSignIn {
        var (owner, result) = (owner, result)
        guard identity.isEmailVerified else {
            result.needsConfirmation = true
            result.verifiedProviders = owner.providers.map(\.provider)
            result.ownerID = owner.uid
            result.pendingToken = try pendingToken(identity, tenant: owner.tenant)
            return result
        }
        if owner.isDisabled { throw AccountFailure("USER_DISABLED") }
        if let index = owner.index(of: identity.provider), !owner.providers[index].rawID.isExactly(identity.rawID) { result.isEmailRecycled = true }
        if !owner.isEmailVerified {
            try purge(&owner)
        }
        owner.displayName = identity.displayName
        owner.photoURL = identity.photoURL
        owner.isEmailVerified = true
        attach(identity, to: &owner)
        try putWithLinks(owner)
        result.signedIn = try finish(owner, provider: identity.provider, attributes: identity.attributes)
        return result
    }

    private func link(_ identity: ProviderIdentity, tenant: String, _ token: CallerToken) throws(AccountFailure) -> ProviderSignIn {
        let old = try caller(token, tenant: tenant)
        var user = old
        let rules = try rules(of: tenant)
        var result = ProviderSignIn(identity: identity)
        if try self.user(provider: identity.provider, rawID: identity.rawID, tenant: tenant) != nil {
            result.linkError = "FEDERATED_USER_ID_ALREADY_LINKED"
        } else if !rules.allowsDuplicateEmails, let email = identity.email, let owner = try self.user(email: email, tenant: tenant),
            !owner.isSameUser(as: user)
        {
            result.linkError = "EMAIL_EXISTS"
        }
        guard result.linkError == nil else {
            result.pendingToken = try pendingToken(identity, tenant: tenant)
            return result
        }
        attach(identity, to: &user)
        if !rules.allowsDuplicateEmails, let email = identity.email {
            if user.email == nil {
                user.email = email
                user.isEmailVerified = identity.isEmailVerified
            } else if user.hasEmail(email), identity.isEmailVerified {
                user.isEmailVerified = true
            }
        }
        try putWithLinks(user)
        var signedIn = try goOn(user, token, provider: identity.provider)
        try tell(&signedIn) { () throws(AccountFailure) in try addNotice(ofProvider: identity.provider, old) }
        result.signedIn = signedIn
        return result
    }

    /// Adds or refreshes the entry of a provider. A user has one account of each provider.
    private func attach(_ identity: ProviderIdentity, to user: inout UserRecord) {
        if let index = user.index(of: identity.provider) { user.providers[index] = identity.link } else { user.providers.append(identity.link) }
        if let name = identity.screenName { user.profile["screenName"] = .string(name) }
    }
}

extension AccountReader {
    /// The ways to sign in of an e-mail.
    public struct SignInMethods: Sendable {
        public var isRegistered = false
        public var methods: [String] = []
    }

    /// The ways to sign in that an e-mail has.
    public func methods(of email: String, tenant: String) throws(AccountFailure) -> SignInMethods {
        var found = SignInMethods()
        let rules = try rules(of: tenant)
        var users: [UserRecord] = []
        if let user = try user(email: email, tenant: tenant) { users.append(user) }
        if !rules.allowsDuplicateEmails {
            for user in try self.users(linkedEmail: email, tenant: tenant) where !users.contains(where: { $0.isSameUser(as: user) }) {
                users.append(user)
            }
        }
        for user in users {
            found.isRegistered = true
            if user.hasEmail(email) {
                if user.hasPassword { found.methods.append("password") }
                if user.usesEmailLink { found.methods.append("emailLink") }
            }
            guard !rules.allowsDuplicateEmails else { continue }
            for link in user.providers where email.isExactly(link.email) && !found.methods.contains(link.provider) {
                found.methods.append(link.provider)
            }
        }
        return found
    }
}
