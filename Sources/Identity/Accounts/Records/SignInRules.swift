public import HearthJSON
@_spi(_Unicode) import Swift

/// The rules for signing in, of the project or of a tenant.
public struct SignInRules: Sendable, Equatable {
    /// Whether nobody may sign in.
    public var isDisabled = false
    public var allowsPassword = true
    public var allowsEmailLink = true
    public var allowsAnonymous = true
    public var allowsPhone = true
    /// Whether users of different providers may have the same e-mail.
    public var allowsDuplicateEmails = false
    /// Whether answers do not tell which e-mails have an account.
    public var protectsEmails = false
    /// Whether second factors are used at all.
    public var usesSecondFactors = false
    public var allowsMessageFactor = false
    public var allowsOneTimeCodes = false
    /// Time steps before and after the current one in which a one-time code is accepted.
    public var adjacentIntervals: Int64 = 5
    /// `passwordPolicyConfig` of the configuration.
    public var passwordPolicy: JSONObject?
    /// The hosts whose pages and links may be used; those of the project also count in its tenants. Nil if the configuration names none.
    public var authorizedDomains: [String]?
    /// The regions to whose numbers text messages are sent.
    public var messageRegions = MessageRegions.all
    /// Phone numbers for tests, with their codes: no message is sent to them.
    public var testNumbers: [String: String] = [:]
    /// Whether clients cannot create users.
    public var forbidsSignUp = false
    /// Whether clients cannot delete their users.
    public var forbidsDeletion = false

    /// The rules of a project's configuration.
    public init(project: JSONObject) {
        let document = JSONValue.object(project)
        let signIn = document["signIn"]
        allowsPassword = signIn?["email"]?["enabled"]?.bool ?? true
        allowsEmailLink = allowsPassword && !(signIn?["email"]?["passwordRequired"]?.bool ?? false)
        allowsAnonymous = signIn?["anonymous"]?["enabled"]?.bool ?? true
        allowsPhone = signIn?["phoneNumber"]?["enabled"]?.bool ?? true
        allowsDuplicateEmails = signIn?["allowDuplicateEmails"]?.bool ?? false
        protectsEmails = document["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool ?? false
        passwordPolicy = document["passwordPolicyConfig"]?.object
        authorizedDomains = document["authorizedDomains"]?.array?.compactMap(\.string)
        testNumbers = Self.texts(signIn?["phoneNumber"]?["testPhoneNumbers"])
        messageRegions = MessageRegions(document["smsRegionConfig"])
        readPermissions(document)
        readSecondFactors(document["mfa"])
    }

    private static func texts(_ document: JSONValue?) -> [String: String] {
        Dictionary((document?.object ?? JSONObject()).compactMap { name, value in value.string.map { (name, $0) } }) { $1 }
    }

    private mutating func readPermissions(_ document: JSONValue) {
        guard let permissions = document["client"]?["permissions"] else { return }
        forbidsSignUp = permissions["disabledUserSignup"]?.bool ?? false
        forbidsDeletion = permissions["disabledUserDeletion"]?.bool ?? false
    }

    /// The rules of a tenant's configuration, in a project.
    public init(tenant: JSONObject, project: SignInRules) {
        self = project
        let document = JSONValue.object(tenant)
        isDisabled = document["disableAuth"]?.bool ?? false
        allowsPassword = document["allowPasswordSignup"]?.bool ?? false
        allowsEmailLink = document["enableEmailLinkSignin"]?.bool ?? false
        allowsAnonymous = document["enableAnonymousUser"]?.bool ?? false
        allowsPhone = false
        if let privacy = document["emailPrivacyConfig"] { protectsEmails = privacy["enableImprovedEmailPrivacy"]?.bool ?? false }
        if let policy = document["passwordPolicyConfig"]?.object { passwordPolicy = policy }
        if let regions = document["smsRegionConfig"] { messageRegions = MessageRegions(regions) }
        testNumbers = Self.texts(document["testPhoneNumbers"])
        readPermissions(document)
        usesSecondFactors = false
        readSecondFactors(document["mfaConfig"])
    }

    private mutating func readSecondFactors(_ document: JSONValue?) {
        let state = document?["state"]?.string
        usesSecondFactors = state == "ENABLED" || state == "MANDATORY"
        let providers = (document?["enabledProviders"]?.array ?? []).compactMap(\.string)
        allowsMessageFactor = usesSecondFactors && providers.contains("PHONE_SMS")
        allowsOneTimeCodes = false
        for provider in document?["providerConfigs"]?.array ?? [] where provider["totpProviderConfig"] != nil {
            let state = provider["state"]?.string
            if state == "ENABLED" || state == "MANDATORY" { allowsOneTimeCodes = true }
            if let intervals = provider["totpProviderConfig"]?["adjacentIntervals"]?.int { adjacentIntervals = Int64(min(max(intervals, 0), 10)) }
        }
        if usesSecondFactors, providers.contains("TOTP") { allowsOneTimeCodes = true }
    }
}

/// Checks of texts that identify users.
public enum AccountText {
    /// The stored form of an e-mail: lower case, independent of any language, and composed (NFC), since an address can be written in both ways.
    public static func canonical(email: String) -> String {
        let lower = email.lowercased()
        guard !lower.utf8.allSatisfy({ $0 < 128 }) else { return lower }
        var composed = String.UnicodeScalarView()
        composed.append(contentsOf: lower._nfc)
        return String(composed)
    }

    /// Whether a text has the form of an e-mail.
    public static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty && text.utf8.count < 256
            && text.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 }
    }

    /// Whether a text has the form of an international phone number.
    public static func isPhone(_ text: String, isStrict: Bool) -> Bool {
        guard text.utf8.first == UInt8(ascii: "+"), text.utf8.count <= 16 else { return false }
        let digits = text.utf8.dropFirst()
        guard isStrict else { return !digits.isEmpty }
        return digits.count >= 2 && digits.first != UInt8(ascii: "0") && digits.allSatisfy { (48...57).contains($0) }
    }

    /// Whether a text can be the id of a user.
    public static func isUserID(_ text: String) -> Bool { (1...128).contains(text.utf16.count) }

    /// A number of which only the last four digits can be read.
    public static func obfuscated(phone: String) -> String {
        var digits = phone.reversed().filter(\.isNumber).count
        return String(
            phone.map { letter in
                guard letter.isNumber else { return letter }
                digits -= 1
                return digits < 4 ? letter : "*"
            })
    }
}
