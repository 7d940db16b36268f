import HearthJSON
import SQLite
import Testing

@testable import Accounts

/// Tenants with many users are removed in portions.
struct TenantRemovalTests {
    private let tenant = "blue"

    private func fixture(users: Int, isStrict: Bool = true) throws -> AccountStoreFixture {
        let fixture = try AccountStoreFixture(isStrict: isStrict)
        let tenant = tenant
        try fixture.run { store throws(AccountFailure) in
            try store.setTenant(tenant, ["allowPasswordSignup": true])
            for number in 0..<users {
                var new = NewUser()
                (new.uid, new.email, new.passwordHash) = ("u\(number)", "u\(number)@example.com", "hash")
                _ = try store.signUp(new, tenant: tenant)
            }
        }
        return fixture
    }

    private func rows(_ fixture: AccountStoreFixture) throws -> Int {
        try fixture.run { store throws(AccountFailure) in
            try store.first("SELECT (SELECT COUNT(*) FROM user) + (SELECT COUNT(*) FROM session) + (SELECT COUNT(*) FROM removal)") {
                Int($0.integer(at: 0))
            } ?? 0
        }
    }

    @Test func aPortionHasABoundAndTheTenantIsGoneAtOnce() throws {
        let count = AccountStore.removedRowsMax
        let fixture = try fixture(users: count)
        let (tenant, before) = (tenant, try rows(fixture))
        let caller = CallerToken(
            payload: ["sub": "u1", "iat": .int(fixture.clock.now / 1000), "firebase": ["tenant": .string(tenant), "sign_in_provider": "password"]])
        let token = try #require(caller)
        try fixture.run { store throws(AccountFailure) in try store.removeTenant(tenant) }
        #expect(fixture.store.hasNewRemoval)
        #expect(before + 1 - (try rows(fixture)) == count, "the sessions, and not the users")
        #expect(try fixture.run { store throws(AccountFailure) in try store.user("u1", tenant: tenant) } == nil)
        #expect(try fixture.run { store throws(AccountFailure) in try store.user(email: "u1@example.com", tenant: tenant) } == nil)
        #expect(try fixture.run { store throws(AccountFailure) in try store.userCount(tenant: tenant) } == 0)
        #expect(try fixture.run { store throws(AccountFailure) in try store.users(tenant: tenant, after: "", limit: 10).users }.isEmpty)
        #expect(fixture.refusal { store throws(AccountFailure) in try store.caller(token) } == "USER_NOT_FOUND")
        #expect(fixture.refusal { store throws(AccountFailure) in try store.rules(of: tenant) } == "TENANT_NOT_FOUND")
        var portions = 0
        while try fixture.run({ store throws(AccountFailure) in try store.removeTenants() }) { portions += 1 }
        #expect(portions == 1)
        #expect(try rows(fixture) == 0)
    }

    @Test func aTenantOfDevelopmentIsMadeAnewWhenTheOldOneIsGone() throws {
        let fixture = try fixture(users: AccountStore.removedRowsMax, isStrict: false)
        let tenant = tenant
        try fixture.run { store throws(AccountFailure) in try store.removeTenant(tenant) }
        #expect(fixture.refusal { store throws(AccountFailure) in try store.rules(of: tenant) } == "TENANT_NOT_FOUND")
        while try fixture.run({ store throws(AccountFailure) in try store.removeTenants() }) {}
        #expect(fixture.refusal { store throws(AccountFailure) in try store.rules(of: tenant) } == nil)
        #expect(try fixture.run { store throws(AccountFailure) in try store.user("u1", tenant: tenant) } == nil)
    }

    @Test func aSmallTenantIsRemovedAtOnce() throws {
        let fixture = try fixture(users: 3)
        let tenant = tenant
        try fixture.run { store throws(AccountFailure) in try store.removeTenant(tenant) }
        #expect(!fixture.store.hasNewRemoval)
        #expect(try rows(fixture) == 0)
    }
}
