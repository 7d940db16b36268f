import Accounts
import HearthJSON

/// The password policy of a project or tenant.
struct PasswordRules {
    private let options: JSONObject
    private let isEnforced: Bool
    private let document: JSONObject

    /// Symbols that count as not alphanumeric.
    private static let symbols = "^$*.[]{}()?\"!@#%&/\\,><':;|_~"

    init?(_ document: JSONObject?) {
        guard let document else { return nil }
        self.document = document
        options = document["passwordPolicyVersions"]?[0]?["customStrengthOptions"]?.object ?? JSONObject()
        isEnforced = document["passwordPolicyEnforcementState"]?.string == "ENFORCE"
    }

    /// Refuses a password that does not meet the policy.
    func check(_ password: String) throws(AuthError) {
        guard isEnforced else { return }
        var missing: [String] = []
        let length = password.utf16.count
        if let least = options["minPasswordLength"]?.int, length < least { missing.append("Password must contain at least \(least) characters") }
        if let most = options["maxPasswordLength"]?.int, length > most { missing.append("Password may contain at most \(most) characters") }
        func needs(_ option: String, _ what: String, _ isMet: (Character) -> Bool) {
            if options[option]?.bool == true, !password.contains(where: isMet) { missing.append("Password must contain \(what)") }
        }
        needs("containsLowercaseCharacter", "a lower case character") { $0.isLowercase }
        needs("containsUppercaseCharacter", "an upper case character") { $0.isUppercase }
        needs("containsNumericCharacter", "a numeric character") { $0.isASCII && $0.isNumber }
        needs("containsNonAlphanumericCharacter", "a non-alphanumeric character") { Self.symbols.contains($0) }
        guard missing.isEmpty else {
            throw AuthError("PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "Missing password requirements: [\(missing.joined(separator: ", "))]")
        }
    }

    /// Refuses to sign in with a right password that does not meet the policy, if the policy says so.
    func checkAtSignIn(_ password: String) throws(AuthError) {
        if document["forceUpgradeOnSignin"]?.bool == true { try check(password) }
    }

    /// The policy as client SDKs read it.
    static func answer(_ document: JSONObject?) -> JSONValue {
        let policy = document.map { JSONValue.object($0) }
        var options = policy?["passwordPolicyVersions"]?[0]?["customStrengthOptions"]?.object ?? JSONObject()
        if options["minPasswordLength"] == nil { options["minPasswordLength"] = 6 }
        if options["maxPasswordLength"] == nil { options["maxPasswordLength"] = 4096 }
        return [
            "customStrengthOptions": .object(options), "allowedNonAlphanumericCharacters": .array(symbols.map { .string(String($0)) }),
            "enforcementState": policy?["passwordPolicyEnforcementState"] ?? "OFF",
            "forceUpgradeOnSignin": policy?["forceUpgradeOnSignin"] ?? false, "schemaVersion": 1,
        ]
    }
}
