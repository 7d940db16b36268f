import HearthJSON
import SQLite
import Testing

@testable import Accounts

struct SessionTests {
    @Test func aRefreshTokenHasOneSuccessor() throws {
        let fixture = try AccountStoreFixture()
        let first = try #require(try fixture.signUp("a@example.com").tokens)
        let second = try #require(try fixture.run { store throws(AccountFailure) in try store.refresh(first.refreshToken) }.tokens)
        #expect(second.refreshToken != first.refreshToken)
        #expect(second.payload["auth_time"] == first.payload["auth_time"])
        fixture.clock.advance(seconds: 30)
        let again = try #require(try fixture.run { store throws(AccountFailure) in try store.refresh(first.refreshToken) }.tokens)
        #expect(again.refreshToken == second.refreshToken)
    }

    @Test func aReplacedRefreshTokenEndsTheSession() throws {
        let fixture = try AccountStoreFixture()
        let first = try #require(try fixture.signUp("a@example.com").tokens).refreshToken
        let second = try #require(try fixture.run { store throws(AccountFailure) in try store.refresh(first) }.tokens).refreshToken
        fixture.clock.advance(seconds: 61)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(first) } == "TOKEN_EXPIRED")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(second) } == "INVALID_REFRESH_TOKEN")
    }

    @Test func aFloodOfRefreshesStoresABoundedNumberOfTokens() throws {
        let fixture = try AccountStoreFixture()
        var tokens = [try #require(try fixture.signUp("a@example.com").tokens).refreshToken]
        let most = Int(AccountStore.usedTokensMax)
        for _ in 0..<most + 50 {
            fixture.clock.advance(seconds: 1)
            let token = tokens[tokens.count - 1]
            tokens.append(try #require(try fixture.run { store throws(AccountFailure) in try store.refresh(token) }.tokens).refreshToken)
        }
        let count = try fixture.run { store throws(AccountFailure) in try store.first("SELECT COUNT(*) FROM session") { Int($0.integer(at: 0)) } }
        #expect(count == most + 1)
        // The oldest one is unknown, and ends nothing; one that is kept ends the session.
        let (oldest, kept, newest) = (tokens[0], tokens[tokens.count - most], tokens[tokens.count - 1])
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(oldest) } == "INVALID_REFRESH_TOKEN")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(kept) } == "TOKEN_EXPIRED")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(newest) } == "INVALID_REFRESH_TOKEN")
    }

    @Test func revocationEndsRefreshTokensOfProductionOnly() throws {
        for isStrict in [true, false] {
            let fixture = try AccountStoreFixture(isStrict: isStrict)
            let signedIn = try fixture.signUp("a@example.com")
            let token = try #require(signedIn.tokens).refreshToken
            fixture.clock.advance(seconds: 2)
            var change = AccountChange()
            change.validSinceSeconds = fixture.clock.now / 1000
            try fixture.run { store throws(AccountFailure) in try store.update(change, uid: signedIn.user.uid, tenant: "") }
            let refusal = fixture.refusal { store throws(AccountFailure) in try store.refresh(token) }
            #expect(refusal == (isStrict ? "TOKEN_EXPIRED" : nil))
        }
    }

    @Test func reservedClaimsCannotBeReplaced() throws {
        let fixture = try AccountStoreFixture()
        var user = UserRecord(tenant: "", uid: "u", created: 1)
        user.customAttributes = "{\"role\":\"admin\",\"sub\":\"other\",\"email_verified\":true,\"user_id\":\"other\"}"
        var session = UserSession(tenant: "", uid: "u", provider: "custom", authTime: 5)
        session.claims = ["iss": "evil", "name": "N"]
        let payload = session.payload(for: user, project: "demo", issuer: "own", now: 10)
        #expect(payload["sub"]?.string == "u")
        #expect(payload["user_id"]?.string == "u")
        #expect(payload["iss"]?.string == "own")
        #expect(payload["role"]?.string == "admin")
        #expect(payload["name"]?.string == "N")
        #expect(payload["email_verified"] == nil)
        _ = fixture
    }

    @Test func aDeletedUserCannotRefresh() throws {
        let fixture = try AccountStoreFixture()
        let signedIn = try fixture.signUp("a@example.com")
        let caller = try fixture.token(signedIn)
        try fixture.run { store throws(AccountFailure) in try store.delete(caller, tenant: nil) }
        let token = try #require(signedIn.tokens).refreshToken
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(token) } == "INVALID_REFRESH_TOKEN")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.caller(caller) } == "USER_NOT_FOUND")
    }
}
