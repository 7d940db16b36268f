/// The proofs that the host exchanges for App Check tokens.
public struct AppExchangeSettings: Sendable, Equatable {
    /// Apple's App Attest.
    public struct AppAttest: Sendable, Equatable {
        public var teamID: String
        public var bundleID: String
        /// Path of the certificate at which chains end.
        public var rootCertificate: String
        public var allowsDevelopment: Bool
    }

    /// reCAPTCHA v3.
    public struct Recaptcha: Sendable, Equatable {
        public var secretFile: String
        public var url: String
        public var scoreMin: Double
        public var hostnames: [String]
        /// Empty for all.
        public var actions: [String]
    }

    /// reCAPTCHA Enterprise.
    public struct RecaptchaEnterprise: Sendable, Equatable {
        public var url: String
        public var siteKey: String
        public var apiKeyFile: String
        public var scoreMin: Double
        /// Empty for all.
        public var actions: [String]
    }

    /// Apple's DeviceCheck.
    public struct DeviceCheck: Sendable, Equatable {
        public var url: String
        public var teamID: String
        public var keyID: String
        /// Path of the private key.
        public var privateKey: String
    }

    /// Google's Play Integrity.
    public struct PlayIntegrity: Sendable, Equatable {
        public var url: String
        public var packageName: String
        /// SHA-256 digests, in hexadecimal digits without colons.
        public var certificates: [String]
        public var deviceVerdicts: [String]
        /// Path of the key file.
        public var serviceAccount: String
    }

    public var apps: [String]
    public var debugTokens: [String]
    /// Whether debug tokens are exchanged.
    public var hasDebugProvider: Bool
    public var tokenSeconds: Int
    /// Whether sign-in needs a token: `OFF`, `AUDIT` or `ENFORCE`.
    public var enforceOnAuth: String
    public var appAttest: AppAttest?
    public var recaptcha: Recaptcha?
    public var recaptchaEnterprise: RecaptchaEnterprise?
    public var deviceCheck: DeviceCheck?
    public var playIntegrity: PlayIntegrity?
}

extension ConfigurationReader {
    mutating func appExchange(_ field: Field, mode: Configuration.Mode) -> AppExchangeSettings {
        let tokens = field["debugTokens"].stringsIfPresent ?? []
        var settings = AppExchangeSettings(
            apps: field["apps"].stringsIfPresent ?? [], debugTokens: tokens,
            hasDebugProvider: field["debugProvider"].boolIfPresent ?? (mode == .development || !tokens.isEmpty),
            tokenSeconds: field["tokenSeconds"].int, enforceOnAuth: field["enforceOnAuth"].string)
        let (attest, recaptcha, enterprise, device) = (
            field["appAttest"], field["recaptcha"], field["recaptchaEnterprise"], field["deviceCheck"]
        )
        if let team = attest["teamId"].stringIfPresent, let bundle = attest["bundleId"].stringIfPresent,
            let root = file(attest["rootCertificate"])
        {
            settings.appAttest = AppExchangeSettings.AppAttest(
                teamID: team, bundleID: bundle, rootCertificate: root, allowsDevelopment: attest["allowDevelopment"].bool)
        }
        if let secret = secretFile(recaptcha["secretFile"]) {
            settings.recaptcha = AppExchangeSettings.Recaptcha(
                secretFile: secret, url: recaptcha["url"].string, scoreMin: recaptcha["minimumScore"].double,
                hostnames: recaptcha["hostnames"].stringsIfPresent ?? [], actions: recaptcha["actions"].strings)
        }
        if let url = enterprise["url"].stringIfPresent, let site = enterprise["siteKey"].stringIfPresent,
            let key = secretFile(enterprise["apiKeyFile"]) {
            settings.recaptchaEnterprise = AppExchangeSettings.RecaptchaEnterprise(
                url: url, siteKey: site, apiKeyFile: key, scoreMin: enterprise["minimumScore"].double, actions: enterprise["actions"].strings)
        }
        if let team = device["teamId"].stringIfPresent, let id = device["keyId"].stringIfPresent, let key = secretFile(device["privateKey"]) {
            settings.deviceCheck = AppExchangeSettings.DeviceCheck(url: device["url"].string, teamID: team, keyID: id, privateKey: key)
        }
        let play = field["playIntegrity"]
        if let package = play["packageName"].stringIfPresent, let account = secretFile(play["serviceAccount"]),
            let certificates = play["certificates"].stringsIfPresent
        {
            settings.playIntegrity = AppExchangeSettings.PlayIntegrity(
                url: play["url"].string, packageName: package, certificates: certificates.map { $0.filter { $0 != ":" } },
                deviceVerdicts: play["deviceVerdicts"].strings, serviceAccount: account)
        }
        return settings
    }
}
