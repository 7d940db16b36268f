public import EventLoop
import HearthBytes
import HearthJSON
public import HTTP
public import Logging
public import Tokens

/// The settings of App Check.
public struct AppCheckSettings: Sendable {
    public var project: String
    /// The number of the project, which ends the issuer.
    public var projectNumber: String
    /// The beginning of the issuer, including the slash.
    public var issuer = "https://firebaseappcheck.googleapis.com/"
    /// The apps of the configuration. Administrators can register further ones.
    public var apps: [String] = []
    /// Whether every app is accepted while none is configured: for development.
    public var acceptsAnyApp = false
    /// The tokens of developers' devices, for all apps.
    public var debugTokens: [String] = []
    /// Whether debug tokens are accepted at all.
    public var hasDebugProvider = false
    /// The API keys of clients; nil if every request is accepted.
    public var apiKeys: [String]?
    /// The bearer token of the administrator.
    public var adminToken: [UInt8] = []
    /// The requests in which `owner` counts; nil in production.
    public var developmentAccess: DevelopmentAccess?
    /// The service accounts whose custom tokens are accepted.
    public var accounts = AccountKeys()
    public var clockSkewSeconds = 5
    public var appAttest: AppAttestSettings?
    public var recaptcha: RecaptchaSettings?
    public var recaptchaEnterprise: RecaptchaEnterpriseSettings?
    public var deviceCheck: DeviceCheckSettings?
    public var playIntegrity: PlayIntegritySettings?
    /// The lifetime of a token.
    public var tokenSeconds = 3600
    /// The proxies whose header with the client's address is trusted.
    public var proxies = TrustedProxies()

    /// Settings without providers.
    public init(project: String, projectNumber: String) {
        self.project = project
        self.projectNumber = projectNumber
    }
}

/// The result of consuming an App Check token.
public enum Consumption: Sendable, Equatable {
    /// It had not been consumed before.
    case first
    case repeated
    /// It is no good token.
    case invalid
    /// The store failed.
    case unavailable
}

/// App Check, for all loops: exchanges proofs for tokens.
public final class AppCheckService: Sendable {
    let settings: AppCheckSettings
    let storage: AppCheckStorage
    private let ring: KeyRing
    private let clock: TokenClock
    private let providers: [ExchangeMethod: any AttestationProvider]
    private let challenges = AddressLimits.ofChallenges()
    private let keys = AddressLimits.ofKeys()
    private let consumer: @Sendable ([UInt8]) async -> Consumption

    /// The lifetime of a token that may be used once.
    private static let limitedSeconds = 300

    /// The longest lifetime of a token, for the times of the ring of keys.
    public static let tokenSecondsMax = 604_800

    /// - Parameters:
    ///   - store: the file of the store, in an existing folder.
    ///   - ring: the keys that sign tokens.
    ///   - consume: verifies a token and marks it as consumed, in the place where functions consume them too.
    ///   - isSuspended: whether another process still has the store open.
    public init(
        store: String, settings: AppCheckSettings, ring: KeyRing, client: HTTPClient, clock: TokenClock = .system, isSuspended: Bool = false,
        log: Logger, consume: @escaping @Sendable ([UInt8]) async -> Consumption
    ) throws(LoopError) {
        let storage = try AppCheckStorage(path: store, isSuspended: isSuspended, clock: { Int64(clock.now()) }, log: log)
        self.storage = storage
        self.settings = settings
        self.ring = ring
        self.clock = clock
        consumer = consume
        let remote = ProviderClient(client: client)
        var list: [any AttestationProvider] = [CustomProvider(accounts: settings.accounts, clockSkewSeconds: settings.clockSkewSeconds)]
        if settings.hasDebugProvider {
            let hashes = settings.debugTokens.map { AppCheckStore.hash(Array($0.lowercased().utf8)) }
            list.append(DebugProvider(configured: hashes, store: storage))
        }
        if let appAttest = settings.appAttest { list.append(AppAttestProvider(settings: appAttest, store: storage)) }
        if let recaptcha = settings.recaptcha { list.append(RecaptchaProvider(settings: recaptcha, client: remote)) }
        if let enterprise = settings.recaptchaEnterprise { list.append(RecaptchaEnterpriseProvider(settings: enterprise, client: remote)) }
        if let deviceCheck = settings.deviceCheck { list.append(DeviceCheckProvider(settings: deviceCheck, client: remote)) }
        if let play = settings.playIntegrity { list.append(PlayIntegrityProvider(settings: play, client: remote, store: storage)) }
        var providers: [ExchangeMethod: any AttestationProvider] = [:]
        for provider in list { for method in provider.methods { providers[method] = provider } }
        self.providers = providers
    }

    // MARK: Life

    /// Closes the store for another process, until ``resume()``. Calls `completion` on any thread.
    public func suspend(completion: @escaping @Sendable () -> Void) { storage.suspend(completion: completion) }

    /// Opens the store again.
    public func resume() { storage.resume() }

    /// Commits what has arrived and closes the store.
    public func stop() { storage.stop() }

    // MARK: Operations

    func requireProject(_ project: String) throws(AppCheckError) {
        guard project == settings.project || project == settings.projectNumber else { throw .notFound }
    }

    func requireApp(_ app: String) async throws(AppCheckError) {
        if settings.apps.contains(app) { return }
        if try await storage.perform({ store throws(AppCheckFailure) in try store.hasApp(app) }) { return }
        guard settings.acceptsAnyApp, settings.apps.isEmpty, Self.isAppID(app) else { throw .unknownApp }
    }

    /// Whether a text has the form of an app's id, such as `1:1234567890:ios:321abc456def7890`.
    static func isAppID(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return text.utf8.count <= 128 && parts.count == 4
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "/") } }
    }

    /// Exchanges a proof for a token.
    ///
    /// - Parameter address: the client's address, or its network.
    func exchange(
        app: String, method: ExchangeMethod, body: AppCheckBody, address: String, on loop: EventLoop
    ) async throws(AppCheckError) -> JSONObject {
        try await requireApp(app)
        guard let provider = providers[method] else { throw .notConfigured(method.rawValue) }
        try method.platform?.require(app)
        // Each attestation is stored.
        if method == .attestation { guard keys.count(address, now: clock.now()) else { throw .exhausted } }
        let isLimited = try body.flag("limitedUse")
        let attestation = try await provider.attest(AttestationRequest(app: app, method: method, body: body, now: clock.now()))
        let token = try await token(app: app, attestation, isLimited: isLimited, on: loop)
        guard method == .attestation else { return token }
        return ["artifact": .string(Base64.text(attestation.artifact ?? [])), "appCheckToken": .object(token)]
    }

    private func token(app: String, _ attestation: Attestation, isLimited: Bool, on loop: EventLoop) async throws(AppCheckError) -> JSONObject {
        let now = clock.now()
        let seconds = isLimited ? Self.limitedSeconds : attestation.tokenSeconds ?? settings.tokenSeconds
        var claims: JSONObject = [
            "iss": .string(settings.issuer + settings.projectNumber),
            "aud": [.string("projects/\(settings.projectNumber)"), .string("projects/\(settings.project)")],
            "sub": .string(app), "iat": .int(Int64(now)), "exp": .int(Int64(now + seconds)),
        ]
        if isLimited { claims["jti"] = .string(attestation.tokenID ?? Self.randomText()) }
        let payload = JSONValue.object(claims).serialized()
        let signed = await loop.offload { [ring] in
            do throws(KeyRingError) { return Result<String, KeyRingError>.success(try ring.sign(payload)) } catch { return .failure(error) }
        }
        guard case .success(let text) = signed else { throw .unavailable }
        return ["token": .string(text), "ttl": .string("\(seconds)s")]
    }

    /// Makes a challenge.
    ///
    /// - Parameters:
    ///   - isNonce: whether it has the form of a nonce of Play Integrity, which takes only the letters that are safe in addresses.
    ///   - address: the client's address, or its network.
    func challenge(app: String, isNonce: Bool, address: String) async throws(AppCheckError) -> JSONObject {
        try await requireApp(app)
        try (isNonce ? AppPlatform.android : .ios).require(app)
        guard challenges.count(address, now: clock.now()) else { throw .exhausted }
        let challenge = Self.randomBytes()
        try await storage.perform { store throws(AppCheckFailure) in try store.add(challenge: challenge, app: app) }
        let text = isNonce ? Base64URL.text(challenge) : Base64.text(challenge)
        return ["challenge": .string(text), "ttl": .string("\(AppCheckStore.challengeSeconds)s")]
    }

    /// The public keys, as a JSON Web Key Set.
    func keys(on loop: EventLoop) async throws(AppCheckError) -> [UInt8] {
        let keys = await loop.offload { [ring] in try? ring.keySet() }
        guard let keys else { throw .unavailable }
        return keys
    }

    /// Verifies a token and marks it as consumed. Returns whether it had been before.
    func consume(_ token: String) async throws(AppCheckError) -> Bool {
        switch await consumer(Array(token.utf8)) {
        case .first: return false
        case .repeated: return true
        case .invalid: throw .invalidToken
        case .unavailable: throw .unavailable
        }
    }

    static func randomBytes() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    static func randomText() -> String { Base64URL.text(Array(randomBytes().prefix(18))) }
}
