import Accounts
import HearthJSON
import Testing

@testable import Authentication

/// Settings that administrators change.
struct ConfigurationRulesTests {
    private func refusal(_ document: JSONObject, old: JSONObject = [:], isStrict: Bool = true) -> String? {
        do throws(AccountFailure) {
            try ConfigurationRules(isStrict: isStrict).check(document, replacing: old)
            return nil
        } catch {
            guard case .refused(let refusal) = error else { return "\(error)" }
            return refusal.code
        }
    }

    @Test func goodSettingsAreAccepted() {
        let document: JSONObject = [
            "authorizedDomains": ["example.org", "localhost", "a-b.example"],
            "smsRegionConfig": ["allowByDefault": ["disallowedRegions": ["US", "CA"]]],
            "signIn": ["phoneNumber": ["enabled": true, "testPhoneNumbers": ["+15555550100": "123456"]]],
            "testPhoneNumbers": ["+15555550100": "000000"],
            "passwordPolicyConfig": [
                "passwordPolicyEnforcementState": "ENFORCE", "forceUpgradeOnSignin": true,
                "passwordPolicyVersions": [["customStrengthOptions": ["minPasswordLength": 8, "maxPasswordLength": 100]]],
            ],
            "recaptchaConfig": ["emailPasswordEnforcementState": "OFF"], "blockingFunctions": [:], "anything": "else",
        ]
        #expect(refusal(document) == nil)
        #expect(refusal(["smsRegionConfig": [:]]) == nil)
    }

    @Test func domainsAreNames() {
        for value: JSONValue in ["x", [1], ["a b"], [""], ["https://example.org"], ["example.org/x"], ["example.org:80"], ["*"], ["'none'"]] {
            #expect(refusal(["authorizedDomains": value]) == "INVALID_CONFIG", "\(value)")
        }
        #expect(refusal(["authorizedDomains": .array((0...1000).map { .string("h\($0)") })]) == "INVALID_CONFIG")
    }

    @Test func regionsAreOneList() {
        let both: JSONValue = ["allowByDefault": [:], "allowlistOnly": [:]]
        for value: JSONValue in ["US", both, ["allowlistOnly": ["allowedRegions": "US"]], ["allowlistOnly": ["allowedRegions": ["USA"]]]] {
            #expect(refusal(["smsRegionConfig": value]) == "INVALID_CONFIG", "\(value)")
        }
    }

    @Test func numbersForTestsHaveCodes() {
        for value: JSONValue in ["x", ["123": "123456"], ["+15555550100": "12345"], ["+15555550100": "abcdef"], ["+15555550100": 123_456]] {
            #expect(refusal(["testPhoneNumbers": value]) == "INVALID_TESTING_PHONE_NUMBER", "\(value)")
            #expect(refusal(["signIn": ["phoneNumber": ["testPhoneNumbers": value]]]) == "INVALID_TESTING_PHONE_NUMBER", "\(value)")
        }
    }

    @Test func policiesHaveBounds() {
        func options(_ options: JSONValue) -> JSONObject {
            ["passwordPolicyConfig": ["passwordPolicyVersions": [["customStrengthOptions": options]]]]
        }
        #expect(refusal(["passwordPolicyConfig": ["passwordPolicyEnforcementState": "ON"]]) == "INVALID_CONFIG")
        for value: JSONValue in [
            ["minPasswordLength": 5], ["minPasswordLength": 31], ["maxPasswordLength": 4097], ["minPasswordLength": 10, "maxPasswordLength": 9],
        ] { #expect(refusal(options(value)) == "INVALID_CONFIG", "\(value)") }
    }

    /// The emulator stores them, and production must not look as if they worked.
    @Test func settingsWithoutEffectAreRefusedInProduction() {
        let recaptcha: JSONObject = ["recaptchaConfig": ["emailPasswordEnforcementState": "ENFORCE"]]
        let blocking: JSONObject = ["blockingFunctions": ["triggers": ["beforeCreate": ["functionUri": "https://x"]]]]
        for document in [recaptcha, blocking] {
            #expect(refusal(document) == "OPERATION_NOT_ALLOWED")
            #expect(refusal(document, isStrict: false) == nil)
            // One that an earlier version has stored does not keep others from being changed.
            #expect(refusal(document, old: document) == nil)
        }
    }

    @Test func aRightPasswordIsHeldAgainstThePolicyOnlyIfItSaysSo() throws {
        var policy: JSONObject = [
            "passwordPolicyEnforcementState": "ENFORCE", "passwordPolicyVersions": [["customStrengthOptions": ["containsNumericCharacter": true]]],
        ]
        try PasswordRules(policy)?.checkAtSignIn("letters")
        policy["forceUpgradeOnSignin"] = true
        try PasswordRules(policy)?.checkAtSignIn("letters 1")
        #expect(throws: AuthError.self) { try PasswordRules(policy)?.checkAtSignIn("letters") }
        policy["passwordPolicyEnforcementState"] = "OFF"
        try PasswordRules(policy)?.checkAtSignIn("letters")
    }
}
