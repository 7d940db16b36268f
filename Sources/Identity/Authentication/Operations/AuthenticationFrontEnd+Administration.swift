import Accounts
import EventLoop
import HearthJSON
import HTTP

/// The operations of administrators on users.
extension AuthenticationFrontEnd {
    func administer(_ call: AuthCall) async throws(AuthError) -> AuthAnswer {
        switch (call.path.operation, call.method) {
        case (.create, .post): .json(try await create(call))
        case (.batchGet, .get), (.batchGet, .post): .json(try await list(call))
        case (.batchCreate, .post): .json(try await importUsers(call))
        case (.batchDelete, .post): .json(try await batchDelete(call))
        case (.query, .post), (.queryAccounts, .post): .json(try await query(call))
        case (.createSessionCookie, .post): .json(try await createSessionCookie(call))
        case (.config, _): .json(try await projectConfiguration(call))
        case (.tenants, _): .json(try await tenants(call))
        case (.oauthProviders, _), (.samlProviders, _), (.standardProviders, _): .json(try await providers(call))
        case (.emulatorAccounts, .delete), (.emulatorConfig, _), (.emulatorCodes, .get), (.emulatorMessages, .get), (.emulatorAction, .get):
            try await emulate(call)
        default: throw Self.notFound
        }
    }

    /// The tenant of an administrator's request, which must exist.
    func existingTenant(_ call: AuthCall) async throws(AuthError) -> String {
        let tenant = try call.tenant()
        guard !tenant.isEmpty else { return tenant }
        _ = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.existingTenant(tenant) }
        return tenant
    }

    func create(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let body = call.body
        let tenant = try await existingTenant(call)
        var new = NewUser()
        new.uid = try body.text("localId")
        new.email = try email(call)
        new.isEmailVerified = try body.bool("emailVerified") ?? false
        new.displayName = try body.text("displayName")
        new.photoURL = try body.text("photoUrl")
        new.isDisabled = try body.bool("disabled") ?? false
        new.phone = try body.text("phoneNumber")
        if let phone = new.phone, !AccountText.isPhone(phone, isStrict: isStrict) { throw AuthError("INVALID_PHONE_NUMBER", "Invalid format.") }
        new.factors = try factors(body.bodies("mfaInfo"), mustHaveID: false)
        if let password = try body.text("password") {
            try requireStrength(password, try await rules(tenant))
            new.passwordHash = try await hash(password, for: call)
        }
        let complete = new
        let user = try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.create(complete, tenant: tenant) }
        var fields: JSONObject = ["kind": "identitytoolkit#SignupNewUserResponse", "localId": .string(user.uid)]
        fields["email"] = user.email.map { .string($0) }
        fields["displayName"] = user.displayName.map { .string($0) }
        return .object(fields)
    }

    func lookupForAdministrator(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let body = call.body
        let tenant = try await existingTenant(call)
        let uids = try body.strings("localId")
        let emails = try body.strings("email").map { AccountText.canonical(email: $0) }
        let phones = try body.strings("phoneNumber")
        var links: [(String, String)] = []
        for entry in try body.bodies("federatedUserId") {
            if let provider = try entry.text("providerId"), let rawID = try entry.text("rawId") { links.append((provider, rawID)) }
        }
        guard uids.count + emails.count + phones.count + links.count <= 1000 else { throw AuthBody.invalid("too many identifiers") }
        let wanted = links
        let users = try await accounts.read(on: loop) { store throws(AccountFailure) -> [UserRecord] in
            var found: [UserRecord] = []
            var seen: Set<[UInt8]> = []
            func take(_ user: UserRecord?) { if let user, seen.insert(Array(user.uid.utf8)).inserted { found.append(user) } }
            for uid in uids { take(try store.user(uid, tenant: tenant)) }
            for email in emails { take(try store.user(email: email, tenant: tenant)) }
            for phone in phones { take(try store.user(phone: phone, tenant: tenant)) }
            for (provider, rawID) in wanted { take(try store.user(provider: provider, rawID: rawID, tenant: tenant)) }
            return found
        }
        var fields: JSONObject = ["kind": "identitytoolkit#GetAccountInfoResponse"]
        if !users.isEmpty { fields["users"] = .array(users.map { UserAnswer.user($0, for: .administrator) }) }
        return .object(fields)
    }

    private func batchDelete(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try await existingTenant(call)
        let uids = try call.body.strings("localIds")
        guard (1...1000).contains(uids.count) else { throw AuthError("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
        let force = try call.body.bool("force") ?? false
        let refused = try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try store.delete(uids: uids, tenant: tenant, force: force)
        }
        guard !refused.isEmpty else { return .object(JSONObject()) }
        return [
            "errors": .array(
                refused.map { index in
                    [
                        "index": .int(Int64(index)), "localId": .string(uids[index]),
                        "message": "NOT_DISABLED : Disable the account before batch deletion.",
                    ]
                })
        ]
    }

    private func list(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try await existingTenant(call)
        let inBody = try call.body.integer("maxResults")
        let wanted = call.query["maxResults"].flatMap { Int($0) } ?? inBody.map { Int(clamping: $0) } ?? 20
        guard wanted >= 0 || !isStrict else { throw AuthError("INVALID_PAGE_SELECTION") }
        let limit = wanted < 0 ? Int.max : min(max(wanted, 1), 1000)
        let token = try call.body.string("nextPageToken")
        let after = call.query["nextPageToken"] ?? token ?? ""
        let (users, mayHaveMore) = try await accounts.read(on: loop) { store throws(AccountFailure) in
            try store.users(tenant: tenant, after: after, limit: limit)
        }
        var fields: JSONObject = ["kind": "identitytoolkit#DownloadAccountResponse"]
        let reader: UserAnswer.Reader = call.query["hashParameters"] == "true" ? .exporter : .administrator
        fields["users"] = .array(users.map { UserAnswer.user($0, for: reader) })
        if mayHaveMore, let last = users.last { fields["nextPageToken"] = .string(last.uid) }
        return .object(fields)
    }

    private func query(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let body = call.body
        let tenant = try await existingTenant(call)
        guard try body.bool("returnUserInfo") ?? true else {
            let count = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.userCount(tenant: tenant) }
            return ["recordsCount": .string(String(count))]
        }
        let expressions = try body.bodies("expression")
        let users: [UserRecord]
        if expressions.isEmpty {
            let order = try body.text("sortBy").flatMap { AccountStore.Order(rawValue: $0) } ?? .USER_ID
            let isDescending = try body.text("order") == "DESC"
            let limit = min(max(Int(try body.integer("limit") ?? 500), 1), 500)
            let offset = min(max(Int(try body.integer("offset") ?? 0), 0), 1 << 40)
            users = try await accounts.read(on: loop) { store throws(AccountFailure) in
                try store.users(tenant: tenant, order: order, isDescending: isDescending, offset: offset, limit: limit)
            }
        } else {
            users = try await find(expressions, tenant)
        }
        var fields: JSONObject = ["recordsCount": .string(String(users.count))]
        fields["userInfo"] = .array(users.map { UserAnswer.user($0, for: .administrator) })
        return .object(fields)
    }

    /// The users that match one of the expressions.
    private func find(_ expressions: [AuthBody], _ tenant: String) async throws(AuthError) -> [UserRecord] {
        var wanted: [(email: String?, phone: String?, uid: String?)] = []
        for expression in expressions.prefix(100) {
            let email = try expression.text("email").map { AccountText.canonical(email: $0) }
            wanted.append((email, try expression.text("phoneNumber"), try expression.text("userId")))
        }
        let list = wanted
        return try await accounts.read(on: loop) { store throws(AccountFailure) -> [UserRecord] in
            var found: [UserRecord] = []
            for (email, phone, uid) in list {
                var user: UserRecord?
                if let email { user = try store.user(email: email, tenant: tenant) }
                if let phone { user = try store.user(phone: phone, tenant: tenant) }
                if let uid { user = try store.user(uid, tenant: tenant) }
                if let user, !found.contains(where: { $0.uid.isExactly(user.uid) }) { found.append(user) }
            }
            return found
        }
    }

    private func createSessionCookie(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        guard let text = try call.body.text("idToken") else { throw AuthError("MISSING_ID_TOKEN") }
        let seconds = try call.body.integer("validDuration") ?? 1_209_600
        guard (300...1_209_600).contains(seconds) else { throw AuthError("INVALID_DURATION") }
        var payload = try await verifiedPayload(text)
        guard let token = CallerToken(payload: payload) else { throw AuthError("INVALID_ID_TOKEN") }
        let tenant = try call.namedTenant()
        _ = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.caller(token, tenant: tenant) }
        let now = service.policy.clock() / 1000
        payload["iss"] = .string("https://session.firebase.google.com/\(service.policy.project)")
        payload["iat"] = .int(now)
        payload["exp"] = .int(now + seconds)
        return ["sessionCookie": .string(try await sign(payload, service.tools.cookies))]
    }
}
