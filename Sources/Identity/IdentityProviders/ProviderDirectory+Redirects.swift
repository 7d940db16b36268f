import HearthBytes
public import HearthJSON
import HTTP
import Tokens

/// The page of a provider that a browser has to open.
public struct ProviderRedirect: Sendable, Equatable {
    /// The address of the page.
    public var url: String
    /// `state` in it, as the provider returns it.
    public var state: String
}

/// The flow that leads a browser to a provider and back (RFC 6749 section 4.1, OpenID Connect Core section 3).
extension ProviderDirectory {
    /// Parameters that no client may choose.
    private static let reserved: Set<String> = [
        "client_id", "client_secret", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "request", "request_uri", "registration", "code", "id_token", "access_token",
    ]

    /// The page of a provider on which a user signs in.
    ///
    /// Check the redirect address against the authorized domains first.
    ///
    /// - Parameters:
    ///   - redirectURI: where the provider sends the browser afterwards.
    ///   - sessionID: a secret of the browser; `signInWithIdp` needs the same.
    ///   - id: random text that makes the state unique.
    ///   - scopes: further scopes, separated by spaces or commas.
    ///   - parameters: further parameters for the provider.
    public func redirect(
        _ provider: String, redirectURI: String, sessionID: String, id: String, tenant: String = "", scopes: String = "",
        parameters: JSONObject = JSONObject(), configuration: OIDCSettings? = nil
    ) async -> Result<ProviderRedirect, AssertionError> {
        guard redirectURI.utf8.count <= 1024, WebOrigin(of: redirectURI) != nil else { return .failure(AssertionError("INVALID_CONTINUE_URI")) }
        guard tenant.utf8.count <= 128, provider.utf8.count <= 128 else { return .failure(.notAllowed) }
        do throws(AssertionError) {
            let state = RedirectState(
                provider: provider, tenant: tenant, redirectURI: redirectURI, session: StateSeal.hash(session: sessionID), id: id,
                expires: clock.now() + RedirectState.lifetimeSeconds)
            let sealed = seal.seal(state)
            var (page, query) = try await page(state, scopes: Self.words(scopes), configuration)
            query += [("redirect_uri", redirectURI), ("state", sealed)]
            for (name, value) in parameters.prefix(20) where !Self.reserved.contains(name.lowercased()) {
                if let text = value.string, text.utf8.count <= 1024 { query.append((name, text)) }
            }
            page += page.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
            return .success(ProviderRedirect(url: page + FormText.query(query), state: sealed))
        } catch {
            return .failure(error)
        }
    }

    private static func words(_ scopes: String) -> [String] {
        scopes.split { $0 == " " || $0 == "," }.prefix(50).map(String.init)
    }

    /// The address of a provider's page, and its parameters but for state and redirect.
    private func page(
        _ state: RedirectState, scopes: [String], _ configuration: OIDCSettings?
    ) async throws(AssertionError) -> (String, [(String, String)]) {
        func scope(_ basic: [String], _ separator: String = " ") -> (String, String) {
            ("scope", (basic + scopes.filter { !basic.contains($0) }).joined(separator: separator))
        }
        let nonce = ("nonce", seal.nonce(state))
        let challenge = [("code_challenge", seal.challenge(state)), ("code_challenge_method", "S256")]
        let code = ("response_type", "code")
        switch state.provider {
        case FacebookProvider.id:
            guard let facebook else { throw .notAllowed }
            return (facebook.settings.dialogURL, [("client_id", facebook.settings.appID), code, scope(["public_profile", "email"], ",")])
        case GoogleProvider.id:
            guard let settings = google?.settings, let client = settings.clientIDs.first, settings.clientSecret != nil else { throw .notAllowed }
            return (settings.authorizationURL, [("client_id", client), code, scope(["openid", "email", "profile"]), nonce] + challenge)
        case AppleProvider.id:
            guard let settings = apple?.settings, let client = settings.clientIDs.first, settings.key != nil else { throw .notAllowed }
            // Apple gives name and e-mail in a posted form only.
            return (
                settings.authorizationURL, [("client_id", client), code, ("response_mode", "form_post"), scope(["name", "email"]), nonce]
            )
        default:
            guard let settings = oidc(state.provider, configuration) else { throw .notAllowed }
            guard let page = await issuers.endpoints(settings)?.authorizationURL else { throw .remote(state.provider) }
            let basic = [("client_id", settings.clientID), scope(["openid", "email", "profile"]), nonce]
            return (page, basic + (settings.usesCode ? [code] + challenge : [("response_type", "id_token")]))
        }
    }

    // MARK: Return

    /// Verifies what a provider has sent a browser back with.
    func redirected(
        _ text: String, _ provider: String, _ parameters: ProviderParameters, sessionID: String?, configuration: OIDCSettings?
    ) async throws(AssertionError) -> Assertion {
        guard let state = seal.open(text, now: clock.now()), state.provider == provider else {
            throw .invalid("The state of the sign-in is wrong or has expired.")
        }
        // Otherwise an attacker could sign a user in to the attacker's account.
        guard let sessionID, Array(StateSeal.hash(session: sessionID).utf8).span.equalsInConstantTime(Array(state.session.utf8)) else {
            throw .invalid("The sign-in was begun in another session.")
        }
        if let error = parameters["error"] {
            throw AssertionError("INVALID_IDP_RESPONSE", "The provider answers \(Self.word(error)).")
        }
        switch await ledger.isFirstUse(of: "state \(state.id)", expires: state.expires) {
        case true?: break
        case false?: throw .duplicate
        case nil: throw .storeUnavailable
        }
        var credential = parameters
        if let code = parameters["code"] {
            let tokens = try await exchange(code, state, configuration)
            guard tokens["error"] == nil else { throw .invalid("The provider does not accept the code.") }
            credential.set("id_token", tokens["id_token"]?.string)
            credential.set("access_token", tokens["access_token"]?.string)
        } else {
            // An access token of a browser is not bound to this sign-in.
            credential.set("access_token", nil)
        }
        if provider == FacebookProvider.id { credential.set("id_token", nil) }
        var assertion: Assertion
        if provider == GoogleProvider.id, credential["id_token"] == nil { throw .invalid("Google has sent no ID token.") }
        assertion = try await verified(provider, credential, nonce: .exactly(seal.nonce(state)), configuration: configuration)
        assertion.redirectTenant = state.tenant
        return assertion
    }

    /// A provider's error code, if it has the form of one.
    private static func word(_ text: String) -> String {
        let isWord = text.utf8.count <= 64 && text.utf8.allSatisfy { 97...122 ~= $0 || $0 == UInt8(ascii: "_") }
        return isWord ? text : "an error"
    }

    /// Exchanges a code for tokens.
    private func exchange(_ code: String, _ state: RedirectState, _ configuration: OIDCSettings?) async throws(AssertionError) -> JSONValue {
        guard code.utf8.count <= 4096 else { throw .invalid("The code is too long.") }
        if state.provider == FacebookProvider.id {
            guard let facebook else { throw .notAllowed }
            let answer = try await facebook.get(
                "oauth/access_token",
                [
                    ("client_id", facebook.settings.appID), ("client_secret", facebook.settings.appSecret),
                    ("redirect_uri", state.redirectURI), ("code", code),
                ])
            return try Self.tokens(answer)
        }
        let endpoint = try await tokenEndpoint(state.provider, configuration)
        var form = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", state.redirectURI)]
        if state.provider != AppleProvider.id { form.append(("code_verifier", seal.verifier(state))) }
        var request = ProviderRequest(url: endpoint.url)
        request.timeoutMilliseconds = endpoint.timeoutMilliseconds
        if endpoint.isForm || endpoint.secret == nil {
            form.append(("client_id", endpoint.client))
            if let secret = endpoint.secret { form.append(("client_secret", secret)) }
        } else if let secret = endpoint.secret {
            // RFC 6749 section 2.3.1.
            let pair = "\(FormText.encoded(endpoint.client)):\(FormText.encoded(secret))"
            request.authorization = "Basic \(Base64.text(Array(pair.utf8)))"
        }
        request.form = FormText.query(form)
        // Once: a code is used up even if the answer is lost.
        guard let answer = await transport.exchange(request, attempts: 1) else { throw .remote(state.provider) }
        return try Self.tokens(answer)
    }

    private static func tokens(_ answer: ProviderAnswer) throws(AssertionError) -> JSONValue {
        guard answer.status == 200, let tokens = answer.json else { throw .invalid("The provider does not accept the code.") }
        return tokens
    }

    /// An address that exchanges codes, and the credentials of the host there.
    private struct TokenEndpoint {
        var url: String
        var client: String
        var secret: String?
        /// Whether the secret stands in the form; otherwise in the header.
        var isForm = true
        var timeoutMilliseconds: Int
    }

    private func tokenEndpoint(_ provider: String, _ configuration: OIDCSettings?) async throws(AssertionError) -> TokenEndpoint {
        switch provider {
        case GoogleProvider.id:
            guard let settings = google?.settings, let client = settings.clientIDs.first else { throw .notAllowed }
            return TokenEndpoint(
                url: settings.tokenURL, client: client, secret: settings.clientSecret, timeoutMilliseconds: settings.timeoutMilliseconds)
        case AppleProvider.id:
            guard let settings = apple?.settings, let client = settings.clientIDs.first,
                let secret = settings.key?.clientSecret(client: client, audience: settings.issuer, now: clock.now())
            else { throw .notAllowed }
            return TokenEndpoint(url: settings.tokenURL, client: client, secret: secret, timeoutMilliseconds: settings.timeoutMilliseconds)
        default:
            guard let settings = oidc(provider, configuration) else { throw .notAllowed }
            guard let endpoints = await issuers.endpoints(settings), let url = endpoints.tokenURL else { throw .remote(provider) }
            return TokenEndpoint(
                url: url, client: settings.clientID, secret: settings.clientSecret, isForm: endpoints.takesSecretInForm,
                timeoutMilliseconds: settings.timeoutMilliseconds)
        }
    }
}
