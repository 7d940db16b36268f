import Accounts
import HearthJSON

/// Changing users: by themselves, by the code of a mail, and by administrators.
extension AuthenticationFrontEnd {
    func update(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let body = call.body
        if call.isAdministrator, !body.has("idToken"), !body.has("oobCode") { return try await updateForAdministrator(call) }
        if let code = try body.text("oobCode") {
            return .object(updateFields(try await apply(code, tenant: try call.tenant(), call.links)))
        }
        // The form of the body is checked first, so that wrong types have their own error.
        var change = try await self.change(call)
        guard let text = try body.text("idToken") else { throw AuthError("INVALID_REQ_TYPE", "Unsupported request parameters.") }
        if body.has("customAttributes") { throw AuthError("INSUFFICIENT_PERMISSION") }
        if body.has("disableUser") { throw AuthError("OPERATION_NOT_ALLOWED") }
        let token = try await verified(text)
        let tenant = try call.namedTenant()
        // Members that only an administrator may set are ignored.
        change.phone = nil
        change.link = nil
        change.factors = nil
        change.isEmailVerified = nil
        let rules = try await rules(tenant ?? token.tenant)
        if let password = try body.text("password") {
            guard rules.allowsPassword else { throw AuthError("OPERATION_NOT_ALLOWED") }
            try requireStrength(password, rules)
            try await accounts.read(on: loop) { store throws(AccountFailure) in try store.requireRecentCaller(token, tenant: tenant) }
            change.passwordHash = try await hash(password, for: call)
        }
        let place = tenant ?? token.tenant
        let mayChangeEmail = change.email != nil || change.removesSignIn
        let (final, link) = (change, try await recoveryLink(call.links, tenant: place, isNeeded: mayChangeEmail))
        let signedIn = try await perform(for: call) { store throws(AccountFailure) in
            try store.update(final, caller: token, tenant: tenant, recoveryLink: link)
        }
        tell(signedIn)
        var fields = updateFields(signedIn.user)
        if signedIn.tokens != nil { for (name, value) in try await tokenFields(signedIn) { fields[name] = value } }
        return .object(fields)
    }

    private func updateFields(_ user: UserRecord) -> JSONObject {
        var fields: JSONObject = ["kind": "identitytoolkit#SetAccountInfoResponse", "localId": .string(user.uid)]
        if let email = user.email {
            fields["email"] = .string(email)
            fields["emailVerified"] = .bool(user.isEmailVerified)
        }
        fields["displayName"] = user.displayName.map { .string($0) }
        fields["photoUrl"] = user.photoURL.map { .string($0) }
        let providers = UserAnswer.providers(user)
        if !providers.isEmpty { fields["providerUserInfo"] = .array(providers) }
        if user.hasPassword { fields["passwordHash"] = .string(UserAnswer.redacted) }
        return fields
    }

    /// Reads the members that users and administrators can set. A password is not hashed here.
    private func change(_ call: AuthCall) async throws(AuthError) -> AccountChange {
        let body = call.body
        var change = AccountChange()
        change.displayName = try body.string("displayName")
        change.photoURL = try body.string("photoUrl")
        change.email = try email(call)
        change.validSinceSeconds = try body.integer("validSince")
        change.deletedAttributes = try body.strings("deleteAttribute")
        change.deletedProviders = try body.strings("deleteProvider")
        change.isEmailVerified = try body.bool("emailVerified")
        change.isDisabled = try body.bool(body.has("disableUser") ? "disableUser" : "disabled")
        change.customAttributes = try body.string("customAttributes")
        change.created = try body.integer("createdAt")
        change.lastLogin = try body.integer("lastLoginAt")
        change.phone = try body.string("phoneNumber")
        if let phone = change.phone, !phone.isEmpty, !AccountText.isPhone(phone, isStrict: isStrict) {
            throw AuthError("INVALID_PHONE_NUMBER", "Invalid format.")
        }
        if let link = try body.body("linkProviderUserInfo") { change.link = try Self.link(link) }
        if let mfa = try body.body("mfa") { change.factors = try factors(mfa.bodies("enrollments"), mustHaveID: true) }
        return change
    }

    static func link(_ body: AuthBody) throws(AuthError) -> LinkedProvider {
        guard let provider = try body.text("providerId") else { throw AuthError("MISSING_PROVIDER_ID") }
        guard let rawID = try body.text("rawId") else { throw AuthError("MISSING_RAW_ID") }
        var link = LinkedProvider(provider: provider, rawID: rawID)
        link.displayName = try body.text("displayName")
        link.email = try body.text("email").map { AccountText.canonical(email: $0) }
        link.photoURL = try body.text("photoUrl")
        link.screenName = try body.text("screenName")
        link.phone = try body.text("phoneNumber")
        return link
    }

    private func updateForAdministrator(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        var change = try await change(call)
        guard let uid = try call.body.text("localId") else { throw AuthError("MISSING_LOCAL_ID") }
        let tenant = try call.tenant()
        if let attributes = change.customAttributes { try ReservedClaims.check(attributes: attributes) }
        if let password = try call.body.text("password") {
            try requireStrength(password, try await rules(tenant))
            change.passwordHash = try await hash(password, for: call)
        }
        let final = change
        let user = try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.update(final, uid: uid, tenant: tenant) }
        return .object(updateFields(user))
    }
}
