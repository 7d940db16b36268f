import HearthJSON
import SQLite
import Testing

@testable import Accounts

/// A clock that was wrong for a while locks nobody out, and gives nobody more than others have.
@Suite struct WrongClockTests {
    private let fixture: AccountStoreFixture
    private static let year: Int64 = 365 * 86_400

    init() throws { fixture = try AccountStoreFixture() }

    private func signIn(_ user: UserRecord, _ hash: String) throws -> SignedIn {
        try fixture.run { store throws(AccountFailure) in
            try store.passwordSucceeded(user.uid, hash: hash, better: nil, email: "a@example.com", tenant: "", address: "1.2.3.4")
        }
    }

    private func callerRefusal(_ token: CallerToken) -> String? {
        fixture.refusal { store throws(AccountFailure) in try store.caller(token) }
    }

    @Test func revocationAtAWrongTimeEnds() throws {
        let first = try fixture.signUp("a@example.com")
        fixture.clock.advance(seconds: Self.year)
        var change = AccountChange()
        change.passwordHash = "new"
        change.validSinceSeconds = fixture.clock.now / 1000
        let wanted = change
        try fixture.run { store throws(AccountFailure) in try store.update(wanted, uid: first.user.uid, tenant: "") }
        fixture.clock.advance(seconds: -Self.year)
        let old = try fixture.token(first)
        fixture.clock.advance(seconds: 1)
        let again = try signIn(first.user, "new")
        #expect(callerRefusal(try fixture.token(again)) == nil)
        let refresh = try #require(again.tokens).refreshToken
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(refresh) } == nil)
        // Tokens that were revoked stay so.
        #expect(callerRefusal(old) == "TOKEN_EXPIRED")
        let stolen = try #require(first.tokens).refreshToken
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(stolen) } == "INVALID_REFRESH_TOKEN")
    }

    /// `revokeRefreshTokens` of an Admin SDK on a machine whose clock is ahead revokes no session by a new sign-in.
    @Test func sessionsThatAnAdministratorHasRevokedStayRevoked() throws {
        let first = try fixture.signUp("a@example.com")
        var change = AccountChange()
        change.validSinceSeconds = fixture.clock.now / 1000 + 30
        let wanted = change
        try fixture.run { store throws(AccountFailure) in try store.update(wanted, uid: first.user.uid, tenant: "") }
        fixture.clock.advance(seconds: 10)
        _ = try signIn(first.user, "hash")
        let stolen = try #require(first.tokens).refreshToken
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(stolen) } == "INVALID_REFRESH_TOKEN")
        #expect(callerRefusal(try fixture.token(first)) == "TOKEN_EXPIRED")
    }

    @Test func wrongPasswordsOfAWrongTimeLockNobodyOut() throws {
        let user = try fixture.signUp("a@example.com").user
        func fail() -> String? {
            fixture.refusal { store throws(AccountFailure) in
                try store.passwordFailed(email: "a@example.com", tenant: "", address: "1.2.3.4")
            }
        }
        fixture.clock.advance(seconds: Self.year)
        for _ in 0..<10 { #expect(fail() == nil) }
        #expect(fail() == "TOO_MANY_ATTEMPTS_TRY_LATER")
        fixture.clock.advance(seconds: -Self.year)
        _ = try signIn(user, "hash")
        // They are counted anew.
        for _ in 0..<10 { #expect(fail() == nil) }
        #expect(fail() == "TOO_MANY_ATTEMPTS_TRY_LATER")
    }

    @Test func countsOfAWrongTimeAreRemoved() throws {
        fixture.clock.advance(seconds: Self.year)
        try fixture.run { store throws(AccountFailure) in try store.countFailure("x", seconds: 86_400) }
        fixture.clock.advance(seconds: -Self.year)
        try fixture.run { store throws(AccountFailure) in try store.countFailure("y", seconds: 86_400) }
        _ = try fixture.run { store throws(AccountFailure) in try store.removeExpired() }
        let left = try fixture.run { store throws(AccountFailure) in try store.rows("SELECT key FROM attempt", []) { $0.text(at: 0) } }
        #expect(left == ["y"])
    }

    @Test func aOneTimeCodeOfAWrongTimeStopsNoOther() {
        let secret = Array("12345678901234567890".utf8)
        func step(_ code: Int64, last: Int64) -> Int64? {
            OneTimePassword.step(
                of: OneTimePassword.code(secret: secret, step: code), secret: secret, nowSeconds: 100 * 30, adjacent: 1, lastStep: last)
        }
        #expect(step(100, last: 1_000_000) == 100)
        #expect(step(100, last: 102) == 100)
        // Within the accepted steps it is the last one.
        #expect(step(101, last: 101) == nil)
        #expect(step(100, last: 101) == nil)
        #expect(step(1_000_000, last: 0) == nil)
        #expect(OneTimePassword.step(of: "000000", secret: secret, nowSeconds: 3000, adjacent: 0, lastStep: .max) == nil)
    }

    @Test func aSessionOfAWrongTimeEnds() throws {
        fixture.clock.advance(seconds: Self.year)
        let refresh = try #require(try fixture.signUp("a@example.com").tokens).refreshToken
        fixture.clock.advance(seconds: -Self.year)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(refresh) } == "TOKEN_EXPIRED")
    }

    @Test func aClockThatIsSetBackALittleEndsNothing() throws {
        let refresh = try #require(try fixture.signUp("a@example.com").tokens).refreshToken
        fixture.clock.advance(seconds: -3)
        let tokens = try #require(try fixture.run { store throws(AccountFailure) in try store.refresh(refresh) }.tokens)
        #expect(tokens.payload["auth_time"]?.int == Int(fixture.clock.now / 1000))
    }

    @Test func aReplacedTokenIsFoundInSpiteOfTheClock() throws {
        let first = try #require(try fixture.signUp("a@example.com").tokens).refreshToken
        fixture.clock.advance(seconds: 7200)
        let second = try #require(try fixture.run { store throws(AccountFailure) in try store.refresh(first) }.tokens).refreshToken
        fixture.clock.advance(seconds: -3600)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(first) } == "TOKEN_EXPIRED")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.refresh(second) } == "INVALID_REFRESH_TOKEN")
    }
}
