internal import HearthJSON

/// Rules of sign-in that the project and each tenant have. Nil leaves a rule as it is; in an answer, it is not set.
public struct AuthRules: Sendable, Hashable {
    /// Second factors.
    public var multiFactor: AuthMultiFactorConfig?
    /// The policy of passwords.
    public var passwordPolicy: AuthPasswordPolicy?
    /// The regions to whose numbers text messages are sent.
    public var smsRegions: AuthSMSRegions?
    /// Whether answers do not tell which e-mails have an account.
    public var improvedEmailPrivacy: Bool?
    /// Phone numbers for tests, each with its code of six digits. No message is sent to them.
    public var testPhoneNumbers: [String: String]?

    /// Rules to set.
    public init(
        multiFactor: AuthMultiFactorConfig? = nil, passwordPolicy: AuthPasswordPolicy? = nil, smsRegions: AuthSMSRegions? = nil,
        improvedEmailPrivacy: Bool? = nil, testPhoneNumbers: [String: String]? = nil
    ) {
        self.multiFactor = multiFactor
        self.passwordPolicy = passwordPolicy
        self.smsRegions = smsRegions
        self.improvedEmailPrivacy = improvedEmailPrivacy
        self.testPhoneNumbers = testPhoneNumbers
    }

    init(_ json: JSONValue, multiFactor: JSONValue?, testPhoneNumbers: JSONValue?) {
        self.init(
            multiFactor: multiFactor.map(AuthMultiFactorConfig.init), passwordPolicy: json["passwordPolicyConfig"].map(AuthPasswordPolicy.init),
            smsRegions: json["smsRegionConfig"].flatMap(AuthSMSRegions.init),
            improvedEmailPrivacy: json["emailPrivacyConfig"].map { $0["enableImprovedEmailPrivacy"]?.bool ?? false },
            testPhoneNumbers: testPhoneNumbers?.object.map { numbers in
                Dictionary(numbers.compactMap { number, code in code.string.map { (number, $0) } }) { $1 }
            })
    }

    var testPhoneNumbersJSON: JSONValue? {
        testPhoneNumbers.map { .object(JSONObject($0.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })) }
    }

    /// Adds the members that the project and tenants name alike.
    func write(to fields: inout JSONObject) {
        fields["passwordPolicyConfig"] = passwordPolicy?.json
        fields["smsRegionConfig"] = smsRegions?.json
        fields["emailPrivacyConfig"] = improvedEmailPrivacy.map { ["enableImprovedEmailPrivacy": .bool($0)] }
    }
}

/// Second factors.
public struct AuthMultiFactorConfig: Sendable, Hashable {
    /// Whether users can have second factors.
    public var isEnabled: Bool
    /// Whether codes by text message are second factors.
    public var allowsSMS: Bool
    /// Whether codes of authenticator programs are second factors.
    public var allowsTOTP: Bool

    /// Second factors of both kinds, or of one.
    public init(isEnabled: Bool, allowsSMS: Bool = true, allowsTOTP: Bool = true) {
        self.isEnabled = isEnabled
        self.allowsSMS = allowsSMS
        self.allowsTOTP = allowsTOTP
    }

    init(_ json: JSONValue) {
        func isOn(_ state: JSONValue?) -> Bool { state?.string == "ENABLED" || state?.string == "MANDATORY" }
        let codes = (json["providerConfigs"]?.array ?? []).contains { $0["totpProviderConfig"] != nil && isOn($0["state"]) }
        let kinds = (json["enabledProviders"]?.array ?? []).compactMap(\.string)
        self.init(isEnabled: isOn(json["state"]), allowsSMS: kinds.contains("PHONE_SMS"), allowsTOTP: codes || kinds.contains("TOTP"))
    }

    var json: JSONValue {
        [
            "state": isEnabled ? "ENABLED" : "DISABLED", "enabledProviders": allowsSMS ? ["PHONE_SMS"] : [],
            "providerConfigs": allowsTOTP ? [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": 5]]] : [],
        ]
    }
}

/// The policy of passwords.
public struct AuthPasswordPolicy: Sendable, Hashable {
    /// Whether new passwords are held against the policy.
    public var isEnforced: Bool
    /// Whether nobody signs in with a password that does not meet the policy.
    public var forceUpgradeOnSignin: Bool
    /// The least number of characters, from 6 to 30.
    public var minLength: Int?
    /// The most characters, up to 4096.
    public var maxLength: Int?
    /// Whether a password needs a lower-case letter.
    public var requireLowercase: Bool
    /// Whether a password needs an upper-case letter.
    public var requireUppercase: Bool
    /// Whether a password needs a digit.
    public var requireNumeric: Bool
    /// Whether a password needs a symbol.
    public var requireNonAlphanumeric: Bool

    /// A policy.
    public init(
        isEnforced: Bool, forceUpgradeOnSignin: Bool = false, minLength: Int? = nil, maxLength: Int? = nil, requireLowercase: Bool = false,
        requireUppercase: Bool = false, requireNumeric: Bool = false, requireNonAlphanumeric: Bool = false
    ) {
        self.isEnforced = isEnforced
        self.forceUpgradeOnSignin = forceUpgradeOnSignin
        self.minLength = minLength
        self.maxLength = maxLength
        self.requireLowercase = requireLowercase
        self.requireUppercase = requireUppercase
        self.requireNumeric = requireNumeric
        self.requireNonAlphanumeric = requireNonAlphanumeric
    }

    init(_ json: JSONValue) {
        let options = json["passwordPolicyVersions"]?[0]?["customStrengthOptions"]
        func needs(_ kind: String) -> Bool { options?["contains\(kind)Character"]?.bool ?? false }
        self.init(
            isEnforced: json["passwordPolicyEnforcementState"]?.string == "ENFORCE",
            forceUpgradeOnSignin: json["forceUpgradeOnSignin"]?.bool ?? false, minLength: options?["minPasswordLength"]?.int,
            maxLength: options?["maxPasswordLength"]?.int, requireLowercase: needs("Lowercase"), requireUppercase: needs("Uppercase"),
            requireNumeric: needs("Numeric"), requireNonAlphanumeric: needs("NonAlphanumeric"))
    }

    var json: JSONValue {
        var options: JSONObject = [
            "containsLowercaseCharacter": .bool(requireLowercase), "containsUppercaseCharacter": .bool(requireUppercase),
            "containsNumericCharacter": .bool(requireNumeric), "containsNonAlphanumericCharacter": .bool(requireNonAlphanumeric),
        ]
        options["minPasswordLength"] = minLength.map { JSONValue($0) }
        options["maxPasswordLength"] = maxLength.map { JSONValue($0) }
        return [
            "passwordPolicyEnforcementState": isEnforced ? "ENFORCE" : "OFF", "forceUpgradeOnSignin": .bool(forceUpgradeOnSignin),
            "passwordPolicyVersions": [["customStrengthOptions": .object(options)]],
        ]
    }
}

/// The regions to whose phone numbers text messages are sent, by their two letters (ISO 3166-1).
public enum AuthSMSRegions: Sendable, Hashable {
    /// All but these.
    case allExcept([String])
    /// Only these.
    case only([String])

    init?(_ json: JSONValue) {
        func regions(_ list: JSONValue?) -> [String] { (list?.array ?? []).compactMap(\.string) }
        if let list = json["allowlistOnly"] {
            self = .only(regions(list["allowedRegions"]))
        } else if let list = json["allowByDefault"] {
            self = .allExcept(regions(list["disallowedRegions"]))
        } else {
            return nil
        }
    }

    var json: JSONValue {
        func list(_ regions: [String]) -> JSONValue { .array(regions.map { .string($0) }) }
        return switch self {
        case .allExcept(let regions): ["allowByDefault": ["disallowedRegions": list(regions)]]
        case .only(let regions): ["allowlistOnly": ["allowedRegions": list(regions)]]
        }
    }
}
