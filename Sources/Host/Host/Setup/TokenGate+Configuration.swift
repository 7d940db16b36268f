import Authentication
import CallFrontEnd
import Configuration
import EventLoop
import HTTP
import Logging
import Logs
import Tokens

extension TokenGate {
    /// The gate for a configuration. Unsigned tokens are accepted only in development mode.
    ///
    /// - Parameters:
    ///   - own: the keys of the host's own ID tokens.
    ///   - ownApps: the keys of the host's own App Check tokens.
    ///   - consumed: the file of consumed App Check tokens.
    convenience init(_ configuration: Configuration, own: KeySet, ownApps: KeyRing, consumed: String, loop: EventLoop, log: Logger) {
        let fetcher = KeyFetcher(client: HTTPClient(loop: loop))
        let acceptsUnsigned = configuration.mode == .development
        let auth = configuration.auth
        let appCheck = configuration.appCheck
        let idRules = TokenRules.idToken(
            project: configuration.project, issuer: auth.issuer, clockSkewSeconds: Int(auth.clockSkewSeconds),
            acceptsUnsigned: acceptsUnsigned)
        // The host's own tokens have its own issuer, whatever that of others is.
        let ownIDRules = TokenRules.idToken(
            project: configuration.project, clockSkewSeconds: Int(auth.clockSkewSeconds), acceptsUnsigned: acceptsUnsigned)
        let appCheckRules = TokenRules.appCheck(configuration)
        let idKeys = Self.keys(auth, fetcher, "auth", log)
        let appCheckKeys = Self.keys(appCheck, fetcher, "appCheck", log)
        self.init(
            idTokens: TokenVerifier(rules: idRules, keys: idKeys, own: OwnTokens(rules: ownIDRules, keys: own)),
            appCheckTokens: TokenVerifier(
                rules: appCheckRules, keys: appCheckKeys, own: OwnTokens(rules: appCheckRules, keys: KeySet(source: .ring(ownApps)))),
            consumed: ConsumedTokens(path: consumed, loop: loop, log: log) { Int(WallClock.unixSeconds) },
            keyFiles: [(auth, idKeys), (appCheck, appCheckKeys)].filter { $0.0.keys?.isFile == true }.compactMap(\.1))
    }

    /// The keys of another issuer; nil if the configuration names none.
    fileprivate static func keys(_ settings: TokenSettings, _ fetcher: KeyFetcher, _ name: String, _ log: Logger) -> KeySet? {
        let source: KeySource
        switch settings.keys {
        case nil: return nil
        case .jwksURL(let url), .certificatesURL(let url): source = .url(url)
        case .jwksFile(let file), .certificatesFile(let file): source = .file(file)
        }
        return KeySet(source: source, fetcher: fetcher) { report in
            switch report {
            case .refreshed(let count, let problems):
                log.info("token keys were read", metadata: ["of": "\(name)", "keys": "\(count)"])
                for problem in problems { log.warning("a token key is not used", metadata: ["of": "\(name)", "reason": "\(problem)"]) }
            case .failed(let error, let count):
                log.error("token keys could not be read", metadata: ["of": "\(name)", "reason": "\(error)", "oldKeys": "\(count)"])
            }
        }
    }
}

extension TokenRules {
    /// The rules for App Check tokens.
    static func appCheck(_ configuration: Configuration) -> TokenRules {
        let settings = configuration.appCheck
        return .appCheck(
            project: configuration.project, projectNumber: settings.projectNumber, issuerPrefix: settings.issuer,
            clockSkewSeconds: Int(settings.clockSkewSeconds), acceptsUnsigned: configuration.mode == .development)
    }
}

extension AppRequirement {
    /// The App Check tokens that sign-in needs; nil if it needs none.
    ///
    /// - Parameter ownApps: the keys of the host's own App Check tokens.
    init?(_ configuration: Configuration, ownApps: KeyRing, loop: EventLoop, log: Logger) {
        let mode = configuration.appExchange.enforceOnAuth
        guard mode != "OFF" else { return nil }
        let keys = TokenGate.keys(configuration.appCheck, KeyFetcher(client: HTTPClient(loop: loop)), "appCheck", log)
        let isEnforced = mode == "ENFORCE"
        let sentence: Logger.Message =
            isEnforced ? "a request of sign-in without a valid App Check token was refused" : "a request of sign-in has no valid App Check token"
        let rules = TokenRules.appCheck(configuration)
        self.init(
            tokens: TokenVerifier(rules: rules, keys: keys, own: OwnTokens(rules: rules, keys: KeySet(source: .ring(ownApps)))),
            isEnforced: isEnforced
        ) { reason in log.warning(sentence, metadata: ["of": "auth", "reason": "\(reason)"]) }
    }
}

extension TokenSettings.Keys {
    /// Whether the keys are in a file on this machine, so that errors can be found at the start.
    fileprivate var isFile: Bool {
        switch self {
        case .jwksFile, .certificatesFile: true
        case .jwksURL, .certificatesURL: false
        }
    }
}
