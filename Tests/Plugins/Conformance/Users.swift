import HearthFunctions

/// One call of the plugin library's users: {"do": "create", "uid": "ada", ...} and so on. A refusal is a result too.
@Sendable func usersStep(_ request: CallableRequest<JSONValue>) async throws -> JSONValue {
    let step = request.data
    let users = step["tenant"]?.string.map { auth.tenant($0) } ?? auth
    do throws(FirebaseAuthError) {
        guard let answer = try await onOne(step, users) else { return try await onMany(step, users) }
        return answer
    } catch {
        return ["refused": .string(error.code.rawValue), "message": .string(error.message)]
    }
}

/// The service itself: {"method": "accounts:lookup", "payload": ..., "count": 1}. With a count, as many calls at once,
/// and the number of refused ones.
/// "padding" is the length of a text that is added to the payload as "displayName".
@Sendable func usersRaw(_ request: CallableRequest<JSONValue>) async throws -> JSONValue {
    let method = request.data["method"]?.string ?? ""
    var payload = request.data["payload"] ?? .null
    if let padding = request.data["padding"]?.int { payload["displayName"] = .string(String(repeating: "x", count: padding)) }
    do {
        guard let count = request.data["count"]?.int else { return try await services.call("auth", method, payload) }
        let sent = payload
        return await withTaskGroup { group in
            for _ in 0..<count { group.addTask { (try? await services.call("auth", method, sent)) == nil } }
            return JSONValue(await group.reduce(0) { $0 + ($1 ? 1 : 0) })
        }
    } catch let error as HttpsError {
        return ["refused": .string(error.code.rawValue), "message": .string(error.message), "details": error.details as? JSONValue ?? .null]
    }
}

private func onOne(_ step: JSONValue, _ users: Auth) async throws(FirebaseAuthError) -> JSONValue? {
    let uid = step["uid"]?.string ?? ""
    let claims = step["claims"]?.object
    switch step["do"]?.string {
    case "get": return shown(try await users.getUser(uid))
    case "getByEmail": return shown(try await users.getUser(email: step["email"]?.string ?? ""))
    case "getByPhone": return shown(try await users.getUser(phoneNumber: step["phone"]?.string ?? ""))
    case "getByProvider": return shown(try await users.getUser(providerID: step["provider"]?.string ?? "", uid: uid))
    case "create": return shown(try await users.createUser(wanted(step)))
    case "update": return shown(try await users.updateUser(uid, wanted(step)))
    case "delete": try await users.deleteUser(uid)
    case "claims": try await users.setCustomUserClaims(uid, claims)
    case "revoke": try await users.revokeRefreshTokens(uid)
    case "customToken": return .string(try await users.createCustomToken(uid, claims: claims))
    case "verify": return decoded(try await users.verifyIDToken(step["token"]?.string ?? "", checkRevoked: step["checked"]?.bool ?? false))
    case "cookie":
        return .string(try await users.createSessionCookie(step["token"]?.string ?? "", validFor: .seconds(step["seconds"]?.int ?? 3600)))
    case "verifyCookie":
        return decoded(try await users.verifySessionCookie(step["token"]?.string ?? "", checkRevoked: step["checked"]?.bool ?? false))
    default: return nil
    }
    return .null
}

private func onMany(_ step: JSONValue, _ users: Auth) async throws(FirebaseAuthError) -> JSONValue {
    let email = step["email"]?.string ?? ""
    let settings = step["url"]?.string.map { ActionCodeSettings(url: $0, handleCodeInApp: true) }
    let uids = (step["uids"]?.array ?? []).compactMap(\.string)
    switch step["do"]?.string {
    case "getMany":
        let (found, missing) = try await users.getUsers(uids.map { .uid($0) } + (email.isEmpty ? [] : [.email(email)]))
        return ["users": .array(found.map { .string($0.uid) }), "missing": JSONValue(missing.count)]
    case "list":
        var found: [JSONValue] = []
        for try await user in users.listUsers(pageSize: step["size"]?.int ?? 1000) { found.append(.string(user.uid)) }
        return .array(found)
    case "deleteMany":
        let (count, failures) = try await users.deleteUsers(uids)
        return ["deleted": JSONValue(count), "failures": .array(failures.map { .string($0.message) })]
    case "import":
        let hash = Array("4b8a1c".utf8)
        let rows = uids.map { AuthUserImport(uid: $0, email: "\($0)@example.com", passwordHash: hash, passwordSalt: Array("salt".utf8)) }
        let (count, failures) = try await users.importUsers(rows, hash: .pbkdf2SHA256(rounds: 1000))
        return ["imported": JSONValue(count), "failures": .array(failures.map { .string("\($0.index) \($0.message)") })]
    case "resetLink": return .string(try await users.generatePasswordResetLink(email, settings))
    case "verifyLink": return .string(try await users.generateEmailVerificationLink(email, settings))
    case "signInLink": return .string(try await users.generateSignInWithEmailLink(email, settings ?? ActionCodeSettings(url: "")))
    case "changeLink": return .string(try await users.generateVerifyAndChangeEmailLink(email, newEmail: step["newEmail"]?.string ?? ""))
    case "createTenant": return .string(try await users.createTenant(AuthTenantRequest(displayName: "one", allowPasswordSignup: true)).id)
    case "tenants":
        let name = step["tenantId"]?.string ?? ""
        let changed = try await users.updateTenant(name, AuthTenantRequest(enableAnonymousUser: true))
        let found = try await users.getTenant(name)
        let listed = try await users.listTenants().tenants.map(\.id)
        try await users.deleteTenant(name)
        return ["same": .bool(changed == found && found.allowsPasswordSignup && found.enablesAnonymousUser), "listed": .bool(listed.contains(name))]
    default: return try await onSettings(step, users)
    }
}

private func onSettings(_ step: JSONValue, _ users: Auth) async throws(FirebaseAuthError) -> JSONValue {
    let id = step["id"]?.string ?? ""
    let wanted = OIDCProviderConfig(
        providerID: id, clientID: step["client"]?.string, issuer: step["issuer"]?.string, displayName: step["name"]?.string,
        enabled: step["enabled"]?.bool, usesCode: step["code"]?.bool)
    switch step["do"]?.string {
    case "createProvider": return shown(try await users.createProviderConfig(wanted))
    case "getProvider": return shown(try await users.getProviderConfig(id))
    case "updateProvider": return shown(try await users.updateProviderConfig(wanted))
    case "deleteProvider":
        try await users.deleteProviderConfig(id)
        return .null
    case "listProviders":
        let (found, next) = try await users.listProviderConfigs(maxResults: step["size"]?.int ?? 100)
        return ["ids": .array(found.map { .string($0.providerID) }), "hasMore": .bool(next != nil)]
    case "rules":
        let rules = AuthRules(
            multiFactor: AuthMultiFactorConfig(isEnabled: true, allowsTOTP: false),
            passwordPolicy: AuthPasswordPolicy(isEnforced: true, forceUpgradeOnSignin: true, minLength: 8, requireNumeric: true),
            smsRegions: .only(["US"]), improvedEmailPrivacy: true, testPhoneNumbers: ["+15555550100": "123456"])
        guard let tenant = step["tenantId"]?.string else {
            let changed = try await users.updateProjectConfig(AuthProjectRequest(authorizedDomains: ["example.org"], rules: rules))
            let found = try await users.getProjectConfig()
            return ["kept": .bool(changed == found && found.rules == rules && found.authorizedDomains == ["example.org"])]
        }
        let changed = try await users.updateTenant(tenant, AuthTenantRequest(rules: rules))
        let found = try await users.getTenant(tenant)
        return ["kept": .bool(changed == found && found.rules == rules && found.displayName == "one")]
    case "badNumbers":
        _ = try await users.updateProjectConfig(AuthProjectRequest(rules: AuthRules(testPhoneNumbers: ["1": "2"])))
        return .null
    default: throw FirebaseAuthError(.invalidArgument, "no such step")
    }
}

private func shown(_ provider: OIDCProviderConfig) -> JSONValue {
    var object: JSONObject = ["id": .string(provider.providerID)]
    object["client"] = provider.clientID.map { .string($0) }
    object["issuer"] = provider.issuer.map { .string($0) }
    object["name"] = provider.displayName.map { .string($0) }
    object["enabled"] = provider.enabled.map { .bool($0) }
    object["code"] = provider.usesCode.map { .bool($0) }
    return .object(object)
}

private func wanted(_ step: JSONValue) -> AuthUserRequest {
    var request = AuthUserRequest(
        uid: step["do"] == "create" ? step["uid"]?.string : nil, email: step["email"]?.string, emailVerified: step["verified"]?.bool,
        password: step["password"]?.string, displayName: step["name"]?.string, phoneNumber: step["phone"]?.string, disabled: step["disabled"]?.bool)
    if let provider = step["provider"]?.string {
        request.providerToLink = AuthUserInfo(uid: step["rawId"]?.string ?? "", providerID: provider)
    }
    for name in (step["remove"]?.array ?? []).compactMap(\.string) {
        switch name {
        case "name": request.removing.append(.displayName)
        case "phone": request.removing.append(.phoneNumber)
        case "password": request.removing.append(.password)
        case "factors": request.removing.append(.multiFactor)
        default: request.removing.append(.provider(name))
        }
    }
    return request
}

private func shown(_ user: AuthUserRecord) -> JSONValue {
    var object: JSONObject = [
        "uid": .string(user.uid), "verified": .bool(user.emailVerified), "disabled": .bool(user.disabled), "claims": .object(user.customClaims),
        "providers": .array(user.providerData.map { .string("\($0.providerID) \($0.uid)") }), "isNew": .bool(user.metadata.lastSignInTime == nil),
        "hasPassword": .bool(user.passwordHash != nil), "factors": JSONValue(user.enrolledFactors.count),
    ]
    object["email"] = user.email.map { .string($0) }
    object["name"] = user.displayName.map { .string($0) }
    object["phone"] = user.phoneNumber.map { .string($0) }
    object["tenant"] = user.tenantID.map { .string($0) }
    return .object(object)
}

private func decoded(_ token: DecodedToken) -> JSONValue { ["uid": .string(token.uid), "claims": token.claims] }
