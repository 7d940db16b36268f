import Accounts
import HearthJSON

/// Signing in with identity providers, and finding out how an e-mail signs in.
extension AuthenticationFrontEnd {
    func signInWithProvider(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let body = call.body
        guard let requestURI = try body.text("requestUri") else { throw AuthError("MISSING_REQUEST_URI") }
        guard WebAddress(requestURI) != nil else { throw AuthError("INVALID_REQUEST_URI") }
        if body.has("returnRefreshToken") || body.has("pendingIdToken"), !isStrict { throw Self.notImplemented }
        let token = try await callerToken(call)
        let tenant = try call.namedTenant() ?? token?.tenant ?? ""
        if let token, token.tenant != tenant { throw AuthError("TENANT_ID_MISMATCH") }
        _ = try await rules(tenant)
        if let token { _ = try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.caller(token) } }
        let mayCreate = try body.bool("autoCreate") ?? true
        let identity = try await identity(call, requestURI, tenant)
        let result = try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try store.signIn(identity, tenant: tenant, caller: token, mayCreate: mayCreate)
        }
        if let error = result.linkError, try body.bool("returnIdpCredential") != true { throw AuthError(error) }
        return .object(try await fields(result, tenant))
    }

    /// The verified identity of a request: from a pending token, or from a credential.
    private func identity(_ call: AuthCall, _ requestURI: String, _ tenant: String) async throws(AuthError) -> ProviderIdentity {
        // The nonce of a credential was used when its pending token was made.
        if let pending = try call.body.text("pendingToken", "pendingIdToken") {
            return try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.takeAssertion(pending, tenant: tenant) }
        }
        let address = WebAddress(requestURI)
        var parameters = FormText(address?.query ?? "")
        parameters.merge(FormText(try call.body.text("postBody") ?? ""))
        parameters.merge(FormText(address?.fragment ?? ""))
        guard let provider = parameters["providerId"], !provider.isEmpty else {
            // The parameters may contain tokens.
            let shown = requestURI.prefix { $0 != "?" && $0 != "#" }
            throw AuthError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: \(shown)")
        }
        var configuration: JSONObject?
        if provider.hasPrefix("oidc.") || provider.hasPrefix("saml.") {
            let kind: AccountStore.ProviderKind = provider.hasPrefix("oidc.") ? .oauth : .saml
            configuration = try await accounts.perform(on: loop) { store throws(AccountFailure) in
                try store.provider(provider, kind, tenant: tenant)
            }
        }
        let credential = ProviderCredential(
            provider: provider, parameters: parameters.values, tenant: tenant, configuration: configuration)
        let assertion = try await service.tools.assertion(credential).get()
        guard let key = assertion.onceKey else { return assertion.identity }
        let expires = assertion.onceExpires
        let isFirst = try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.useOnce(key, expires: expires) }
        guard isFirst else {
            throw AuthError("MISSING_OR_INVALID_NONCE", "Duplicate credential received. Please try again with a new credential.")
        }
        return assertion.identity
    }

    private func fields(_ result: ProviderSignIn, _ tenant: String) async throws(AuthError) -> JSONObject {
        let identity = result.identity
        var fields = identity.answer
        fields["kind"] = "identitytoolkit#VerifyAssertionResponse"
        fields["providerId"] = .string(identity.provider)
        fields["federatedId"] = .string(
            identity.provider == "google.com" ? "https://accounts.google.com/\(identity.rawID)" : identity.rawID)
        fields["email"] = identity.email.map { .string($0) }
        if identity.email != nil { fields["emailVerified"] = .bool(identity.isEmailVerified) }
        fields["displayName"] = identity.displayName.map { .string($0) }
        fields["photoUrl"] = identity.photoURL.map { .string($0) }
        fields["screenName"] = identity.screenName.map { .string($0) }
        fields["context"] = ""
        fields["pendingToken"] = result.pendingToken.map { .string($0) }
        fields["originalEmail"] = result.originalEmail.map { .string($0) }
        if result.isEmailRecycled { fields["emailRecycled"] = true }
        if !tenant.isEmpty { fields["tenantId"] = .string(tenant) }
        if let error = result.linkError { fields["errorMessage"] = .string(error) }
        if result.needsConfirmation {
            fields["needConfirmation"] = true
            if await !protectsEmails(tenant) {
                fields["localId"] = result.ownerID.map { .string($0) }
                fields["verifiedProvider"] = .array(result.verifiedProviders.map { .string($0) })
            }
        }
        guard let signedIn = result.signedIn else { return fields }
        if signedIn.isNew { fields["isNewUser"] = true }
        for (name, value) in try await tokenFields(signedIn) { fields[name] = value }
        // The user's own data count where the provider has none.
        if fields["email"] == nil { fields["email"] = signedIn.user.email.map { .string($0) } }
        if signedIn.user.email == identity.email, identity.email != nil { fields["emailVerified"] = .bool(signedIn.user.isEmailVerified) }
        return fields
    }

    private func protectsEmails(_ tenant: String) async -> Bool {
        do throws(AuthError) { return try await rules(tenant).protectsEmails } catch { return true }
    }

    func createAuthURI(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try call.tenant()
        let rules = try await rules(tenant)
        var fields: JSONObject = ["kind": "identitytoolkit#CreateAuthUriResponse"]
        fields["sessionId"] = .string(try call.body.text("sessionId") ?? SecretText.identifier(27))
        let identifier = try call.body.text("identifier")
        guard let address = try call.body.text("continueUri") else { throw AuthError("MISSING_CONTINUE_URI") }
        guard let identifier else {
            guard try call.body.text("providerId") != nil else { throw AuthError("MISSING_IDENTIFIER") }
            throw Self.notImplemented
        }
        guard AccountText.isEmail(identifier) else { throw AuthError("INVALID_IDENTIFIER") }
        guard WebAddress(address) != nil else { throw AuthError("INVALID_CONTINUE_URI") }
        guard !rules.protectsEmails else { return .object(fields) }
        let email = AccountText.canonical(email: identifier)
        let methods = try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.methods(of: email, tenant: tenant) }
        fields["registered"] = .bool(methods.isRegistered)
        if methods.isRegistered {
            fields["signinMethods"] = .array(methods.methods.map { .string($0) })
            var providers = methods.methods.map { $0 == "emailLink" ? "password" : $0 }
            providers = providers.enumerated().filter { providers.firstIndex(of: $0.element) == $0.offset }.map(\.element)
            fields["allProviders"] = .array(providers.map { .string($0) })
        }
        return .object(fields)
    }

    func revokeProviderToken(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let token = try await requiredToken(call)
        _ = try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.caller(token) }
        guard try call.body.text("providerId") == "apple.com" else { throw AuthError("INVALID_PROVIDER_ID") }
        return .object(JSONObject())
    }
}
