import Accounts
import HearthJSON
import IdentityProviders

/// Signing in with identity providers, and finding out how an e-mail signs in.
extension AuthenticationFrontEnd {
    func signInWithProvider(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let body = call.body
        guard let requestURI = try body.text("requestUri") else { throw AuthError("MISSING_REQUEST_URI") }
        guard WebOrigin(of: requestURI) != nil else { throw AuthError("INVALID_REQUEST_URI") }
        if body.has("returnRefreshToken") || body.has("pendingIdToken"), !isStrict { throw Self.notImplemented }
        let token = try await callerToken(call)
        let tenant = try call.namedTenant() ?? token?.tenant ?? ""
        if let token, token.tenant != tenant { throw AuthError("TENANT_ID_MISMATCH") }
        _ = try await rules(tenant)
        if let token { _ = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.caller(token) } }
        let mayCreate = try body.bool("autoCreate") ?? true
        let pending = try body.text("pendingToken", "pendingIdToken")
        let identity = try await identity(call, requestURI, tenant, pending)
        let result = try await decided(call, identity: identity) { store throws(AccountFailure) in
            if let pending { try store.requireAssertion(pending, tenant: tenant) }
            let result = try store.signIn(identity, tenant: tenant, caller: token, mayCreate: mayCreate)
            // Used up with the operation: after a refusal, as by a function, the client can try again without another prompt of the provider.
            if let pending { try store.useAssertion(pending) }
            return result
        }
        if let signedIn = result.signedIn { tell(signedIn) }
        if let error = result.linkError, try body.bool("returnIdpCredential") != true { throw AuthError(error) }
        return .object(try await fields(result, tenant))
    }

    /// The verified identity of a request: from a pending token, or from a credential.
    private func identity(_ call: AuthCall, _ requestURI: String, _ tenant: String, _ pending: String?) async throws(AuthError) -> ProviderIdentity {
        // The nonce of a credential was used when its pending token was made.
        if let pending {
            return try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.requireAssertion(pending, tenant: tenant) }
        }
        let parameters = try checked { () throws(AssertionError) in
            try ProviderParameters(requestURI: requestURI, postBody: try? call.body.string("postBody"))
        }
        guard let provider = service.tools.providers.provider(of: parameters) else {
            // The parameters may contain tokens.
            let shown = requestURI.prefix { $0 != "?" && $0 != "#" }
            throw AuthError("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential: \(shown)")
        }
        if isStrict, provider.hasPrefix("saml.") { throw Self.hasNoSAML }
        let configuration = try await oidc(provider, tenant)
        let session = try call.body.text("sessionId")
        let result = await service.tools.providers.assertion(provider, parameters, sessionID: session, configuration: configuration)
        let assertion = try checked { () throws(AssertionError) in try result.get() }
        if let begun = assertion.redirectTenant, begun != tenant { throw AuthError("TENANT_ID_MISMATCH") }
        return ProviderIdentity(assertion)
    }

    private func checked<R>(_ body: () throws(AssertionError) -> R) throws(AuthError) -> R {
        do throws(AssertionError) { return try body() } catch {
            throw AuthError(error.code, error.detail, status: error.status, statusName: error.statusName)
        }
    }

    /// The configuration that an administrator has made for an OIDC provider; nil if there is none.
    private func oidc(_ provider: String, _ tenant: String) async throws(AuthError) -> OIDCSettings? {
        guard provider.hasPrefix("oidc.") else { return nil }
        let document = try await accounts.read(on: loop) { store throws(AccountFailure) in
            try store.provider(provider, .oauth, tenant: tenant)
        }
        guard let document, let issuer = document["issuer"]?.string, let client = document["clientId"]?.string else { return nil }
        var settings = OIDCSettings(issuer: issuer, clientID: client)
        settings.clientSecret = document["clientSecret"]?.string
        settings.isEnabled = document["enabled"]?.bool ?? false
        settings.usesCode = document["responseType"]?["code"]?.bool ?? false
        return settings
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
            for (name, value) in try await redirect(call, tenant, address, fields["sessionId"]?.string ?? "") { fields[name] = value }
            return .object(fields)
        }
        guard AccountText.isEmail(identifier) else { throw AuthError("INVALID_IDENTIFIER") }
        guard WebOrigin(of: address) != nil else { throw AuthError("INVALID_CONTINUE_URI") }
        guard !rules.protectsEmails else { return .object(fields) }
        let email = AccountText.canonical(email: identifier)
        let methods = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.methods(of: email, tenant: tenant) }
        fields["registered"] = .bool(methods.isRegistered)
        if methods.isRegistered {
            fields["signinMethods"] = .array(methods.methods.map { .string($0) })
            var providers = methods.methods.map { $0 == "emailLink" ? "password" : $0 }
            providers = providers.enumerated().filter { providers.firstIndex(of: $0.element) == $0.offset }.map(\.element)
            fields["allProviders"] = .array(providers.map { .string($0) })
        }
        return .object(fields)
    }

    /// The page of a provider, for a browser that signs in by popup or redirect.
    private func redirect(
        _ call: AuthCall, _ tenant: String, _ address: String, _ session: String
    ) async throws(AuthError) -> JSONObject {
        guard let provider = try call.body.text("providerId") else { throw AuthError("MISSING_IDENTIFIER") }
        guard let parsed = WebOrigin(of: address) else { throw AuthError("INVALID_CONTINUE_URI") }
        if isStrict {
            guard parsed.isIn(try await authorizedDomains()) else { throw AuthError("UNAUTHORIZED_DOMAIN") }
            guard !provider.hasPrefix("saml.") else { throw Self.hasNoSAML }
        }
        // The emulator has no pages of providers: its own page is the only one.
        guard isStrict else { throw Self.notImplemented }
        let custom = try call.body.body("customParameter")?.object ?? JSONObject()
        let result = await service.tools.providers.redirect(
            provider, redirectURI: address, sessionID: session, id: SecretText.identifier(), tenant: tenant,
            scopes: try call.body.text("oauthScope") ?? "", parameters: custom, configuration: try await oidc(provider, tenant))
        let page = try checked { () throws(AssertionError) in try result.get() }
        return ["authUri": .string(page.url), "providerId": .string(provider)]
    }

    func revokeProviderToken(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let token = try await requiredToken(call)
        _ = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.caller(token) }
        guard try call.body.text("providerId") == "apple.com" else { throw AuthError("INVALID_PROVIDER_ID") }
        // Development has signed nobody in at Apple.
        guard isStrict else { return .object(JSONObject()) }
        guard let secret = try call.body.text("token") else { throw AuthError("MISSING_TOKEN") }
        let kind = try call.body.text("tokenType") ?? ""
        let result = await service.tools.providers.revoke(apple: secret, kind: RevokedToken(kind))
        try checked { () throws(AssertionError) in try result.get() }
        return .object(JSONObject())
    }
}

extension ProviderIdentity {
    init(_ assertion: Assertion) {
        self.init(provider: assertion.provider, rawID: assertion.rawID)
        email = assertion.email
        isEmailVerified = assertion.isEmailVerified
        displayName = assertion.displayName
        photoURL = assertion.photoURL
        screenName = assertion.screenName
        answer = assertion.answer
        attributes = assertion.attributes
    }
}
