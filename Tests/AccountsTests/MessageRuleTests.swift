import HearthJSON
import SQLite
import Testing

@testable import Accounts

/// Regions of text messages, numbers for tests, and other settings of a configuration that decide about sign-ins.
struct MessageRuleTests {
    @Test(arguments: [
        ("+15555550100", "US"), ("+12045550100", "CA"), ("+18765550100", "JM"), ("+79031234567", "RU"), ("+77012345678", "KZ"),
        ("+447700900123", "GB"), ("+447797123456", "JE"), ("+3906698123", "VA"), ("+390612345", "IT"), ("+4915112345678", "DE"),
        ("+5999123456", "CW"), ("+599312345", "BQ"), ("+21252881234", "EH"), ("+99899123456", "UZ"),
    ])
    func numbersHaveTheRegionOfTheirLongestPrefix(number: String, region: String) {
        #expect(PhoneRegion.of(number) == region)
    }

    @Test func someNumbersHaveNoRegion() {
        for number in ["+88213300655", "+800123456", "+", "", "+999"] { #expect(PhoneRegion.of(number) == nil, "\(number)") }
    }

    @Test func listsAllowOrForbid() {
        let (german, american, satellite) = ("+4915112345678", "+15555550100", "+88213300655")
        func allowed(_ document: JSONValue?) -> [Bool] { [german, american, satellite].map { MessageRegions(document).allows($0) } }
        #expect(allowed(nil) == [true, true, true])
        #expect(allowed([:]) == [true, true, true])
        #expect(allowed(["allowlistOnly": ["allowedRegions": ["DE"]]]) == [true, false, false])
        #expect(allowed(["allowlistOnly": ["allowedRegions": ["de"]]]) == [true, false, false])
        #expect(allowed(["allowlistOnly": [:]]) == [false, false, false])
        #expect(allowed(["allowByDefault": ["disallowedRegions": ["DE"]]]) == [false, true, true])
        #expect(allowed(["allowByDefault": [:]]) == [true, true, true])
    }

    private static let number = "+4915112345678"

    private func fixture(isStrict: Bool = true) throws -> AccountStoreFixture {
        try AccountStoreFixture(
            isStrict: isStrict,
            configuration: [
                "smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["US"]]],
                "signIn": ["phoneNumber": ["enabled": true, "testPhoneNumbers": [Self.number: "123456"]]],
            ])
    }

    @Test(arguments: [true, false]) func noMessageGoesToAForbiddenRegion(isStrict: Bool) throws {
        let fixture = try fixture(isStrict: isStrict)
        func sending(_ phone: String) -> String? {
            fixture.refusal { store throws(AccountFailure) in try store.addSignInMessage(phone, tenant: "") }
        }
        #expect(sending("+33612345678") == "OPERATION_NOT_ALLOWED")
        #expect(sending("+15555550100") == nil)
        #expect(sending(Self.number) == nil, "nothing is sent to it")
    }

    @Test func aNumberForTestsHasItsCodeAndNoLimits() throws {
        let fixture = try fixture()
        for _ in 0..<AccountStore.testMessagesMax + 20 {
            let code = try fixture.run { store throws(AccountFailure) in
                try store.serving("1.2.3.4") { store throws(AccountFailure) in try store.addSignInMessage(Self.number, tenant: "") }
            }
            #expect(code.isForTests && code.code == "123456")
            fixture.clock.advance(seconds: 1)
        }
        let count = try fixture.run { store throws(AccountFailure) in try store.first("SELECT COUNT(*) FROM message") { $0.integer(at: 0) } }
        #expect(count == AccountStore.testMessagesMax)
        let message = try fixture.run { store throws(AccountFailure) in try store.addSignInMessage(Self.number, tenant: "") }
        let proof = AccountStore.PhoneProof.message(sessionInfo: message.sessionInfo, code: "123456")
        let result = try fixture.run { store throws(AccountFailure) in try store.signIn(proof, tenant: "", caller: nil, mayCreate: true) }
        guard case .signedIn(let signedIn) = result else { throw AuthError("taken") }
        #expect(signedIn.user.phone == Self.number)
    }

    @Test func clientsMayBeForbiddenToSignUpAndToDelete() throws {
        let configuration: JSONObject = ["client": ["permissions": ["disabledUserSignup": true, "disabledUserDeletion": true]]]
        let fixture = try AccountStoreFixture(configuration: configuration)
        #expect(throws: AuthError("ADMIN_ONLY_OPERATION")) { try fixture.signUp("a@example.com") }
        let signedIn = try fixture.run { store throws(AccountFailure) in try store.signIn(customUser: "ada", claims: [:], tenant: "") }
        let caller = try fixture.token(signedIn)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.delete(caller, tenant: nil) } == "ADMIN_ONLY_OPERATION")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.delete(uid: "ada", tenant: "") } == nil)
    }

    @Test func foreignHashesAreNoted() throws {
        let fixture = try AccountStoreFixture()
        func isNoted() throws -> Bool { try fixture.run { store throws(AccountFailure) in try store.hasForeignHashes() } }
        var user = UserRecord(tenant: "", uid: "a", created: 1)
        let plain = user
        try fixture.run { store throws(AccountFailure) in _ = try store.importUsers([(0, plain)], mayReplace: true) }
        #expect(try !isNoted())
        (user.uid, user.passwordHash, user.importedHash) = ("b", "hash", ["hashAlgorithm": "MD5"])
        let hashed = user
        try fixture.run { store throws(AccountFailure) in _ = try store.importUsers([(0, hashed)], mayReplace: true) }
        #expect(try isNoted())
    }

    @Test func anotherCostOfNewHashesIsNoted() throws {
        var policy = AccountPolicy(project: "demo", projectNumber: "1", issuer: "i", isStrict: true, showsCodes: true)
        policy.passwordCost = "15 1"
        let fixture = try AccountStoreFixture(policy: policy)
        #expect(try !fixture.run { store throws(AccountFailure) in try store.hasForeignHashes() }, "a new store")
        try fixture.store.notePasswordCost()
        #expect(try !fixture.run { store throws(AccountFailure) in try store.hasForeignHashes() }, "the same cost")
        _ = try fixture.signUp("a@example.com")
        try fixture.run { store throws(AccountFailure) in _ = try store.run("UPDATE setting SET document = '14 1' WHERE key = 'password cost'") }
        try fixture.store.notePasswordCost()
        #expect(try fixture.run { store throws(AccountFailure) in try store.hasForeignHashes() })
    }
}
