import HearthJSON
import RealtimeDatabase
import Store
import Testing
import Tree

@testable import Accounts

/// The events that operations on users raise.
@Suite struct UserEventTests {
    private func fixture(_ triggers: [UserTrigger]? = both) throws -> AccountStoreFixture {
        let fixture = try AccountStoreFixture()
        fixture.store.triggers = triggers
        return fixture
    }

    private static let both = [
        UserTrigger(function: "welcome", kind: .userCreated, tenant: nil), UserTrigger(function: "forget", kind: .userDeleted, tenant: nil),
    ]

    /// The waiting events: function, path and record.
    private func events(_ fixture: AccountStoreFixture, of function: String = "welcome") throws -> [OutboxEvent] {
        try fixture.store.outbox.page(of: function, after: 0, limit: 100, bytesMax: 1 << 20).events
    }

    private func record(_ event: OutboxEvent) throws -> JSONValue { try JSONValue(parsing: event.payload) }

    @Test func eachWayToSignUpIsACreation() throws {
        let fixture = try fixture()
        let anonymous = try fixture.signUp(nil)
        let password = try fixture.signUp("ada@example.com")
        let custom = try fixture.run { store throws(AccountFailure) in try store.signIn(customUser: "ada/1", claims: JSONObject(), tenant: "") }
        var identity = ProviderIdentity(provider: "facebook.com", rawID: "42")
        identity.displayName = "Ada"
        let linked = identity
        let provider = try fixture.run { store throws(AccountFailure) in
            try store.signIn(linked, tenant: "", caller: nil, mayCreate: true).signedIn
        }
        let message = try fixture.run { store throws(AccountFailure) in try store.addSignInMessage("+15555550100", tenant: "") }
        let phone = try fixture.run { store throws(AccountFailure) -> SignedIn? in
            let proof = AccountStore.PhoneProof.message(sessionInfo: message.sessionInfo, code: message.code)
            guard case .signedIn(let result) = try store.signIn(proof, tenant: "", caller: nil, mayCreate: true) else { return nil }
            return result
        }
        let code = try fixture.run { store throws(AccountFailure) in
            try store.addCode(.EMAIL_SIGNIN, email: "eve@example.com", tenant: "") { $0 }
        }
        let mail = try fixture.run { store throws(AccountFailure) in
            try store.signIn(emailCode: code.code, email: "eve@example.com", tenant: "", caller: nil)
        }
        var new = NewUser()
        new.uid = "made"
        let wanted = new
        _ = try fixture.run { store throws(AccountFailure) in try store.create(wanted, tenant: "") }
        let uids = [anonymous, password, custom, try #require(provider), try #require(phone), mail].map(\.user.uid) + ["made"]
        let events = try events(fixture)
        #expect(try events.map { try record($0)["uid"]?.string } == uids)
        #expect(events.map(\.kind) == Array(repeating: .userCreated, count: 7))
        #expect(events[2].path.description == "/users/ada%2F1" && UserEvent.subject(of: events[2].path) == "users/ada%2F1")
        #expect(Set(events.map(\.id)).count == 7)
        // Signing in again creates nobody.
        _ = try fixture.run { store throws(AccountFailure) in try store.signIn(customUser: "ada/1", claims: JSONObject(), tenant: "") }
        _ = try fixture.run { store throws(AccountFailure) in try store.signIn(linked, tenant: "", caller: nil, mayCreate: true) }
        #expect(try self.events(fixture).count == 7)
    }

    @Test func theRecordHasNoSecretsAndTheFirstSignIn() throws {
        let fixture = try fixture()
        _ = try fixture.signUp("ada@example.com", hash: "a-secret-hash")
        let event = try #require(try events(fixture).first)
        #expect(!String(decoding: event.payload, as: UTF8.self).contains("a-secret-hash"))
        let record = try record(event)
        #expect(record["email"] == "ada@example.com" && record["emailVerified"] == false && record["disabled"] == false)
        #expect(record["metadata"] == ["creationTime": "2023-11-14T22:13:20.000Z", "lastSignInTime": "2023-11-14T22:13:20.000Z"])
        #expect(record["providerData"] == [["providerId": "password", "uid": "ada@example.com", "email": "ada@example.com"]])
        #expect(record["customClaims"] == [:] && record["tenantId"] == nil)
    }

    @Test func eachDeletionIsOne() throws {
        let fixture = try fixture()
        let own = try fixture.signUp("own@example.com")
        let token = try fixture.token(own)
        try fixture.run { store throws(AccountFailure) in try store.delete(token, tenant: nil) }
        let users = try (0..<4).map { try fixture.signUp("u\($0)@example.com").user.uid }
        try fixture.run { store throws(AccountFailure) in try store.delete(uid: users[0], tenant: "") }
        _ = try fixture.run { store throws(AccountFailure) in try store.delete(uids: [users[1], "nobody", users[2]], tenant: "", force: true) }
        // The last user is not disabled.
        _ = try fixture.run { store throws(AccountFailure) in try store.delete(uids: [users[3]], tenant: "", force: false) }
        let deleted = try events(fixture, of: "forget")
        #expect(try deleted.map { try record($0)["email"]?.string } == ["own", "u0", "u1", "u2"].map { "\($0)@example.com" })
    }

    @Test func importsLinksAndUpgradesAreNone() throws {
        let fixture = try fixture()
        let imported = UserRecord(tenant: "", uid: "imported", created: 1)
        _ = try fixture.run { store throws(AccountFailure) in try store.importUsers([(0, imported)], mayReplace: false) }
        #expect(try events(fixture).isEmpty)
        let anonymous = try fixture.signUp(nil)
        let token = try fixture.token(anonymous)
        _ = try fixture.run { store throws(AccountFailure) in
            try store.linkPassword(email: "ada@example.com", hash: "h", displayName: nil, caller: token, tenant: nil, recoveryLink: { $0 })
        }
        let identity = ProviderIdentity(provider: "google.com", rawID: "1")
        _ = try fixture.run { store throws(AccountFailure) in try store.signIn(identity, tenant: "", caller: token, mayCreate: true) }
        #expect(try events(fixture).count == 1)
    }

    @Test func tenantsAreTold() throws {
        let fixture = try fixture([
            UserTrigger(function: "all", kind: .userCreated, tenant: nil), UserTrigger(function: "project", kind: .userCreated, tenant: ""),
            UserTrigger(function: "one", kind: .userCreated, tenant: "t1"),
        ])
        for tenant in ["", "t1", "t2"] {
            _ = try fixture.run { store throws(AccountFailure) in try store.create(NewUser(), tenant: tenant) }
        }
        #expect(try events(fixture, of: "all").map { try record($0)["tenantId"]?.string } == [nil, "t1", "t2"])
        #expect(try events(fixture, of: "project").count == 1)
        let one = try events(fixture, of: "one")
        #expect(one.map(\.params) == [[EventParameter(name: "tenantId", value: "t1")]])
        #expect(one.first?.path.description.hasPrefix("/tenants/t1/users/") == true)
    }

    @Test func withoutFunctionsNothingIsStored() throws {
        let fixture = try fixture([UserTrigger(function: "forget", kind: .userDeleted, tenant: nil)])
        _ = try fixture.signUp("ada@example.com")
        #expect(fixture.store.outbox.counts.waiting == 0 && fixture.store.outbox.didCommit() == nil)
    }

    @Test func aRefusedOperationRaisesNothing() throws {
        let fixture = try fixture()
        let refusal = fixture.refusal { store throws(AccountFailure) in
            _ = try store.create(NewUser(), tenant: "")
            throw AccountFailure("LATER")
        }
        #expect(refusal == "LATER")
        #expect(try events(fixture).isEmpty)
    }

    @Test func beforeFunctionsAreKnownUsersAreNeitherCreatedNorDeleted() throws {
        let fixture = try fixture(nil)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.create(NewUser(), tenant: "") } == "functionsUnknown")
        #expect(try fixture.run { store throws(AccountFailure) in try store.userCount(tenant: "") } == 0)
        let imported = UserRecord(tenant: "", uid: "imported", created: 1)
        _ = try fixture.run { store throws(AccountFailure) in try store.importUsers([(0, imported)], mayReplace: false) }
        #expect(fixture.refusal { store throws(AccountFailure) in try store.delete(uid: "imported", tenant: "") } == "functionsUnknown")
    }

    @Test func eventsAreInTheSameTransaction() throws {
        let fixture = try fixture()
        let store = fixture.store
        try store.transactions.begin()
        _ = try fixture.signUp("ada@example.com")
        try store.outbox.willCommit()
        store.transactions.rollback()
        try store.renewOutbox()
        #expect(try events(fixture).isEmpty && store.outbox.counts.waiting == 0)
        #expect(try fixture.run { store throws(AccountFailure) in try store.userCount(tenant: "") } == 0)
        _ = try fixture.signUp("ada@example.com")
        #expect(try events(fixture).count == 1 && store.outbox.counts.waiting == 1)
    }
}
