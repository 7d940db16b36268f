import AccountNotices
import Accounts
import Authentication
import Configuration
import Crypto
import EventDelivery
import EventLoop
import Files
import HearthBytes
import HearthJSON
import HostCore
import HTTP
import Logging
import Messaging
import RealtimeDatabase
import Store
import Tokens

/// The users of a host, and the keys of their tokens.
struct AuthenticationHost {
    let accounts: AccountService
    let service: AuthenticationService
    /// The keys that verify the host's own ID tokens.
    let ownKeys: KeySet

    /// - Parameters:
    ///   - directory: the existing folder for the store and the keys.
    ///   - ownAccount: finds the key of a service account of the host.
    ///   - developmentAccess: the requests in which `owner` is accepted; nil in production mode.
    ///   - isSuspended: whether another process still has the store open.
    ///   - functions: the functions that sign-ins wait for.
    ///   - appKeys: the keys of the host's own App Check tokens.
    ///   - didRaiseEvents: called, on any thread, with events of users that wait for functions.
    init(
        _ configuration: Configuration, directory: String, adminToken: [UInt8],
        ownAccount: @escaping @Sendable (String) -> (id: String, publicKey: [UInt8])?, developmentAccess: DevelopmentAccess?, isSuspended: Bool,
        functions: BlockingFunctions, appKeys: KeyRing, loop: EventLoop, log: Logger, didRaiseEvents: @escaping @Sendable (EventAnnouncement) -> Void
    ) throws(HostStartError) {
        var policy = AccountPolicy(configuration)
        let keyFile = "\(directory)/second-factors.keys"
        // Another process may be about to replace the file.
        if !isSuspended { _ = try FactorSeal(file: keyFile) }
        policy.openSeal = { () throws(StoreError) in
            do throws(HostStartError) { return try FactorSeal(file: keyFile) } catch { throw StoreError(.io, error.description) }
        }
        do throws(LoopError) {
            accounts = try AccountService(
                path: "\(directory)/users.sqlite", policy: policy, isSuspended: isSuspended, awaitsFunctions: true, log: log,
                didRaiseEvents: didRaiseEvents)
        } catch {
            throw HostStartError("the store of users cannot be started: \(error)")
        }
        let report: @Sendable (String) -> Void = { log.notice("\($0)", metadata: ["of": "auth"]) }
        let idKeys = KeyRing(file: "\(directory)/id-token.keys", report: report)
        let cookieKeys = KeyRing(file: "\(directory)/session-cookie.keys", times: RingTimes(tokenLifetime: 1_209_600), report: report)
        // Tokens of development are not signed, and finding the primes of a key takes a good part of a second.
        if policy.isStrict { try Self.open([idKeys, cookieKeys]) }
        ownKeys = KeySet(source: .ring(idKeys))
        // The admin token is as secret as the redirects need it, and the same after a restart.
        let stateKey = Array(SHA256.hash(data: Array("redirects of sign-in".utf8) + adminToken))
        let rules = TokenRules.idToken(
            project: configuration.project, issuer: policy.issuer, clockSkewSeconds: Int(configuration.auth.clockSkewSeconds),
            acceptsUnsigned: configuration.mode == .development)
        let notices = try NoticeService(configuration, log: log)
        var tools = try AuthenticationTools(
            configuration, idKeys: idKeys, cookieKeys: cookieKeys, notices: notices, accounts: accounts, stateKey: stateKey, loop: loop, log: log)
        tools.functions = BlockingCaller(functions)
        tools.apps = AppRequirement(configuration, ownApps: appKeys, loop: loop, log: log)
        tools.didNotSend = { log.warning("a notice to a user was not sent", metadata: ["of": "auth", "reason": "\($0)"]) }
        tools.addTokens(configuration, directory: directory, cookieKeys: cookieKeys, report: report)
        var settings = try AuthenticationSettings(configuration, adminToken: adminToken, developmentAccess: developmentAccess)
        settings.serviceAccounts.others = ownAccount
        service = AuthenticationService(
            accounts: accounts, settings: settings, tools: tools,
            idTokens: TokenVerifier(rules: rules, keys: ownKeys))
    }

    private static func open(_ rings: [KeyRing]) throws(HostStartError) {
        do throws(KeyRingError) { for ring in rings { try ring.open() } } catch { throw HostStartError("\(error)") }
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
        limits = AccountLimits(settings.limits)
        passwordCost = "scrypt \(settings.passwordCostLogarithm) \(settings.passwordParallelization)"
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

extension AccountLimits {
    init(_ limits: IdentitySettings.Limits) {
        self.init()
        signUpsPerAddress = limits.signUpsPerAddress
        (mailsPerAccount, mailsPerAddress, mailsPerDay) = (limits.mailsPerAccount, limits.mailsPerAddress, limits.mailsPerDay)
        (textsPerAccount, textsPerAddress, textsPerDay) = (limits.textsPerAccount, limits.textsPerAddress, limits.textsPerDay)
        (wrongCodesPerAccount, wrongCodesPerAddress) = (limits.wrongCodesPerAccount, limits.wrongCodesPerAddress)
    }
}

extension FactorSeal {
    private static let fileBytesMax = 1024

    /// The seal with the key of a file, which is made with mode 0600 if it is missing.
    fileprivate init(file: String) throws(HostStartError) {
        let kept: [UInt8]?
        do throws(FileFailure) {
            kept = try DurableFile.kept(file, sizeBytesMax: Self.fileBytesMax, mode: 0o600) {
                var random = SystemRandomNumberGenerator()
                return Array(Base64URL.text((0..<Self.keyBytes).map { _ in UInt8.random(in: 0...255, using: &random) }).utf8)
            }
        } catch {
            throw HostStartError("\(file) \(error)")
        }
        guard let kept, let key = Base64URL.bytes(kept[...]), key.count == Self.keyBytes else {
            throw HostStartError("\(file) does not have the key of second factors; restore it from a backup")
        }
        self.init(key: key)
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
        nativeApps = settings.nativeApps
        publicURL = settings.publicURL
        recaptchaSiteKey = settings.recaptcha?.siteKey
        applicationName = settings.noticeTexts.applicationName ?? configuration.project
        isTLS = configuration.server.tls != nil
        hasTestHooks = settings.hasTestHooks
        proxies = TrustedProxies(try NetworkRange.list(configuration.server.trustedProxies, of: "server.trustedProxies"))
        serviceAccounts = try AccountKeys(settings)
    }
}

extension AccountKeys {
    /// The keys of the configured service accounts.
    init(_ settings: IdentitySettings) throws(HostStartError) {
        self.init()
        for account in settings.serviceAccounts {
            let bytes: [UInt8]
            do throws(FileFailure) {
                bytes = try WholeFile.read(account.publicKey, sizeBytesMax: 1 << 16)
            } catch {
                throw HostStartError("\(account.publicKey) \(error)")
            }
            do throws(KeyFetchError) {
                try add(email: account.email, pem: String(decoding: bytes, as: UTF8.self))
            } catch {
                throw HostStartError("\(account.publicKey): \(error)")
            }
        }
    }
}
