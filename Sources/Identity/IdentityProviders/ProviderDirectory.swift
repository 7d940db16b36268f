public import Tokens

/// The identity providers of a project: verifies credentials, and leads browsers through the providers' pages.
///
///     let parameters = try ProviderParameters(requestURI: uri, postBody: body)
///     guard let provider = directory.provider(of: parameters) else { ... }
///     let assertion = try await directory.assertion(provider, parameters, sessionID: session, configuration: oidc).get()
public final class ProviderDirectory: Sendable {
    let settings: ProviderSettings
    let transport: any ProviderTransport
    let ledger: any CredentialLedger
    let clock: TokenClock
    let seal: StateSeal
    let issuers: OIDCIssuers
    let facebook: FacebookProvider?
    let google: GoogleProvider?
    let apple: AppleProvider?

    /// - Parameters:
    ///   - stateKey: secret bytes from which states of redirects are sealed: the same after a restart.
    public init(
        _ settings: ProviderSettings, transport: any ProviderTransport, ledger: any CredentialLedger, stateKey: [UInt8], clock: TokenClock = .system
    ) {
        self.settings = settings
        self.transport = transport
        self.ledger = ledger
        self.clock = clock
        seal = StateSeal(key: stateKey)
        issuers = OIDCIssuers(transport: transport, clock: clock)
        facebook = settings.facebook.map { FacebookProvider($0, transport: transport, ledger: ledger, clock: clock) }
        google = settings.google.map { GoogleProvider($0, transport: transport, ledger: ledger, clock: clock) }
        apple = settings.apple.map { AppleProvider($0, transport: transport, ledger: ledger, clock: clock) }
    }

    /// The provider that a request names: by `providerId`, or by the state of a redirect. Nil if it names none.
    public func provider(of parameters: ProviderParameters) -> String? {
        if let text = parameters["state"], let state = seal.open(text, now: clock.now()) { return state.provider }
        return parameters["providerId"]
    }

    /// Verifies the credential of a request.
    ///
    /// - Parameters:
    ///   - sessionID: the session of a redirect, as `createAuthUri` has returned it.
    ///   - configuration: the configuration of an OIDC provider that an administrator has made; it counts more than the file's.
    public func assertion(
        _ provider: String, _ parameters: ProviderParameters, sessionID: String? = nil, configuration: OIDCSettings? = nil
    ) async -> Result<Assertion, AssertionError> {
        do throws(AssertionError) {
            if !settings.acceptsUnsigned, let text = parameters["state"], parameters["providerId"] == nil {
                return .success(try await redirected(text, provider, parameters, sessionID: sessionID, configuration: configuration))
            }
            return .success(try await verified(provider, parameters, nonce: .raw(parameters["nonce"]), configuration: configuration))
        } catch {
            return .failure(error)
        }
    }

    func verified(
        _ provider: String, _ parameters: ProviderParameters, nonce: IDTokenRules.Nonce, configuration: OIDCSettings?
    ) async throws(AssertionError) -> Assertion {
        if settings.acceptsUnsigned { return try UnsignedCredential.assertion(provider, parameters) }
        switch provider {
        case FacebookProvider.id:
            guard let facebook else { throw .notAllowed }
            return try await facebook.assertion(parameters)
        case GoogleProvider.id:
            guard let google else { throw .notAllowed }
            return try await google.assertion(parameters, nonce: nonce)
        case AppleProvider.id:
            guard let apple else { throw .notAllowed }
            return try await apple.assertion(parameters, nonce: nonce)
        default:
            guard let settings = oidc(provider, configuration) else { throw .notAllowed }
            let oidc = OIDCProvider(id: provider, settings: settings, issuers: issuers, ledger: ledger, clock: clock)
            return try await oidc.assertion(parameters, nonce: nonce)
        }
    }

    /// The settings of an OIDC provider that is on.
    func oidc(_ provider: String, _ configuration: OIDCSettings?) -> OIDCSettings? {
        guard provider.hasPrefix("oidc."), let found = configuration ?? settings.oidc[provider], found.isEnabled,
            WebOrigin.isUsable(found.issuer)
        else { return nil }
        return found
    }
}
