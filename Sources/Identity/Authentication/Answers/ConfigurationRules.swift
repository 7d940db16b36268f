import Accounts
import HearthJSON

/// Checks the settings that an administrator changes, of the project or of a tenant: one that cannot have its effect is refused, instead of being
/// stored without one.
struct ConfigurationRules {
    /// Whether the production rules apply. The emulator stores what it does not use.
    var isStrict: Bool

    private static let domainsMax = 1000
    private static let testNumbersMax = 100
    private static let regionsMax = 300

    /// Checks the members that differ from those of the old document.
    func check(_ document: JSONObject, replacing old: JSONObject) throws(AccountFailure) {
        for (name, value) in document where old[name] != value {
            do throws(AuthError) { try check(name, value) } catch { throw .refused(error) }
        }
    }

    private func check(_ name: String, _ value: JSONValue) throws(AuthError) {
        switch name {
        case "authorizedDomains": try checkDomains(value)
        case "smsRegionConfig": try checkRegions(value)
        case "testPhoneNumbers": try checkTestNumbers(value)
        case "signIn": if let numbers = value["phoneNumber"]?["testPhoneNumbers"] { try checkTestNumbers(numbers) }
        case "passwordPolicyConfig": try checkPolicy(value)
        case "recaptchaConfig" where isStrict:
            let states = ["emailPasswordEnforcementState", "phoneEnforcementState"].compactMap { value[$0]?.string }
            guard states.allSatisfy({ $0 == "OFF" || $0.hasSuffix("_UNSPECIFIED") }) else {
                throw Self.hasNoEffect("recaptchaConfig; auth.recaptcha of functions.json guards text messages")
            }
        case "blockingFunctions" where isStrict:
            guard value["triggers"]?.object?.isEmpty ?? true else {
                throw Self.hasNoEffect("blockingFunctions; functions of this host that decide about sign-ins are found by themselves")
            }
        default: break
        }
    }

    private static func hasNoEffect(_ what: String) -> AuthError { AuthError("OPERATION_NOT_ALLOWED", "This host does not use \(what).") }

    private static func invalid(_ what: String) -> AuthError { AuthError("INVALID_CONFIG", what) }

    private func checkDomains(_ value: JSONValue) throws(AuthError) {
        guard let domains = value.array, domains.count <= Self.domainsMax, domains.allSatisfy({ Self.isDomain($0.string) }) else {
            throw Self.invalid("authorizedDomains must be at most \(Self.domainsMax) names of hosts, such as \"example.org\".")
        }
    }

    private static func isDomain(_ text: String?) -> Bool {
        guard let text, 1...253 ~= text.utf8.count else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    private func checkRegions(_ value: JSONValue) throws(AuthError) {
        let lists = [value["allowByDefault"].map { $0["disallowedRegions"] }, value["allowlistOnly"].map { $0["allowedRegions"] }].compactMap { $0 }
        func isList(_ list: JSONValue?) -> Bool {
            guard let list else { return true }
            guard let regions = list.array, regions.count <= Self.regionsMax else { return false }
            return regions.allSatisfy { $0.string?.utf8.count == 2 && $0.string?.allSatisfy { $0.isASCII && $0.isLetter } == true }
        }
        guard value.object != nil, lists.count <= 1, lists.allSatisfy(isList) else {
            throw Self.invalid(
                "smsRegionConfig must have either allowByDefault with disallowedRegions, or allowlistOnly with allowedRegions: arrays of regions "
                    + "such as \"US\".")
        }
    }

    private func checkTestNumbers(_ value: JSONValue) throws(AuthError) {
        guard let numbers = value.object, numbers.count <= Self.testNumbersMax,
            numbers.allSatisfy({ AccountText.isPhone($0.key, isStrict: true) && Self.isCode($0.value.string) })
        else {
            throw AuthError(
                "INVALID_TESTING_PHONE_NUMBER", "testPhoneNumbers must be at most \(Self.testNumbersMax) phone numbers with codes of six digits.")
        }
    }

    private static func isCode(_ text: String?) -> Bool {
        text.map { $0.utf8.count == 6 && $0.utf8.allSatisfy { (48...57).contains($0) } } ?? false
    }

    private func checkPolicy(_ value: JSONValue) throws(AuthError) {
        let state = value["passwordPolicyEnforcementState"]
        guard state == nil || ["OFF", "ENFORCE"].contains(state?.string) else {
            throw Self.invalid("passwordPolicyEnforcementState must be OFF or ENFORCE.")
        }
        let options = value["passwordPolicyVersions"]?[0]?["customStrengthOptions"]
        let (least, most) = (options?["minPasswordLength"], options?["maxPasswordLength"])
        guard least == nil || 6...30 ~= least?.int ?? 0 else { throw Self.invalid("minPasswordLength must be from 6 to 30.") }
        guard most == nil || max(least?.int ?? 6, 6)...4096 ~= most?.int ?? 0 else {
            throw Self.invalid("maxPasswordLength must be from minPasswordLength to 4096.")
        }
    }
}
