import HearthJSON
import Testing

@testable import Accounts

struct CodeTests {
    private func code(_ fixture: AccountStoreFixture, _ purpose: EmailCode.Purpose) throws -> String {
        try fixture.run { store throws(AccountFailure) in
            let uid = try store.user(email: "a@example.com", tenant: "")?.uid
            return try store.addCode(purpose, email: "a@example.com", newEmail: "b@example.com", uid: uid, tenant: "") { "https://x/?\($0)" }
        }.code
    }

    @Test func codesAreForOnePurposeAndUsedOnce() throws {
        let fixture = try AccountStoreFixture()
        _ = try fixture.signUp("a@example.com")
        let verify = try code(fixture, .VERIFY_EMAIL)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.resetPassword(verify, hash: "h", tenant: "") } == "INVALID_OOB_CODE")
        #expect(
            fixture.refusal { store throws(AccountFailure) in
                try store.signIn(emailCode: verify, email: "a@example.com", tenant: "", caller: nil)
            } == "INVALID_OOB_CODE")
        #expect(try fixture.run { store throws(AccountFailure) in try store.applyCode(verify, tenant: "") }.user.isEmailVerified)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.applyCode(verify, tenant: "") } == "INVALID_OOB_CODE")
    }

    @Test func codesExpire() throws {
        let fixture = try AccountStoreFixture()
        _ = try fixture.signUp("a@example.com")
        let reset = try code(fixture, .PASSWORD_RESET)
        fixture.clock.advance(seconds: 3601)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.resetPassword(reset, hash: "h", tenant: "") } == "EXPIRED_OOB_CODE")
    }

    @Test func anotherEmailDoesNotUseTheCode() throws {
        let fixture = try AccountStoreFixture()
        let link = try code(fixture, .EMAIL_SIGNIN)
        let other = fixture.refusal { store throws(AccountFailure) in
            try store.signIn(emailCode: link, email: "x@example.com", tenant: "", caller: nil)
        }
        #expect(other == "INVALID_EMAIL")
        let signedIn = try fixture.run { store throws(AccountFailure) in
            try store.signIn(emailCode: link, email: "a@example.com", tenant: "", caller: nil)
        }
        #expect(signedIn.isNew)
    }

    @Test func fiveWrongCodesEndAMessage() throws {
        let fixture = try AccountStoreFixture()
        let message = try fixture.run { store throws(AccountFailure) in try store.addSignInMessage("+15555550100", tenant: "") }
        let wrong = message.code == "000000" ? "000001" : "000000"
        func attempt(_ code: String) -> String? {
            fixture.refusal { store throws(AccountFailure) in
                try store.signIn(.message(sessionInfo: message.sessionInfo, code: code), tenant: "", caller: nil, mayCreate: true)
            }
        }
        for _ in 0..<5 { #expect(attempt(wrong) == "INVALID_CODE") }
        #expect(attempt(message.code) == "INVALID_SESSION_INFO")
    }

    @Test func messagesOfEnrolmentsDoNotSignIn() throws {
        let fixture = try AccountStoreFixture()
        let message = try fixture.run { store throws(AccountFailure) in
            try store.addMessage(.enrolment, "+15555550100", uid: "u", tenant: "")
        }
        let refusal = fixture.refusal { store throws(AccountFailure) in
            try store.signIn(.message(sessionInfo: message.sessionInfo, code: message.code), tenant: "", caller: nil, mayCreate: true)
        }
        #expect(refusal == "INVALID_SESSION_INFO")
    }

    /// The values of RFC 6238 appendix B, of which this host uses the last six digits.
    @Test func oneTimeCodesAreThoseOfTheStandard() {
        let secret = Array("12345678901234567890".utf8)
        for (seconds, code) in [(59, "287082"), (1_111_111_109, "081804"), (20_000_000_000, "353130")] {
            #expect(OneTimePassword.code(secret: secret, step: Int64(seconds) / 30) == code)
        }
        #expect(OneTimePassword.base32(secret) == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    }

    @Test func aOneTimeCodeIsAcceptedOnce() {
        let secret = Array("12345678901234567890".utf8)
        let code = OneTimePassword.code(secret: secret, step: 100)
        func step(_ last: Int64, at now: Int64) -> Int64? {
            OneTimePassword.step(of: code, secret: secret, nowSeconds: now * 30, adjacent: 1, lastStep: last)
        }
        #expect(step(0, at: 100) == 100)
        #expect(step(0, at: 101) == 100)
        #expect(step(0, at: 102) == nil)
        #expect(step(100, at: 100) == nil)
        #expect(step(0, at: 98) == nil)
    }
}
