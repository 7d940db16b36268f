import HearthJSON
import SQLite
import Testing

@testable import Accounts

/// Sessions, codes and tokens of a user who was replaced or deleted give no access to the one who has the id now.
struct FormerUserTests {
    private func imported(_ uid: String, _ fixture: AccountStoreFixture, factors: [SecondFactor] = []) -> UserRecord {
        var user = UserRecord(tenant: "", uid: uid, created: 1)
        user.email = "a@example.com"
        user.factors = factors
        return user
    }

    private func replace(_ user: UserRecord, _ fixture: AccountStoreFixture) throws {
        let refused = try fixture.run { store throws(AccountFailure) in
            try store.importUsers([(0, user)], mayReplace: true).map(\.message)
        }
        #expect(refused.isEmpty)
    }

    @Test(arguments: [true, false]) func anImportEndsTheSessionsOfTheUserThatItReplaces(isStrict: Bool) throws {
        let fixture = try AccountStoreFixture(isStrict: isStrict)
        let signedIn = try fixture.signUp("a@example.com")
        let (uid, caller) = (signedIn.user.uid, try fixture.token(signedIn))
        fixture.clock.advance(seconds: 2)
        try replace(imported(uid, fixture), fixture)
        let token = try #require(signedIn.tokens).refreshToken
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(token) } == "INVALID_REFRESH_TOKEN")
        guard isStrict else { return }
        #expect(fixture.refusal { store throws(AccountFailure) in try store.caller(caller) } == "TOKEN_EXPIRED")
    }

    @Test func anImportEndsTheCodesOfTheUserThatItReplaces() throws {
        let fixture = try AccountStoreFixture()
        let uid = try fixture.signUp("a@example.com").user.uid
        let code = try fixture.run { store throws(AccountFailure) in
            try store.addCode(.PASSWORD_RESET, email: "a@example.com", uid: uid, tenant: "") { $0 }.code
        }
        try replace(imported(uid, fixture), fixture)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.code(code, tenant: "") } == "INVALID_OOB_CODE")
    }

    @Test func anImportKeepsTheSecretsThatNoFileHas() throws {
        let fixture = try AccountStoreFixture()
        let uid = try fixture.signUp("a@example.com").user.uid
        try fixture.run { store throws(AccountFailure) in
            var user = try store.user(uid, tenant: "") ?? UserRecord(tenant: "", uid: uid, created: 0)
            user.factors = [SecondFactor(id: "totp", displayName: nil, enrolled: 1, phone: nil, secret: [1, 2, 3])]
            user.factors[0].lastStep = 7
            try store.put(user)
        }
        let phone = SecondFactor(id: "other", displayName: nil, enrolled: 1, phone: "+15555550100")
        let named = SecondFactor(id: "totp", displayName: "new name", enrolled: 1, phone: nil)
        let cases: [(factors: [SecondFactor], ids: [String])] = [([named, phone], ["totp", "other"]), ([phone], ["other", "totp"]), ([], ["totp"])]
        for (factors, ids) in cases {
            try replace(imported(uid, fixture, factors: factors), fixture)
            let found = try #require(try fixture.run { store throws(AccountFailure) in try store.user(uid, tenant: "") }).factors
            #expect(found.map(\.id) == ids)
            let kept = try #require(found.first { $0.id == "totp" })
            #expect((kept.secret, kept.lastStep, kept.displayName) == ([1, 2, 3], 7, "new name"))
        }
    }

    @Test(arguments: ["custom token", "administrator", "import"]) func anIDTokenOfADeletedUserIsNotOneOfItsSuccessor(way: String) throws {
        let fixture = try AccountStoreFixture()
        let former = try fixture.run { store throws(AccountFailure) in try store.signIn(customUser: "ada", claims: [:], tenant: "") }
        let (caller, refreshToken) = (try fixture.token(former), try #require(former.tokens).refreshToken)
        try fixture.run { store throws(AccountFailure) in try store.delete(uid: "ada", tenant: "") }
        fixture.clock.advance(seconds: 1)
        try fixture.run { store throws(AccountFailure) in
            var new = NewUser()
            new.uid = "ada"
            switch way {
            case "custom token": _ = try store.signIn(customUser: "ada", claims: [:], tenant: "")
            case "import": _ = try store.importUsers([(0, UserRecord(tenant: "", uid: "ada", created: 1))], mayReplace: false)
            default: _ = try store.create(new, tenant: "")
            }
        }
        #expect(fixture.refusal { store throws(AccountFailure) in try store.caller(caller) } == "TOKEN_EXPIRED")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(refreshToken) } == "INVALID_REFRESH_TOKEN")
        // A custom token is a claim of the id, so it signs in as the new user, whose own tokens count.
        let later = try fixture.run { store throws(AccountFailure) in try store.signIn(customUser: "ada", claims: [:], tenant: "") }
        let own = try fixture.token(later)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.caller(own) } == nil)
    }

    @Test func theRightPasswordOfAUserWithAFactorImprovesItsHash() throws {
        let fixture = try AccountStoreFixture()
        let uid = try fixture.signUp("a@example.com", hash: "old").user.uid
        try fixture.run { store throws(AccountFailure) in
            var user = try store.user(uid, tenant: "") ?? UserRecord(tenant: "", uid: uid, created: 0)
            user.factors = [SecondFactor(id: "f", displayName: nil, enrolled: 1, phone: "+15555550100")]
            user.importedHash = ["hashAlgorithm": "MD5"]
            try store.put(user)
        }
        let pending = try fixture.run { store throws(AccountFailure) in
            try store.passwordSucceeded(uid, hash: "old", better: "new", email: "a@example.com", tenant: "", address: "1.2.3.4")
        }
        #expect(pending.pendingCredential != nil && pending.tokens == nil)
        let stored = try #require(try fixture.run { store throws(AccountFailure) in try store.user(uid, tenant: "") })
        #expect((stored.passwordHash, stored.importedHash) == ("new", nil))
        #expect(stored.lastLogin == pending.user.lastLogin, "a sign-in is not over before its second factor")
    }

    // MARK: Proofs of proofs

    @Test func aPendingTokenIsNotRenewedByItsUse() throws {
        let fixture = try AccountStoreFixture()
        _ = try fixture.signUp("a@example.com")
        var identity = ProviderIdentity(provider: "facebook.com", rawID: "1")
        identity.email = "a@example.com"
        let asserted = identity
        var token = try #require(
            try fixture.run { store throws(AccountFailure) in try store.signIn(asserted, tenant: "", caller: nil, mayCreate: true) }.pendingToken)
        for _ in 0..<3 {
            fixture.clock.advance(seconds: 190)
            let last = token
            token = try #require(
                try fixture.run { store throws(AccountFailure) in
                    let known = try store.requireAssertion(last, tenant: "")
                    let result = try store.signIn(known, tenant: "", caller: nil, mayCreate: true)
                    try store.useAssertion(last)
                    return result
                }.pendingToken)
        }
        fixture.clock.advance(seconds: 40)
        let last = token
        #expect(fixture.refusal { store throws(AccountFailure) in try store.requireAssertion(last, tenant: "") } == "INVALID_PENDING_TOKEN")
    }

    @Test func aSecondFactorIsMissingForTenMinutes() throws {
        let fixture = try AccountStoreFixture()
        let uid = try fixture.signUp("a@example.com").user.uid
        try fixture.run { store throws(AccountFailure) in
            var user = try store.user(uid, tenant: "") ?? UserRecord(tenant: "", uid: uid, created: 0)
            user.factors = [SecondFactor(id: "f", displayName: nil, enrolled: 1, phone: "+15555550100")]
            try store.put(user)
        }
        let pending = try fixture.run { store throws(AccountFailure) in
            try store.passwordSucceeded(uid, hash: "hash", better: nil, email: "a@example.com", tenant: "", address: "1.2.3.4")
        }
        let credential = try #require(pending.pendingCredential)
        fixture.clock.advance(seconds: 590)
        let message = try fixture.run { store throws(AccountFailure) in try store.startSecondFactor(credential, factor: "f", tenant: "") }
        fixture.clock.advance(seconds: 10)
        #expect(
            fixture.refusal { store throws(AccountFailure) in
                try store.finishSecondFactor(credential, sessionInfo: message.sessionInfo, code: message.code, tenant: "")
            } == "INVALID_MFA_PENDING_CREDENTIAL")
    }

    @Test func aTemporaryProofIsNotRenewedByItsUse() throws {
        let fixture = try AccountStoreFixture()
        let phone = "+15555550100"
        func message() throws -> AccountStore.PhoneProof {
            let code = try fixture.run { store throws(AccountFailure) in try store.addSignInMessage(phone, tenant: "") }
            return .message(sessionInfo: code.sessionInfo, code: code.code)
        }
        let first = try message()
        try fixture.run { store throws(AccountFailure) in try store.signIn(first, tenant: "", caller: nil, mayCreate: true) }
        let caller = try fixture.token(try fixture.signUp(nil))
        var proof = try message()
        for seconds in [3600, 2400, 1200] as [Int64] {
            let given = proof
            let result = try fixture.run { store throws(AccountFailure) in try store.signIn(given, tenant: "", caller: caller, mayCreate: true) }
            guard case .taken(_, let secret, let left) = result else { throw AuthError("not taken") }
            #expect(left == seconds)
            proof = .temporary(proof: secret, phone: phone)
            fixture.clock.advance(seconds: 1200)
        }
        let last = proof
        #expect(
            fixture.refusal { store throws(AccountFailure) in
                try store.signIn(last, tenant: "", caller: nil, mayCreate: true)
            } == "INVALID_TEMPORARY_PROOF")
    }
}
