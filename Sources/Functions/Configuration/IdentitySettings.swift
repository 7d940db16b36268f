/// Sign-in: the users of the host itself.
public struct IdentitySettings: Sendable, Equatable {
    /// A service account whose custom tokens are accepted.
    public struct ServiceAccount: Sendable, Equatable {
        public var email: String
        /// Path of its public key or certificate.
        public var publicKey: String
    }

    /// The reCAPTCHA of text messages.
    public struct Recaptcha: Sendable, Equatable {
        public var siteKey: String
        public var secretFile: String
        public var url: String
        public var hostnames: [String]
    }

    /// Bounds of what clients may cause, in an hour or a day; nil for unlimited.
    public struct Limits: Sendable, Equatable {
        public var signUpsPerAddress: Int?
        public var mailsPerAccount: Int?
        public var mailsPerAddress: Int?
        public var mailsPerDay: Int?
        public var textsPerAccount: Int?
        public var textsPerAddress: Int?
        public var textsPerDay: Int?
        public var wrongCodesPerAccount: Int?
        public var wrongCodesPerAddress: Int?
    }

    /// Nil if it is not configured, as for the next two.
    public var facebook: Facebook?
    public var google: Google?
    public var apple: Apple?
    /// By id.
    public var oidc: [String: OpenIDProvider]
    /// Nil if every key is accepted.
    public var apiKeys: [String]?
    public var authorizedDomains: [String]
    /// The ids of native applications that may get the result of a sign-in with a provider's page.
    public var nativeApps: [String]
    /// Nil for the address of each request.
    public var publicURL: String?
    public var allowsDuplicateEmails: Bool
    public var allowsPassword: Bool
    public var allowsEmailLink: Bool
    public var allowsAnonymous: Bool
    public var allowsPhone: Bool
    /// Whether answers do not tell which e-mails have an account.
    public var protectsEmails: Bool
    /// `DISABLED`, `ENABLED` or `MANDATORY`.
    public var secondFactors: String
    /// `PHONE_SMS` and `TOTP`.
    public var secondFactorKinds: [String]
    public var serviceAccounts: [ServiceAccount]
    public var failuresPerAccount: Int
    public var failuresPerAddress: Int
    public var failureSeconds: Int
    /// The base-2 logarithm of scrypt's N for new hashes of passwords.
    public var passwordCostLogarithm: Int
    /// Scrypt's p.
    public var passwordParallelization: Int
    public var limits: Limits
    /// Nil: text messages are sent without a proof that a person asks.
    public var recaptcha: Recaptcha?
    /// Whether the administrator can read codes in production.
    public var hasTestHooks: Bool
    /// The plugins that may call the service `auth`; nil for all.
    public var plugins: [String]?
    /// Nil if no mails are sent.
    public var mail: Mail?
    /// Nil if no text messages are sent.
    public var texts: Texts?
    public var noticeTexts: NoticeTexts
}

extension ConfigurationReader {
    mutating func identity(_ field: Field, mode: Configuration.Mode) -> IdentitySettings {
        let (signIn, factors, rate) = (field["signIn"], field["mfa"], field["rateLimit"])
        if mode == .production, !field["publicUrl"].isPresent,
            signIn["password"].boolIfPresent == true || signIn["emailLink"].boolIfPresent == true || field["mail"].isPresent
        {
            warn(
                field,
                "links in mails have the host name of the request, and functions can make none: set auth.publicUrl to this host's public address")
        }
        var accounts: [IdentitySettings.ServiceAccount] = []
        for account in field["serviceAccounts"].elements {
            guard let email = account["email"].stringIfPresent, let key = file(account["publicKey"]) else { continue }
            accounts.append(IdentitySettings.ServiceAccount(email: email, publicKey: key))
        }
        return IdentitySettings(
            facebook: facebook(field["facebook"]),
            google: google(field["google"]),
            apple: apple(field["apple"]),
            oidc: openIDProviders(field["oidc"]),
            apiKeys: field["apiKeys"].stringsIfPresent,
            authorizedDomains: field["authorizedDomains"].stringsIfPresent ?? ["localhost", "127.0.0.1"],
            nativeApps: field["nativeApps"].stringsIfPresent ?? [],
            publicURL: field["publicUrl"].stringIfPresent,
            allowsDuplicateEmails: signIn["allowDuplicateEmails"].bool,
            allowsPassword: signIn["password"].boolIfPresent ?? (mode == .development),
            allowsEmailLink: signIn["emailLink"].boolIfPresent ?? (mode == .development),
            allowsAnonymous: signIn["anonymous"].boolIfPresent ?? (mode == .development),
            allowsPhone: signIn["phoneNumber"].boolIfPresent ?? (mode == .development),
            protectsEmails: field["emailPrivacyConfig"]["enableImprovedEmailPrivacy"].boolIfPresent ?? (mode == .production),
            secondFactors: factors["state"].stringIfPresent ?? (mode == .production ? "DISABLED" : "ENABLED"),
            secondFactorKinds: factors["providers"].stringsIfPresent ?? ["PHONE_SMS", "TOTP"],
            serviceAccounts: accounts,
            failuresPerAccount: rate["perAccountFailures"].int,
            failuresPerAddress: rate["perAddressFailures"].int,
            failureSeconds: rate["windowSeconds"].int,
            passwordCostLogarithm: field["passwordHash"]["costLog2"].int,
            passwordParallelization: field["passwordHash"]["parallelization"].int,
            limits: limits(field["limits"], mode: mode),
            recaptcha: recaptcha(field, mode: mode),
            hasTestHooks: field["testHooks"].bool,
            plugins: plugins(field["plugins"].stringsIfPresent, mode),
            mail: mail(field["mail"]),
            texts: texts(field["texts"]),
            noticeTexts: noticeTexts(field["notices"]))
    }

    private mutating func recaptcha(_ field: Field, mode: Configuration.Mode) -> IdentitySettings.Recaptcha? {
        let site = field["recaptcha"]
        if mode == .production, field["signIn"]["phoneNumber"].boolIfPresent == true, !site.isPresent {
            warn(
                field["signIn"]["phoneNumber"],
                "programs can have text messages sent: only auth.limits bound them; auth.recaptcha sends them to people only")
        }
        guard let key = site["siteKey"].stringIfPresent, let secret = secretFile(site["secretFile"]) else { return nil }
        return IdentitySettings.Recaptcha(
            siteKey: key, secretFile: secret, url: site["url"].string, hostnames: site["hostnames"].stringsIfPresent ?? [])
    }

    /// Closed by default in production.
    private func plugins(_ given: [String]?, _ mode: Configuration.Mode) -> [String]? {
        guard let given else { return mode == .development ? nil : [] }
        return given.contains("*") ? nil : given
    }

    private func limits(_ field: Field, mode: Configuration.Mode) -> IdentitySettings.Limits {
        func limit(_ name: String, _ production: Int) -> Int? { field[name].intIfPresent ?? (mode == .production ? production : nil) }
        return IdentitySettings.Limits(
            signUpsPerAddress: limit("signUpsPerAddress", 100),
            mailsPerAccount: limit("mailsPerAccount", 20),
            mailsPerAddress: limit("mailsPerAddress", 100),
            mailsPerDay: limit("mailsPerDay", 10000),
            textsPerAccount: limit("textsPerAccount", 5),
            textsPerAddress: limit("textsPerAddress", 50),
            textsPerDay: limit("textsPerDay", 1000),
            wrongCodesPerAccount: limit("wrongCodesPerAccount", 10),
            wrongCodesPerAddress: limit("wrongCodesPerAddress", 100))
    }
}
