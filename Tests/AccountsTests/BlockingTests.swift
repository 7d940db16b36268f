import HearthJSON
import RealtimeDatabase
import Store
import Testing

@testable import Accounts

/// Operations about which functions decide.
@Suite struct BlockingTests {
    private let fixture: AccountStoreFixture

    init() throws { fixture = try AccountStoreFixture() }

    private enum Result {
        case done(SignedIn)
        case undecided(BlockingQuestion)
        case failed(String)
    }

    /// One attempt, as the service makes it.
    private func attempt(_ pass: BlockingPass, _ operation: (AccountStore) throws(AccountFailure) -> SignedIn) -> Result {
        var question: BlockingQuestion?
        fixture.store.pass = pass
        defer { fixture.store.pass = nil }
        do {
            return .done(
                try fixture.run { store throws(AccountFailure) in
                    do throws(AccountFailure) { return try operation(store) } catch {
                        if case .undecided(let asked) = error { question = asked }
                        throw error
                    }
                })
        } catch {
            return question.map { .undecided($0) } ?? .failed((error as? AuthError)?.code ?? "\(error)")
        }
    }

    private func signUp(_ store: AccountStore) throws(AccountFailure) -> SignedIn {
        var new = NewUser()
        new.email = "ada@example.com"
        new.passwordHash = "hash"
        return try store.signUp(new, tenant: "")
    }

    private func signIn(_ store: AccountStore) throws(AccountFailure) -> SignedIn {
        try store.passwordSucceeded(
            try store.user(email: "ada@example.com", tenant: "")?.uid ?? "", hash: "hash", better: nil, email: "ada@example.com", tenant: "",
            address: "1.2.3.4")
    }

    private func question(_ result: Result) throws -> BlockingQuestion {
        guard case .undecided(let question) = result else { throw AuthError("\(result)") }
        return question
    }

    private func code(_ result: Result) -> String? { if case .failed(let code) = result { code } else { nil } }

    private func count() throws -> Int { try fixture.run { store throws(AccountFailure) in try store.userCount(tenant: "") } }

    @Test func aSignUpAsksTwiceAndIsStoredOnce() throws {
        fixture.store.triggers = [UserTrigger(function: "welcome", kind: .userCreated, tenant: nil)]
        var pass = BlockingPass(kinds: [.beforeCreate, .beforeSignIn], method: "password")
        let create = try question(attempt(pass, signUp))
        #expect(create.kind == .beforeCreate && create.isNew && create.user.email == "ada@example.com" && create.method == "password")
        #expect(try count() == 0 && fixture.store.outbox.counts.waiting == 0)
        var changes = BlockingChanges()
        changes.displayName = "Given"
        changes.customAttributes = #"{"role":"staff"}"#
        pass.decisions[.beforeCreate] = BlockingDecision(create, .changes(changes))
        // The time of the second attempt is another one.
        fixture.clock.advance(seconds: 3)
        let signIn = try question(attempt(pass, signUp))
        #expect(signIn.kind == .beforeSignIn && signIn.user.uid == create.user.uid && signIn.user.displayName == "Given")
        #expect(try count() == 0)
        var session = BlockingChanges()
        session.sessionClaims = ["session": true]
        pass.decisions[.beforeSignIn] = BlockingDecision(signIn, .changes(session))
        guard case .done(let done) = attempt(pass, signUp) else { throw AuthError("not done") }
        #expect(done.user.uid == create.user.uid && done.tokens?.payload["session"] == true && done.tokens?.payload["role"] == "staff")
        #expect(try count() == 1 && fixture.store.outbox.counts.waiting == 1)
        let token = try #require(done.tokens?.refreshToken)
        let refreshed = try fixture.run { store throws(AccountFailure) in try store.refresh(token) }
        #expect(refreshed.tokens?.payload["session"] == true)
    }

    @Test func aRefusedSignInOfANewUserLeavesTheUser() throws {
        var pass = BlockingPass(kinds: [.beforeSignIn])
        let asked = try question(attempt(pass, signUp))
        pass.decisions[.beforeSignIn] = BlockingDecision(asked, .refused(AuthError("REFUSED")))
        #expect(code(attempt(pass, signUp)) == "REFUSED")
        #expect(try count() == 1)
        #expect(try fixture.run { store throws(AccountFailure) in try store.user(email: "ada@example.com", tenant: "") }?.lastRefresh == nil)
    }

    /// Its event would be lost.
    @Test func beforeFunctionsAreKnownNoUserIsLeftByARefusedSignIn() throws {
        fixture.store.triggers = nil
        var pass = BlockingPass(kinds: [.beforeSignIn])
        let asked = try question(attempt(pass, signUp))
        pass.decisions[.beforeSignIn] = BlockingDecision(asked, .refused(AuthError("REFUSED")))
        #expect(code(attempt(pass, signUp)) == "functionsUnknown")
        #expect(try count() == 0)
        fixture.store.triggers = [UserTrigger(function: "welcome", kind: .userCreated, tenant: nil)]
        #expect(code(attempt(pass, signUp)) == "REFUSED")
    }

    @Test func nobodyIsAskedBeyondTheLimits() throws {
        var limited = fixture.policy
        limited.limits.signUpsPerAddress = 1
        let fixture = try AccountStoreFixture(policy: limited)
        fixture.store.pass = BlockingPass(kinds: [.beforeCreate])
        defer { fixture.store.pass = nil }
        let identity = ProviderIdentity(provider: "google.com", rawID: "1")
        func signIn(_ store: AccountStore) throws(AccountFailure) {
            try store.serving("1.2.3.4") { store throws(AccountFailure) in
                _ = try store.signIn(identity, tenant: "", caller: nil, mayCreate: true)
            }
        }
        #expect(fixture.refusal(signIn) == "undecided beforeCreate")
        try fixture.run { store throws(AccountFailure) in
            try store.serving("1.2.3.4") { store throws(AccountFailure) in try store.countSignUp() }
        }
        #expect(fixture.refusal(signIn) == "TOO_MANY_ATTEMPTS_TRY_LATER")
    }

    @Test func aRehearsalRefusesAndChangesNothing() throws {
        var limited = fixture.policy
        limited.limits.textsPerAccount = 1
        let fixture = try AccountStoreFixture(policy: limited)
        func message(_ store: AccountStore) throws(AccountFailure) -> MessageCode { try store.addSignInMessage("+15555550100", tenant: "") }
        for _ in 0..<3 { try fixture.run { store throws(AccountFailure) in try store.rehearse(message) } }
        #expect(try fixture.run { store throws(AccountFailure) in try store.shownMessages(tenant: "") }.isEmpty)
        _ = try fixture.run(message)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.rehearse(message) } == "TOO_MANY_ATTEMPTS_TRY_LATER")
    }

    @Test func aDecisionAboutAnotherStateOfTheUserDoesNotCount() throws {
        _ = try fixture.signUp("ada@example.com")
        var pass = BlockingPass(kinds: [.beforeSignIn])
        let asked = try question(attempt(pass, signIn))
        #expect(!asked.isNew)
        var change = AccountChange()
        change.customAttributes = #"{"banned":true}"#
        let final = change
        _ = try fixture.run { store throws(AccountFailure) in try store.update(final, uid: asked.user.uid, tenant: "") }
        pass.decisions[.beforeSignIn] = BlockingDecision(asked, .changes(BlockingChanges()))
        let again = try question(attempt(pass, signIn))
        #expect(again.user.customAttributes == #"{"banned":true}"#)
        pass.decisions[.beforeSignIn] = BlockingDecision(again, .changes(BlockingChanges()))
        guard case .done = attempt(pass, signIn) else { throw AuthError("not done") }
    }

    @Test func aUserWhoIsDisabledByTheFunctionStaysSo() throws {
        _ = try fixture.signUp("ada@example.com")
        var pass = BlockingPass(kinds: [.beforeSignIn])
        let asked = try question(attempt(pass, signIn))
        var changes = BlockingChanges()
        changes.isDisabled = true
        pass.decisions[.beforeSignIn] = BlockingDecision(asked, .changes(changes))
        #expect(code(attempt(pass, signIn)) == "USER_DISABLED")
        #expect(try fixture.run { store throws(AccountFailure) in try store.user(email: "ada@example.com", tenant: "") }?.isDisabled == true)
        // Nobody is asked about a disabled user.
        #expect(code(attempt(BlockingPass(kinds: [.beforeSignIn]), signIn)) == "USER_DISABLED")
    }

    @Test func codesAreUsedUpOnlyByTheLastAttempt() throws {
        let message = try fixture.run { store throws(AccountFailure) in try store.addSignInMessage("+15555550100", tenant: "") }
        let operation = { (store: AccountStore) throws(AccountFailure) -> SignedIn in
            let proof = AccountStore.PhoneProof.message(sessionInfo: message.sessionInfo, code: message.code)
            guard case .signedIn(let result) = try store.signIn(proof, tenant: "", caller: nil, mayCreate: true) else {
                throw AccountFailure("TAKEN")
            }
            return result
        }
        var pass = BlockingPass(kinds: [.beforeCreate])
        let asked = try question(attempt(pass, operation))
        #expect(asked.method == "phone" && asked.user.phone == "+15555550100")
        pass.decisions[.beforeCreate] = BlockingDecision(asked, .changes(BlockingChanges()))
        guard case .done = attempt(pass, operation) else { throw AuthError("not done") }
        #expect(code(attempt(pass, operation)) == "INVALID_SESSION_INFO")
    }

    @Test func anonymousAndCustomUsersAreNotAskedAbout() throws {
        let pass = BlockingPass(kinds: [.beforeCreate, .beforeSignIn])
        guard case .done = attempt(pass, { store throws(AccountFailure) in try store.signUp(NewUser(), tenant: "") }),
            case .done = attempt(pass, { store throws(AccountFailure) in
                try store.signIn(customUser: "c", claims: JSONObject(), tenant: "")
            })
        else { throw AuthError("asked") }
    }
}
