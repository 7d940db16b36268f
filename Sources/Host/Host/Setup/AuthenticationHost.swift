import Accounts
import Authentication
import Configuration
import EventLoop
import Files
import HearthJSON
import HostCore
import HTTP
import Logging
import Messaging
import Tokens

/// The users of a host, and the keys of their tokens.
struct AuthenticationHost {
    let accounts: AccountService
    let service: AuthenticationService
    /// The keys that verify the host's own ID tokens.
    let ownKeys: KeySet

    /// - Parameters:
    ///   - directory: the existing folder for the store and the keys.
    ///   - developmentAccess: the requests in which `owner` is accepted; nil in production mode.
    ///   - isSuspended: whether another process still has the store open.
    init(
        _ configuration: Configuration, directory: String, adminToken: [UInt8], developmentAccess: DevelopmentAccess?, isSuspended: Bool,
        loop: EventLoop, log: Logger
    ) throws(HostStartError) {
        let policy = AccountPolicy(configuration)
        do throws(LoopError) {
            accounts = try AccountService(path: "\(directory)/users.sqlite", policy: policy, isSuspended: isSuspended, log: log)
        } catch {
            throw HostStartError("the store of users cannot be started: \(error)")
        }
        // Tokens of development are not signed, and finding the primes of a key takes a good part of a second.
        let idKeys = policy.isStrict ? try Self.ring("\(directory)/id-token.keys", tokenLifetime: 3600, log) : nil
        let cookieKeys = policy.isStrict ? try Self.ring("\(directory)/session-cookie.keys", tokenLifetime: 14 * 86_400, log) : nil
        ownKeys = KeySet(source: idKeys.map { .ring($0) } ?? .text("{}"))
        let rules = TokenRules.idToken(
            project: configuration.project, issuer: policy.issuer, clockSkewSeconds: Int(configuration.auth.clockSkewSeconds),
            acceptsUnsigned: configuration.mode == .development)
        let tools = AuthenticationTools(configuration, idKeys: idKeys, cookieKeys: cookieKeys, log: log)
        service = AuthenticationService(
            accounts: accounts,
            settings: try AuthenticationSettings(configuration, adminToken: adminToken, developmentAccess: developmentAccess), tools: tools,
            idTokens: TokenVerifier(rules: rules, keys: ownKeys))
    }

    /// Opens a ring of keys, which is made at the first start.
    private static func ring(_ file: String, tokenLifetime: Int, _ log: Logger) throws(HostStartError) -> KeyRing {
        let ring = KeyRing(file: file, times: RingTimes(tokenLifetime: tokenLifetime)) { report in
            log.notice("keys of tokens", metadata: ["report": "\(report)"])
        }
        do throws(KeyRingError) { try ring.open() } catch { throw HostStartError(error.description) }
        return ring
    }
}

extension AccountPolicy {
    init(_ configuration: Configuration) {
        let settings = configuration.identity
        let number =
            configuration.appCheck.projectNumber ?? configuration.messaging.projectNumber ?? MessagingProject.number(for: configuration.project)
        let isStrict = configuration.mode == .production
        self.init(
            project: configuration.project, projectNumber: number, issuer: "https://securetoken.google.com/\(configuration.project)",
            isStrict: isStrict, showsCodes: !isStrict || settings.hasTestHooks)
        projectDefaults = Self.document(settings)
        failuresMax = settings.failuresPerAccount
        failuresPerAddressMax = settings.failuresPerAddress
        windowSeconds = Int64(settings.failureSeconds)
    }

    private static func document(_ settings: IdentitySettings) -> JSONObject {
        let messages = settings.secondFactorKinds.contains("PHONE_SMS")
        let codes = settings.secondFactorKinds.contains("TOTP")
        return [
            "signIn": [
                "email": ["enabled": .bool(settings.allowsPassword), "passwordRequired": .bool(!settings.allowsEmailLink)],
                "phoneNumber": ["enabled": .bool(settings.allowsPhone)], "anonymous": ["enabled": .bool(settings.allowsAnonymous)],
                "allowDuplicateEmails": .bool(settings.allowsDuplicateEmails),
            ],
            "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(settings.protectsEmails)],
            "mfa": [
                "state": .string(settings.secondFactors), "enabledProviders": messages ? ["PHONE_SMS"] : [],
                "providerConfigs": codes ? [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 5]]] : [],
            ],
            "authorizedDomains": .array(settings.authorizedDomains.map { .string($0) }),
        ]
    }
}

extension AuthenticationSettings {
    init(_ configuration: Configuration, adminToken: [UInt8], developmentAccess: DevelopmentAccess?) throws(HostStartError) {
        self.init()
        let settings = configuration.identity
        apiKeys = settings.apiKeys
        self.adminToken = adminToken
        self.developmentAccess = developmentAccess
        authorizedDomains = settings.authorizedDomains
        publicURL = settings.publicURL
        isTLS = configuration.server.tls != nil
        hasTestHooks = settings.hasTestHooks
        proxies = TrustedProxies(try NetworkRange.list(configuration.server.trustedProxies, of: "server.trustedProxies"))
        for account in settings.serviceAccounts {
            let key = try PublicKeyFile(account.publicKey)
            serviceAccounts.append(TrustedServiceAccount(email: account.email) { signature, signed, _ in key.isSignature(signature, signed) })
        }
    }
}
