import Foundation
import HearthJSON
import SQLite
import Testing

@testable import Accounts

/// Changes of the project's configuration beside the configuration file, which may change too.
@Suite struct ProjectChangesTests {
    private let path = NSTemporaryDirectory() + "changes-\(UUID().uuidString).sqlite"
    private let seal = FactorSeal()
    private let before: JSONObject = ["signIn": ["anonymous": ["enabled": true]], "mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]]]
    private let after: JSONObject = ["signIn": ["anonymous": ["enabled": false]], "mfa": ["state": "ENABLED", "enabledProviders": []]]

    private func store(_ defaults: JSONObject) throws -> AccountStore {
        var policy = AccountPolicy(
            project: "demo", projectNumber: "12345", issuer: "https://securetoken.google.com/demo", isStrict: true, showsCodes: false)
        policy.projectDefaults = defaults
        policy.openSeal = { [seal] in seal }
        return try AccountStore(path: path, policy: policy)
    }

    @Test func onlyWhatWasChangedIsKept() throws {
        do {
            let document = try store(before).changeProject { $0.replace(["mfa", "state"], by: "DISABLED", defaults: before) }
            #expect(document["mfa"] == ["state": "DISABLED", "enabledProviders": ["PHONE_SMS"]])
        }
        let document = try store(after).projectDocument()
        #expect(document == ["signIn": ["anonymous": ["enabled": false]], "mfa": ["state": "DISABLED", "enabledProviders": []]])
    }

    /// Earlier versions have stored the whole configuration with a change.
    @Test func aStoredConfigurationIsSeparated() throws {
        do {
            let old: JSONObject = [
                "signIn": ["anonymous": ["enabled": true]], "mfa": ["state": "DISABLED", "enabledProviders": ["PHONE_SMS"]], "x": 1,
            ]
            try store(before).run("INSERT INTO setting VALUES ('project', ?1)", .text(JSONValue.object(old).text))
        }
        do { _ = try store(before) }
        let document = try store(after).projectDocument()
        #expect(document == [
            "signIn": ["anonymous": ["enabled": false]], "mfa": ["state": "DISABLED", "enabledProviders": []], "x": 1,
        ])
    }

    @Test func aPartBelongsToTheWhole() {
        var changes = ProjectChanges()
        changes.replace(["mfa"], by: ["state": "DISABLED"], defaults: before)
        changes.replace(["mfa", "state"], by: "MANDATORY", defaults: before)
        #expect(changes.count == 1)
        #expect(changes.applied(to: before)["mfa"] == ["state": "MANDATORY"])
        changes.replace(["mfa", "state", "deeper"], by: 1, defaults: before)
        #expect(changes.applied(to: before)["mfa"] == ["state": "MANDATORY"])
        changes.replace(["signIn", "anonymous", "enabled"], by: false, defaults: before)
        changes.replace(["signIn"], by: [:], defaults: before)
        #expect(changes.count == 2)
        #expect(changes.applied(to: before)["signIn"] == [:])
    }

    @Test func theNumberOfChangesIsBounded() throws {
        let store = try store(before)
        #expect(throws: AccountFailure.self) {
            try store.changeProject { changes in
                for number in 0...ProjectChanges.countMax { changes.replace(["f\(number)"], by: 1, defaults: before) }
            }
        }
    }
}
