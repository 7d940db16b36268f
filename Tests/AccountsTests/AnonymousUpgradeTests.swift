import HearthJSON
import Testing

@testable import Accounts

/// Tokens of users who were anonymous when they were made, and are no more.
@Suite struct AnonymousUpgradeTests {
    private func linked(_ fixture: AccountStoreFixture) throws -> CallerToken {
        let token = try fixture.token(try fixture.signUp(nil))
        var identity = ProviderIdentity(provider: "google.com", rawID: "1")
        identity.email = "ada@example.com"
        let asserted = identity
        try fixture.run { store throws(AccountFailure) in try store.signIn(asserted, tenant: "", caller: token, mayCreate: false) }
        return token
    }

    private func changes(_ fixture: AccountStoreFixture, _ token: CallerToken) -> [String?] {
        var email = AccountChange()
        email.email = "thief@example.com"
        var password = AccountChange()
        password.passwordHash = "h"
        return [email, password].map { change in
            fixture.refusal { store throws(AccountFailure) in try store.update(change, caller: token, tenant: nil) { $0 } }
        } + [fixture.refusal { store throws(AccountFailure) in try store.delete(token, tenant: nil) }]
    }

    @Test func anOldTokenIsOldAfterTheUpgrade() throws {
        let fixture = try AccountStoreFixture()
        let token = try linked(fixture)
        fixture.clock.advance(seconds: 301)
        #expect(changes(fixture, token) == Array(repeating: "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", count: 3))
    }

    @Test func anAnonymousUserNeedNotSignInAgain() throws {
        let fixture = try AccountStoreFixture()
        let token = try fixture.token(try fixture.signUp(nil))
        fixture.clock.advance(seconds: 301)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.delete(token, tenant: nil) } == nil)
    }

    @Test func theChangeOfTheNewEmailIsAnnounced() throws {
        let fixture = try AccountStoreFixture()
        let token = try linked(fixture)
        var change = AccountChange()
        change.email = "thief@example.com"
        let wanted = change
        let moved = try fixture.run { store throws(AccountFailure) in try store.update(wanted, caller: token, tenant: nil) { $0 } }
        #expect(moved.notices.first?.email == "ada@example.com")
    }

    @Test(arguments: [true, false]) func aPasswordIsTheWayToSignInFromThenOn(isStrict: Bool) throws {
        let fixture = try AccountStoreFixture(isStrict: isStrict)
        let token = try fixture.token(try fixture.signUp(nil))
        var change = AccountChange()
        change.email = "ada@example.com"
        change.passwordHash = "h"
        let wanted = change
        let changed = try fixture.run { store throws(AccountFailure) in try store.update(wanted, caller: token, tenant: nil) { $0 } }
        let payload = try #require(changed.tokens).payload
        #expect(payload["firebase"]?["sign_in_provider"]?.string == "password")
        #expect(payload["provider_id"] == nil)
    }
}
