import HearthJSON
import Testing

@testable import Accounts

/// Undoing a change of the e-mail: the way back to an account that was stolen.
@Suite struct RecoveryTests {
    private let fixture: AccountStoreFixture
    private let owner: SignedIn

    init() throws {
        fixture = try AccountStoreFixture()
        owner = try fixture.signUp("owner@example.com")
    }

    /// Changes the e-mail of a session, and returns its next tokens and the code of the notice.
    private func move(_ signedIn: SignedIn, to email: String) throws -> (SignedIn, code: String) {
        let token = try fixture.token(signedIn)
        var change = AccountChange()
        change.email = email
        let wanted = change
        let moved = try fixture.run { store throws(AccountFailure) in try store.update(wanted, caller: token, tenant: nil) { $0 } }
        return (moved, try #require(moved.notices.first?.link))
    }

    private func apply(_ code: String) throws -> UserRecord {
        try fixture.run { store throws(AccountFailure) in try store.applyCode(code, tenant: "") }.user
    }

    private func refusal(_ code: String) -> String? {
        fixture.refusal { store throws(AccountFailure) in try store.applyCode(code, tenant: "") }
    }

    private func user() throws -> UserRecord {
        try #require(try fixture.run { store throws(AccountFailure) in try store.user(owner.user.uid, tenant: "") })
    }

    private func link(_ provider: String, _ token: CallerToken) throws {
        let identity = ProviderIdentity(provider: provider, rawID: "1")
        try fixture.run { store throws(AccountFailure) in try store.signIn(identity, tenant: "", caller: token, mayCreate: false) }
    }

    private func add(phone: String, factor: String) throws {
        var user = try user()
        user.phone = phone
        user.factors.append(SecondFactor(id: factor, displayName: nil, enrolled: fixture.clock.now, phone: "+15555550\(factor)"))
        let changed = user
        try fixture.run { store throws(AccountFailure) in try store.putWithLinks(changed) }
    }

    @Test(arguments: [0, -86_400]) func noticesOfLaterChangesEnd(seconds: Int64) throws {
        let (moved, first) = try move(owner, to: "x@example.com")
        // The clock may be set back between the two.
        fixture.clock.advance(seconds: seconds)
        let again = seconds == 0 ? moved : try fixture.run { store throws(AccountFailure) in
            var change = AccountChange()
            change.validSinceSeconds = 0
            _ = try store.update(change, uid: moved.user.uid, tenant: "")
            return try store.passwordSucceeded(
                moved.user.uid, hash: "hash", better: nil, email: "x@example.com", tenant: "", address: "1.2.3.4")
        }
        let (_, second) = try move(again, to: "y@example.com")
        #expect(try apply(first).email == "owner@example.com")
        #expect(refusal(second) == "INVALID_OOB_CODE")
        #expect(try user().email == "owner@example.com")
    }

    @Test func noticesOfEarlierChangesStay() throws {
        let (moved, first) = try move(owner, to: "x@example.com")
        let (_, second) = try move(moved, to: "y@example.com")
        // The intruder reads the mails of x.
        #expect(try apply(second).email == "x@example.com")
        #expect(try apply(first).email == "owner@example.com")
    }

    @Test func everythingThatWasAddedSinceEnds() throws {
        try link("google.com", fixture.token(owner))
        try add(phone: "+15555550100", factor: "111")
        let (moved, code) = try move(owner, to: "x@example.com")
        let token = try fixture.token(moved)
        try link("facebook.com", token)
        try add(phone: "+15555550199", factor: "222")
        let stolen = try #require(moved.tokens).refreshToken
        let restored = try apply(code)
        #expect(restored.isEmailVerified)
        #expect(restored.providers.map(\.provider) == ["google.com"])
        #expect(restored.factors.map(\.id) == ["111"])
        #expect(restored.phone == nil)
        #expect(restored.passwordHash == nil)
        #expect(try user() == restored)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(stolen) } == "INVALID_REFRESH_TOKEN")
        let facebook = try fixture.run { store throws(AccountFailure) in try store.user(provider: "facebook.com", rawID: "1", tenant: "") }
        #expect(facebook == nil)
        let refusal = fixture.refusal { store throws(AccountFailure) in
            try store.passwordSucceeded(
                restored.uid, hash: "hash", better: nil, email: "owner@example.com", tenant: "", address: "1.2.3.4")
        }
        #expect(refusal == "INVALID_LOGIN_CREDENTIALS")
    }

    @Test func tokensOfTheSameSecondEnd() throws {
        let (moved, code) = try move(owner, to: "x@example.com")
        let token = try fixture.token(moved)
        _ = try apply(code)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.caller(token) } == "TOKEN_EXPIRED")
        // A sign-in counts at once.
        let uid = owner.user.uid
        let signedIn = try fixture.run { store throws(AccountFailure) in try store.signIn(customUser: uid, claims: [:], tenant: "") }
        let next = try fixture.token(signedIn)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.caller(next) } == nil)
    }

    @Test func whatWasThereBeforeStays() throws {
        try link("google.com", fixture.token(owner))
        try add(phone: "+15555550100", factor: "111")
        let (_, code) = try move(owner, to: "x@example.com")
        let restored = try apply(code)
        #expect(restored.providers.map(\.provider) == ["google.com"])
        #expect(restored.phone == "+15555550100")
        #expect(restored.factors.count == 1)
        #expect(restored.initialEmail == nil)
    }

    @Test func theOwnerChoosesANewPassword() throws {
        let (_, code) = try move(owner, to: "x@example.com")
        _ = try apply(code)
        let uid = owner.user.uid
        let reset = try fixture.run { store throws(AccountFailure) in
            try store.addCode(.PASSWORD_RESET, email: "owner@example.com", uid: uid, tenant: "") { $0 }
        }
        try fixture.run { store throws(AccountFailure) in try store.resetPassword(reset.code, hash: "new", tenant: "") }
        #expect(try user().passwordHash == "new")
    }

    @Test func aChangeByMailCanBeUndoneToo() throws {
        let uid = owner.user.uid
        let change = try fixture.run { store throws(AccountFailure) in
            try store.addCode(.VERIFY_AND_CHANGE_EMAIL, email: "owner@example.com", newEmail: "x@example.com", uid: uid, tenant: "") { $0 }
        }
        let applied = try fixture.run { store throws(AccountFailure) in try store.applyCode(change.code, tenant: "") }
        let recovery = try #require(applied.notices.first)
        #expect((recovery.email, recovery.newEmail) == ("owner@example.com", "x@example.com"))
        #expect(try apply(try #require(recovery.link)).email == "owner@example.com")
    }

    /// Moves the account of an owner who has verified an e-mail to x, and signs in with the mails of x. Returns the owner's link.
    private func steal(ageSeconds: Int64, byReset: Bool) throws -> String {
        var user = try user()
        user.isEmailVerified = true
        let verified = user
        try fixture.run { store throws(AccountFailure) in try store.put(verified) }
        fixture.clock.advance(seconds: ageSeconds)
        let signedIn = try fixture.run { store throws(AccountFailure) in
            try store.passwordSucceeded(
                verified.uid, hash: "hash", better: nil, email: "owner@example.com", tenant: "", address: "1.2.3.4")
        }
        let code = try move(signedIn, to: "x@example.com").code
        try fixture.run { store throws(AccountFailure) in
            let purpose: EmailCode.Purpose = byReset ? .PASSWORD_RESET : .EMAIL_SIGNIN
            let own = try store.addCode(purpose, email: "x@example.com", uid: verified.uid, tenant: "") { $0 }
            if byReset {
                _ = try store.resetPassword(own.code, hash: "stolen", tenant: "")
            } else {
                _ = try store.signIn(emailCode: own.code, email: "x@example.com", tenant: "", caller: nil)
            }
        }
        return code
    }

    /// The mails of the new e-mail prove nothing about an account that had another one for long.
    @Test(arguments: [true, false]) func theMailsOfTheIntruderDoNotEndTheLink(byReset: Bool) throws {
        let code = try steal(ageSeconds: 31 * 86_400, byReset: byReset)
        #expect(try apply(code).email == "owner@example.com")
        #expect(try user().passwordHash == nil)
    }

    /// An account that was made to be moved to the e-mail of another person, who takes it over.
    @Test(arguments: [true, false]) func aNewAccountIsNotTakenBack(byReset: Bool) throws {
        #expect(refusal(try steal(ageSeconds: 86_400, byReset: byReset)) == "INVALID_OOB_CODE")
    }

    /// The intruder has the link of the second change, whose mail came to x.
    @Test func anAdministratorWhoRestoresTheEmailEndsAllLinks() throws {
        let (moved, _) = try move(owner, to: "x@example.com")
        let (_, second) = try move(moved, to: "y@example.com")
        var change = AccountChange()
        change.email = "owner@example.com"
        let wanted = change
        try fixture.run { store throws(AccountFailure) in try store.update(wanted, uid: owner.user.uid, tenant: "") }
        #expect(refusal(second) == "INVALID_OOB_CODE")
        #expect(try user().email == "owner@example.com")
    }

    /// The former address need not be the client's, who must not have any number of mails sent.
    @Test func theNumberOfChangesIsBounded() throws {
        var signedIn = owner
        let most = try #require(AccountLimits.production.mailsPerAccount)
        for number in 0..<most { signedIn = try move(signedIn, to: "x\(number)@example.com").0 }
        let token = try fixture.token(signedIn)
        var change = AccountChange()
        change.email = "y@example.com"
        let wanted = change
        let refusal = fixture.refusal { store throws(AccountFailure) in try store.update(wanted, caller: token, tenant: nil) { $0 } }
        #expect(refusal == "TOO_MANY_ATTEMPTS_TRY_LATER")
        #expect(try user().email == "x\(most - 1)@example.com")
    }

    /// Codes of earlier versions do not tell what the account had.
    @Test func codesOfEarlierVersionsKeepNothingThatMayBeNew() throws {
        let (moved, code) = try move(owner, to: "x@example.com")
        try link("facebook.com", fixture.token(moved))
        fixture.clock.advance(seconds: 1)
        try add(phone: "+15555550199", factor: "222")
        try fixture.run { store throws(AccountFailure) in try store.run("UPDATE code SET newEmail = NULL") }
        let restored = try apply(code)
        #expect(restored.providers.isEmpty && restored.factors.isEmpty && restored.phone == nil)
    }

    @Test func developmentHasTheFirstAddressOnly() throws {
        let fixture = try AccountStoreFixture(isStrict: false)
        var signedIn = try fixture.signUp("owner@example.com")
        for email in ["x@example.com", "y@example.com"] {
            let token = try fixture.token(signedIn)
            var change = AccountChange()
            change.email = email
            let wanted = change
            signedIn = try fixture.run { store throws(AccountFailure) in try store.update(wanted, caller: token, tenant: nil) { $0 } }
            #expect(signedIn.notices.first?.email == "owner@example.com")
        }
    }
}
