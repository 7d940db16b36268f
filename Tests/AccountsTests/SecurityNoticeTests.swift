import HearthJSON
import SQLite
import Testing

@testable import Accounts

/// Mails about the security of an account, which are stored in the transaction of the change.
@Suite struct SecurityNoticeTests {
    private let fixture: AccountStoreFixture
    private let owner: SignedIn

    init() throws {
        fixture = try AccountStoreFixture()
        owner = try fixture.signUp("ada@example.com")
    }

    private func waiting(_ fixture: AccountStoreFixture) throws -> [SecurityNotice] {
        try fixture.run { store throws(AccountFailure) in try store.waitingNotices() }
    }

    private func link(_ provider: String, _ fixture: AccountStoreFixture, _ signedIn: SignedIn) throws -> SignedIn {
        let token = try fixture.token(signedIn)
        let identity = ProviderIdentity(provider: provider, rawID: "1")
        let result = try fixture.run { store throws(AccountFailure) in
            try store.signIn(identity, tenant: "", caller: token, mayCreate: false)
        }
        return try #require(result.signedIn)
    }

    @Test func aLinkedAccountIsTold() throws {
        let linked = try link("google.com", fixture, owner)
        let notice = try #require(linked.notices.first)
        #expect((notice.kind, notice.email, notice.label, notice.link) == (.signInAdded, "ada@example.com", "Google", nil))
        #expect(try waiting(fixture) == linked.notices)
        try fixture.run { store throws(AccountFailure) in try store.removeNotice(notice.id) }
        #expect(try waiting(fixture).isEmpty)
    }

    @Test func nobodyIsToldWithoutAnAddressOrInDevelopment() throws {
        #expect(try link("google.com", fixture, try fixture.signUp(nil)).notices.isEmpty)
        let development = try AccountStoreFixture(isStrict: false)
        #expect(try link("google.com", development, try development.signUp("ada@example.com")).notices.isEmpty)
    }

    /// The code and the mail are there if the factor is: nothing happens between two transactions.
    @Test func aSecondFactorIsToldInItsTransaction() throws {
        var user = owner.user
        user.isEmailVerified = true
        let verified = user
        try fixture.run { store throws(AccountFailure) in try store.put(verified) }
        let token = try fixture.token(owner)
        let enrolled = try fixture.run { store throws(AccountFailure) in
            let message = try store.startEnrolment(phone: "+15555550100", caller: token, tenant: nil)
            return try store.finishEnrolment(
                sessionInfo: message.sessionInfo, code: message.code, displayName: "my phone", caller: token, tenant: nil, link: { $0 })
        }
        let notice = try #require(enrolled.notices.first)
        #expect((notice.kind, notice.label) == (.factorAdded, "my phone"))
        #expect(try waiting(fixture) == [notice])
        let code = try #require(notice.link)
        let reverted = try fixture.run { store throws(AccountFailure) in try store.applyCode(code, tenant: "") }
        #expect(reverted.user.factors.isEmpty)
    }

    @Test func aRefusedChangeTellsNothing() throws {
        _ = try fixture.signUp("taken@example.com")
        let token = try fixture.token(owner)
        var change = AccountChange()
        change.email = "taken@example.com"
        let wanted = change
        #expect(fixture.refusal { store throws(AccountFailure) in try store.update(wanted, caller: token, tenant: nil) { $0 } } == "EMAIL_EXISTS")
        #expect(try waiting(fixture).isEmpty)
    }

    /// A link is made also for an owner who has got many notices; the log tells that this one was withheld.
    @Test func theNumberOfNoticesIsBounded() throws {
        var signedIn = owner
        let most = try #require(AccountLimits.production.mailsPerAccount)
        for number in 0..<most + 1 { signedIn = try link("oidc.p\(number)", fixture, signedIn) }
        #expect(signedIn.notices.isEmpty && signedIn.withheldNotice == "TOO_MANY_ATTEMPTS_TRY_LATER")
        #expect(signedIn.user.providers.count == most + 1)
        #expect(try waiting(fixture).count == most)
    }

    @Test func aNoticeIsStoredEncryptedAndGivenUpAfterDays() throws {
        let token = try fixture.token(owner)
        var change = AccountChange()
        change.email = "eve@example.com"
        let wanted = change
        let moved = try fixture.run { store throws(AccountFailure) in try store.update(wanted, caller: token, tenant: nil) { $0 } }
        let secret = try #require(moved.notices.first?.link)
        let content = try fixture.run { store throws(AccountFailure) in try store.rows("SELECT content FROM notice", []) { "\($0.value(at: 0))" } }
        #expect(content.count == 1 && !content[0].contains(secret) && !content[0].contains("example.com"))
        fixture.clock.advance(seconds: 3 * 86_400 + 1)
        _ = try fixture.run { store throws(AccountFailure) in try store.removeExpired() }
        #expect(try waiting(fixture).isEmpty)
    }
}
