import HearthJSON
import Synchronization
import Tokens

/// The addresses of an OpenID Connect provider (OpenID Connect Discovery section 3).
struct OIDCEndpoints: Sendable, Equatable {
    var keyURL: String
    var authorizationURL: String?
    var tokenURL: String?
    /// Whether the token endpoint takes the secret in the form only.
    var takesSecretInForm = false
}

/// Finds the addresses and keys of OpenID Connect providers: fetched once, kept as long as the answer says, at most six hours.
final class OIDCIssuers: Sendable {
    private struct Entry {
        var task: Task<OIDCEndpoints?, Never>
        /// When the result is fetched again; never while it is being fetched.
        var ends = Int.max
        var keys: (url: String, set: KeySet)?

        /// Whether the result is used. A time later than that of any result is of a clock that was wrong.
        func counts(_ now: Int) -> Bool { ends == .max || now < ends && ends <= now + OIDCIssuers.lifetimeSecondsMax }
    }

    /// Further issuers replace others: an administrator may configure any number.
    private static let entriesMax = 64
    private static let retrySeconds = 5
    private static let lifetimeSecondsMax = 6 * 3600

    private let transport: any ProviderTransport
    private let clock: TokenClock
    private let entries = Mutex<[String: Entry]>([:])

    init(transport: any ProviderTransport, clock: TokenClock) {
        self.transport = transport
        self.clock = clock
    }

    /// The addresses of a provider; nil if its issuer does not answer, or wrongly.
    func endpoints(_ settings: OIDCSettings) async -> OIDCEndpoints? {
        let (issuer, timeout) = (settings.issuer, settings.timeoutMilliseconds)
        return await entries.withLock { entries in
            if let entry = entries[issuer], entry.counts(clock.now()) { return entry.task }
            if entries[issuer] == nil, entries.count >= Self.entriesMax, let other = entries.first(where: { $0.value.ends != Int.max })?.key {
                entries[other] = nil
            }
            let task = Task { await fetch(issuer, timeout) }
            // The keys stay: rotation of keys must not depend on the discovery.
            entries[issuer] = Entry(task: task, keys: entries[issuer]?.keys)
            return task
        }.value
    }

    /// The keys of a provider with these addresses.
    func keys(_ settings: OIDCSettings, _ endpoints: OIDCEndpoints) -> KeySet {
        let issuer = settings.issuer
        return entries.withLock { entries in
            if let known = entries[issuer]?.keys, known.url == endpoints.keyURL { return known.set }
            let set = ProviderKeys.set(
                [endpoints.keyURL], algorithms: ["RS256", "ES256"], transport: transport, timeoutMilliseconds: settings.timeoutMilliseconds,
                clock: clock)
            entries[issuer]?.keys = (endpoints.keyURL, set)
            return set
        }
    }

    private func fetch(_ issuer: String, _ timeoutMilliseconds: Int) async -> OIDCEndpoints? {
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        var request = ProviderRequest(url: "\(base)/.well-known/openid-configuration")
        request.timeoutMilliseconds = timeoutMilliseconds
        let answer = await transport.exchange(request, attempts: 1)
        let found = answer.flatMap { $0.status == 200 ? Self.endpoints($0.json, issuer: issuer) : nil }
        let lifetime = found == nil ? Self.retrySeconds : min(max(answer?.maxAgeSeconds ?? 3600, 60), Self.lifetimeSecondsMax)
        entries.withLock { $0[issuer]?.ends = clock.now() + lifetime }
        return found
    }

    /// Reads a discovery document. A remote issuer cannot name addresses of this machine.
    static func endpoints(_ document: JSONValue?, issuer: String) -> OIDCEndpoints? {
        guard let document, document["issuer"]?.string == issuer else { return nil }
        let isLocal = WebOrigin(of: issuer)?.isLoopback ?? false
        func address(_ name: String) -> String? {
            guard let text = document[name]?.string, text.utf8.count <= 2048,
                WebOrigin.isUsable(text, allowsLoopback: isLocal), isLocal || WebOrigin(of: text)?.isLoopback == false
            else { return nil }
            return text
        }
        guard let keys = address("jwks_uri") else { return nil }
        var endpoints = OIDCEndpoints(keyURL: keys)
        endpoints.authorizationURL = address("authorization_endpoint")
        endpoints.tokenURL = address("token_endpoint")
        let methods = document["token_endpoint_auth_methods_supported"]?.array?.compactMap(\.string) ?? []
        endpoints.takesSecretInForm = methods.contains("client_secret_post") && !methods.contains("client_secret_basic")
        return endpoints
    }
}

/// A provider of OpenID Connect (spec auth 2.2), in the configuration file or made by an administrator.
struct OIDCProvider: Sendable {
    let id: String
    let settings: OIDCSettings
    let issuers: OIDCIssuers
    let ledger: any CredentialLedger
    let clock: TokenClock

    func assertion(_ parameters: ProviderParameters, nonce: IDTokenRules.Nonce) async throws(AssertionError) -> Assertion {
        guard let token = parameters["id_token"] else { throw .invalid("\(id) credentials need an id_token.") }
        var rules = IDTokenRules(provider: id, issuers: [settings.issuer], audiences: [settings.clientID] + settings.otherClientIDs)
        rules.algorithms = ["RS256", "ES256"]
        // Before the discovery: a token of another issuer must cause no requests.
        if let claims = (try? UncheckedToken(token))?.claims { _ = try rules.check(claims, now: clock.now()) }
        guard let endpoints = await issuers.endpoints(settings) else { throw .remote(id) }
        let claims = try await rules.verified(
            token, nonce: nonce, keys: issuers.keys(settings, endpoints), ledger: ledger, now: clock.now())
        var assertion = Assertion(provider: id, claims: claims)
        assertion.idToken = token
        assertion.accessToken = parameters["access_token"]
        assertion.attributes = assertion.profile
        for name in ["iss", "aud", "sub", "iat", "exp", "nbf", "auth_time", "email", "email_verified", "name", "picture", "at_hash", "c_hash"] {
            assertion.attributes.removeValue(forKey: name)
        }
        return assertion
    }
}
