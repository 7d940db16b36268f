import HearthJSON
import Testing

@testable import Accounts

struct SignInTests {
    @Test func tenWrongPasswordsLockTheAccountForAWhile() throws {
        let fixture = try AccountStoreFixture()
        let uid = try fixture.signUp("a@example.com").user.uid
        func attempt() -> String? {
            fixture.refusal { store throws(AccountFailure) in
                _ = try store.passwordUser(email: "a@example.com", tenant: "", address: "1.2.3.4")
                try store.passwordFailed(email: "a@example.com", tenant: "", address: "1.2.3.4")
            }
        }
        func signIn() -> String? {
            fixture.refusal { store throws(AccountFailure) in
                try store.passwordSucceeded(uid, hash: "hash", better: nil, email: "a@example.com", tenant: "", address: "5.6.7.8")
            }
        }
        for _ in 0..<10 { #expect(attempt() == nil) }
        #expect(attempt() == "TOO_MANY_ATTEMPTS_TRY_LATER")
        // A right guess among those that were made at the same time does not count either.
        #expect(signIn() == "TOO_MANY_ATTEMPTS_TRY_LATER")
        fixture.clock.advance(seconds: 301)
        #expect(signIn() == nil)
    }

    @Test func emailsOfAnotherUserAreRefused() throws {
        let fixture = try AccountStoreFixture()
        _ = try fixture.signUp("a@example.com")
        #expect(throws: AuthError("EMAIL_EXISTS")) { try fixture.signUp("a@example.com") }
        let anonymous = try fixture.token(try fixture.signUp(nil))
        #expect(
            fixture.refusal { store throws(AccountFailure) in
                try store.linkPassword(email: "a@example.com", hash: "h", displayName: nil, caller: anonymous, tenant: nil, recoveryLink: { $0 })
            } == "EMAIL_EXISTS")
    }

    @Test func aVerifiedProviderEvictsAnUnverifiedOwner() throws {
        let fixture = try AccountStoreFixture()
        let squatter = try fixture.signUp("a@example.com")
        let stolen = try #require(squatter.tokens).refreshToken
        fixture.clock.advance(seconds: 2)
        var identity = ProviderIdentity(provider: "google.com", rawID: "1")
        identity.email = "a@example.com"
        identity.isEmailVerified = true
        let result = try fixture.run { [identity] store throws(AccountFailure) in
            try store.signIn(identity, tenant: "", caller: nil, mayCreate: true)
        }
        let user = try #require(result.signedIn).user
        #expect(user.uid == squatter.user.uid)
        #expect(user.passwordHash == nil)
        #expect(user.isEmailVerified)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(stolen) } == "INVALID_REFRESH_TOKEN")
    }

    @Test func anUnverifiedProviderNeedsConfirmation() throws {
        let fixture = try AccountStoreFixture()
        let owner = try fixture.signUp("a@example.com")
        var identity = ProviderIdentity(provider: "facebook.com", rawID: "1")
        identity.email = "a@example.com"
        let asserted = identity
        let result = try fixture.run { store throws(AccountFailure) in
            try store.signIn(asserted, tenant: "", caller: nil, mayCreate: true)
        }
        #expect(result.needsConfirmation)
        #expect(result.signedIn == nil)
        let pending = try #require(result.pendingToken)
        for _ in 0..<2 {
            var taken = try fixture.run { store throws(AccountFailure) in try store.requireAssertion(pending, tenant: "") }
            #expect(taken.pendingEnds == fixture.clock.now + 600_000)
            taken.pendingEnds = nil
            #expect(taken == identity)
        }
        #expect(fixture.refusal { store throws(AccountFailure) in try store.requireAssertion(pending, tenant: "t") } == "INVALID_PENDING_TOKEN")
        try fixture.run { store throws(AccountFailure) in try store.useAssertion(pending) }
        #expect(fixture.refusal { store throws(AccountFailure) in try store.requireAssertion(pending, tenant: "") } == "INVALID_PENDING_TOKEN")
        let caller = try fixture.token(owner)
        let linked = try fixture.run { store throws(AccountFailure) in
            try store.signIn(asserted, tenant: "", caller: caller, mayCreate: true)
        }
        #expect(linked.signedIn?.user.uid == owner.user.uid)
    }

    @Test func aReplacedProviderAccountIsFree() throws {
        let fixture = try AccountStoreFixture()
        let caller = try fixture.token(try fixture.signUp("a@example.com"))
        for raw in ["1", "2"] {
            let identity = ProviderIdentity(provider: "facebook.com", rawID: raw)
            try fixture.run { store throws(AccountFailure) in try store.signIn(identity, tenant: "", caller: caller, mayCreate: true) }
        }
        let old = try fixture.run { store throws(AccountFailure) in try store.user(provider: "facebook.com", rawID: "1", tenant: "") }
        #expect(old == nil)
    }

    @Test func sensitiveChangesNeedARecentSignIn() throws {
        let fixture = try AccountStoreFixture()
        let caller = try fixture.token(try fixture.signUp("a@example.com"))
        fixture.clock.advance(seconds: 301)
        var change = AccountChange()
        change.displayName = "A"
        let name = change
        #expect(fixture.refusal { store throws(AccountFailure) in try store.update(name, caller: caller, tenant: nil) { $0 } } == nil)
        change.passwordHash = "new"
        let password = change
        let refusal = fixture.refusal { store throws(AccountFailure) in try store.update(password, caller: caller, tenant: nil) { $0 } }
        #expect(refusal == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.delete(caller, tenant: nil) } == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    }

    @Test func aCredentialIsUsedOnce() throws {
        let fixture = try AccountStoreFixture()
        #expect(try fixture.run { store throws(AccountFailure) in try store.useOnce("token", expires: 2_000_000_000) })
        #expect(try !fixture.run { store throws(AccountFailure) in try store.useOnce("token", expires: 2_000_000_000) })
    }

    @Test func listsAreOrderedAndComplete() throws {
        let fixture = try AccountStoreFixture()
        for number in 0..<25 { _ = try fixture.signUp("user\(number)@example.com") }
        var seen: [String] = []
        while true {
            let after = seen.last ?? ""
            let page = try fixture.run { store throws(AccountFailure) in try store.users(tenant: "", after: after, limit: 10) }
            seen += page.users.map(\.uid)
            if !page.mayHaveMore { break }
        }
        #expect(seen == seen.sorted())
        #expect(Set(seen).count == 25)
        #expect(try fixture.run { store throws(AccountFailure) in try store.userCount(tenant: "") } == 25)
    }
}
