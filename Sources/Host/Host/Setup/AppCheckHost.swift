import AppCheck
import CallFrontEnd
import Configuration
import EventLoop
import Files
import HostCore
import HTTP
import Logging
import Messaging
import Tokens

extension AppCheckService {
    /// App Check for a configuration.
    ///
    /// - Parameters:
    ///   - directory: the existing folder for the store.
    ///   - ownAccount: finds the key of a service account of the host.
    ///   - gate: counts consumed tokens, together with those that functions consume.
    convenience init(
        _ configuration: Configuration, directory: String, ring: KeyRing, gate: TokenGate, adminToken: [UInt8],
        ownAccount: @escaping @Sendable (String) -> (id: String, publicKey: [UInt8])?, developmentAccess: DevelopmentAccess?, isSuspended: Bool,
        loop: EventLoop, log: Logger
    ) throws(HostStartError) {
        let client = HTTPClient(loop: loop)
        var settings = try AppCheckSettings(configuration, client: client, log: log)
        settings.adminToken = adminToken
        settings.accounts.others = ownAccount
        settings.developmentAccess = developmentAccess
        do throws(LoopError) {
            try self.init(
                store: "\(directory)/app-check.sqlite", settings: settings, ring: ring, client: client, isSuspended: isSuspended,
                log: log
            ) { token in
                switch await gate.consume(token) {
                case .success(true?): .first
                case .success(false?): .repeated
                case .success(nil), .failure(.keysUnavailable): .unavailable
                case .failure: .invalid
                }
            }
        } catch {
            throw HostStartError("the store of apps cannot be started: \(error)")
        }
    }

    /// The keys of App Check tokens. They are made when a first token is signed.
    static func ring(directory: String, log: Logger) -> KeyRing {
        KeyRing(file: "\(directory)/app-check.keys", times: RingTimes(tokenLifetime: tokenSecondsMax)) { report in
            log.notice("App Check keys", metadata: ["report": "\(report)"])
        }
    }
}

extension AppCheckSettings {
    init(_ configuration: Configuration, client: HTTPClient, log: Logger) throws(HostStartError) {
        let (tokens, exchange) = (configuration.appCheck, configuration.appExchange)
        let number = tokens.projectNumber ?? configuration.messaging.projectNumber ?? MessagingProject.number(for: configuration.project)
        self.init(project: configuration.project, projectNumber: number)
        issuer = tokens.issuer
        apps = exchange.apps
        acceptsAnyApp = configuration.mode == .development
        debugTokens = exchange.debugTokens
        hasDebugProvider = exchange.hasDebugProvider
        proxies = TrustedProxies(try NetworkRange.list(configuration.server.trustedProxies, of: "server.trustedProxies"))
        apiKeys = configuration.mode == .production ? configuration.identity.apiKeys : nil
        tokenSeconds = exchange.tokenSeconds
        accounts = try AccountKeys(configuration.identity)
        if let attest = exchange.appAttest {
            appAttest = AppAttestSettings(
                teamID: attest.teamID, bundleID: attest.bundleID, root: try Self.contents(of: attest.rootCertificate),
                allowsDevelopment: attest.allowsDevelopment)
            guard appAttest?.hasRoot == true else { throw HostStartError("\(attest.rootCertificate) is not a certificate in PEM") }
        }
        if let site = exchange.recaptcha {
            recaptcha = RecaptchaSettings(
                url: site.url, secret: try Self.contents(of: site.secretFile), scoreMin: site.scoreMin, hostnames: site.hostnames,
                actions: site.actions)
        }
        if let site = exchange.recaptchaEnterprise {
            recaptchaEnterprise = RecaptchaEnterpriseSettings(
                url: site.url, apiKey: try Self.contents(of: site.apiKeyFile), siteKey: site.siteKey, scoreMin: site.scoreMin,
                actions: site.actions)
        }
        if let team = exchange.deviceCheck {
            deviceCheck = DeviceCheckSettings(
                url: team.url, teamID: team.teamID, keyID: team.keyID, privateKey: try Self.contents(of: team.privateKey))
            guard deviceCheck?.hasKey == true else { throw HostStartError("\(team.privateKey) is not a P-256 key in PEM") }
        }
        if let wanted = exchange.playIntegrity { playIntegrity = try PlayIntegritySettings(wanted, client: client, log: log) }
    }

    private static func text(of file: String) throws(KeyFetchError) -> String {
        do throws(FileFailure) {
            return try WholeFile.readText(file, sizeBytesMax: 1 << 16)
        } catch {
            throw KeyFetchError("the file \(error)")
        }
    }

    /// The contents of a file without the line end that editors add.
    static func contents(of file: String) throws(HostStartError) -> String {
        do throws(KeyFetchError) {
            var text = try text(of: file)
            while let last = text.last, last.isWhitespace { text.removeLast() }
            return text
        } catch {
            throw HostStartError("\(file): \(error)")
        }
    }
}

extension RecaptchaSettings {
    /// The site whose reCAPTCHA text messages need; nil if none is configured.
    init?(phonesOf configuration: Configuration) throws(HostStartError) {
        guard let site = configuration.identity.recaptcha else { return nil }
        self.init(url: site.url, secret: try AppCheckSettings.contents(of: site.secretFile), scoreMin: 0, hostnames: site.hostnames)
    }
}

extension PlayIntegritySettings {
    private static let scope = "https://www.googleapis.com/auth/playintegrity"

    fileprivate init(_ settings: AppExchangeSettings.PlayIntegrity, client: HTTPClient, log: Logger) throws(HostStartError) {
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try WholeFile.read(settings.serviceAccount, sizeBytesMax: 1 << 16)
        } catch {
            throw HostStartError("appCheck.playIntegrity: \(settings.serviceAccount) \(error)")
        }
        let key: ServiceAccountKey
        do throws(ServiceAccountKey.Problem) {
            key = try ServiceAccountKey(parsing: bytes, name: settings.serviceAccount)
        } catch {
            throw HostStartError("appCheck.playIntegrity: \(error)")
        }
        let access = ServiceAccountAccess(key, scope: Self.scope, client: client, log: log) { Int64(TokenClock.system.now()) * 1000 }
        self.init(
            url: settings.url, packageName: settings.packageName, certificates: settings.certificates.map(Self.bytes),
            deviceVerdicts: settings.deviceVerdicts, accessToken: { await access.token() }, forgetToken: { await access.forget($0) })
    }

    /// The bytes of hexadecimal digits, which the schema has checked.
    private static func bytes(_ digits: String) -> [UInt8] {
        let values = digits.compactMap { $0.hexDigitValue }
        return stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
