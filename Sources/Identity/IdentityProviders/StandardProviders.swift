import HearthJSON
import HTTP
import Tokens

/// Google (spec auth 2.2): an ID token, or an access token that Google explains.
struct GoogleProvider: Sendable {
    static let id = "google.com"

    let settings: GoogleSettings
    let transport: any ProviderTransport
    let keys: KeySet
    let ledger: any CredentialLedger
    let clock: TokenClock

    init(_ settings: GoogleSettings, transport: any ProviderTransport, ledger: any CredentialLedger, clock: TokenClock) {
        self.settings = settings
        self.transport = transport
        self.ledger = ledger
        self.clock = clock
        keys = ProviderKeys.set(
            [settings.keyURL], algorithms: ["RS256"], transport: transport, timeoutMilliseconds: settings.timeoutMilliseconds, clock: clock)
    }

    func assertion(_ parameters: ProviderParameters, nonce: IDTokenRules.Nonce) async throws(AssertionError) -> Assertion {
        if let token = parameters["id_token"] {
            let rules = IDTokenRules(provider: Self.id, issuers: settings.issuers, audiences: settings.clientIDs)
            let claims = try await rules.verified(token, nonce: nonce, keys: keys, ledger: ledger, now: clock.now())
            var assertion = Assertion(provider: Self.id, claims: claims)
            assertion.idToken = token
            assertion.accessToken = parameters["access_token"]
            return assertion
        }
        guard let token = parameters["access_token"], token.utf8.count <= 4096 else {
            throw .invalid("Google credentials need an id_token or an access_token.")
        }
        return try await explained(token)
    }

    /// Checks which application an access token is for, then reads the user's data with it.
    private func explained(_ token: String) async throws(AssertionError) -> Assertion {
        let query = FormText.query([("access_token", token)])
        var question = ProviderRequest(url: "\(settings.tokenInfoURL)?\(query)")
        question.timeoutMilliseconds = settings.timeoutMilliseconds
        guard let answer = await transport.exchange(question) else { throw .remote(Self.id) }
        guard answer.status == 200, let info = answer.json else { throw .invalid("Google does not accept the access token.") }
        guard let audience = info["aud"]?.string ?? info["azp"]?.string, settings.clientIDs.contains(audience) else {
            throw .invalid("The access token was issued for a different application.")
        }
        guard token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { throw .invalid("Google does not accept the access token.") }
        var request = ProviderRequest(url: settings.userInfoURL)
        request.authorization = "Bearer \(token)"
        request.timeoutMilliseconds = settings.timeoutMilliseconds
        guard let answer = await transport.exchange(request) else { throw .remote(Self.id) }
        guard answer.status == 200, let claims = answer.json?.object, let subject = claims["sub"]?.string, !subject.isEmpty,
            info["sub"]?.string ?? subject == subject
        else { throw .invalid("Google does not accept the access token.") }
        var assertion = Assertion(provider: Self.id, claims: claims)
        assertion.accessToken = token
        return assertion
    }
}

/// Apple (spec auth 2.2): an ID token, with the names that Apple gives once beside it.
struct AppleProvider: Sendable {
    static let id = "apple.com"

    let settings: AppleSettings
    let keys: KeySet
    let ledger: any CredentialLedger
    let clock: TokenClock

    init(_ settings: AppleSettings, transport: any ProviderTransport, ledger: any CredentialLedger, clock: TokenClock) {
        self.settings = settings
        self.ledger = ledger
        self.clock = clock
        keys = ProviderKeys.set(
            [settings.keyURL], algorithms: ["RS256"], transport: transport, timeoutMilliseconds: settings.timeoutMilliseconds, clock: clock)
    }

    func assertion(_ parameters: ProviderParameters, nonce: IDTokenRules.Nonce) async throws(AssertionError) -> Assertion {
        guard let token = parameters["id_token"] else { throw .invalid("Apple credentials need an id_token.") }
        let rules = IDTokenRules(provider: Self.id, issuers: [settings.issuer], audiences: settings.clientIDs)
        let claims = try await rules.verified(token, nonce: nonce, keys: keys, ledger: ledger, now: clock.now())
        var assertion = Assertion(provider: Self.id, claims: claims)
        assertion.idToken = token
        assertion.accessToken = parameters["access_token"]
        if let user = parameters["user"], user.utf8.count <= 4096,
            let name = (try? JSONValue(parsing: user, limits: JSONLimits(depthMax: 8)))?["name"] {
            assertion.firstName = Assertion.text(name["firstName"])
            assertion.lastName = Assertion.text(name["lastName"])
            let parts = [assertion.firstName, assertion.lastName].compactMap(\.self)
            if !parts.isEmpty { assertion.displayName = parts.joined(separator: " ") }
        }
        return assertion
    }
}
