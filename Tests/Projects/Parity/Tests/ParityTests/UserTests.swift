import HearthTesting
import Testing

@testable import Parity

private func refusal(_ body: () async throws -> Void) async throws -> FirebaseAuthError.Code {
    do { try await body() } catch let error as FirebaseAuthError { return error.code }
    throw TestFailure("nothing was thrown")
}

@Suite struct UserTests {
    @Test(arguments: TestTransport.everywhere) func usersAreAdministered(_ transport: TestTransport) async throws {
        try await functions.test(transport, secrets: ["KEY": "s"]) { _ in
            let made = try await auth.createUser(
                AuthUserRequest(uid: "ada", email: "Ada@example.com", password: "secret", phoneNumber: "+15555550100"))
            #expect(made.email == "ada@example.com" && !made.emailVerified && made.providerData.map(\.providerID) == ["password", "phone"])
            try await auth.setCustomUserClaims("ada", ["admin": true])
            #expect(try await auth.getUser(email: "ADA@example.com").customClaims == ["admin": true])
            let changed = try await auth.updateUser("ada", AuthUserRequest(emailVerified: true, disabled: true, removing: [.phoneNumber]))
            #expect(changed.emailVerified && changed.disabled && changed.phoneNumber == nil)
            #expect(try await refusal { _ = try await auth.createUser(AuthUserRequest(uid: "ada")) } == .uidAlreadyExists)
            #expect(try await refusal { _ = try await auth.createUser(AuthUserRequest(email: "ada@example.com")) } == .emailAlreadyExists)
            #expect(try await refusal { _ = try await auth.createUser(AuthUserRequest(email: "x")) } == .invalidEmail)
            #expect(try await refusal { _ = try await auth.createUser(AuthUserRequest(password: "short")) } == .invalidPassword)
            #expect(try await refusal { try await auth.setCustomUserClaims("ada", ["sub": 1]) } == .forbiddenClaim)
            for number in 0..<5 { _ = try await auth.createUser(AuthUserRequest(uid: "u\(number)")) }
            var uids: [String] = []
            for try await user in auth.listUsers(pageSize: 2) { uids.append(user.uid) }
            #expect(uids == ["ada", "u0", "u1", "u2", "u3", "u4"])
            #expect(try await auth.deleteUsers(["u0", "u1", "nobody"]).successCount == 3)
            try await auth.deleteUser("ada")
            #expect(try await refusal { _ = try await auth.getUser("ada") } == .userNotFound)
            #expect(try await refusal { try await auth.deleteUser("ada") } == .userNotFound)
        }
    }

    /// Tokens and tenants, which the body of a test has in memory only.
    @Test func tokensAndTenantsInMemory() async throws {
        try await functions.test(.inMemory, secrets: ["KEY": "s"]) { _ in
            let tenant = try await auth.createTenant(AuthTenantRequest(displayName: "one"))
            _ = try await auth.tenant(tenant.id).createUser(AuthUserRequest(uid: "bob"))
            #expect(try await refusal { _ = try await auth.getUser("bob") } == .userNotFound)
            #expect(try await auth.createCustomToken("bob", claims: ["a": 1]).split(separator: ".").count == 2)
            #expect(try await refusal { _ = try await auth.verifyIDToken("x") } == .argumentError)
            #expect(try await refusal { _ = try await auth.tenant("none").getUser("bob") } == .tenantNotFound)
            let provider = OIDCProviderConfig(providerID: "oidc.work", clientID: "c", issuer: "https://id.example.org", enabled: true)
            #expect(try await auth.tenant(tenant.id).createProviderConfig(provider).clientID == "c")
            #expect(try await refusal { _ = try await auth.getProviderConfig("oidc.work") } == .configurationNotFound)
            #expect(try await auth.tenant(tenant.id).listProviderConfigs().providers.map(\.providerID) == ["oidc.work"])
            let rules = AuthRules(passwordPolicy: AuthPasswordPolicy(isEnforced: true, minLength: 8), testPhoneNumbers: ["+15555550100": "123456"])
            #expect(try await auth.updateProjectConfig(AuthProjectRequest(rules: rules)).rules == rules)
            #expect(try await auth.getProjectConfig().authorizedDomains == ["localhost", "127.0.0.1"])
        }
    }
}
