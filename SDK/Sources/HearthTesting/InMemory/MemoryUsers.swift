internal import HearthFunctions
internal import HearthJSON

/// The users of a host in memory, with the methods of the host's service `auth`.
///
/// It follows the host in the checks that functions see: ids, e-mails, phone numbers, passwords, claims, and what must be unique. Tokens are not
/// signed, as those of a host in development mode. Passwords are not hashed, and nobody can sign in.
struct MemoryUsers {
    struct Tenant {
        var document: JSONObject
        var users: [String: JSONObject] = [:]
        var providers: [String: JSONObject] = [:]
    }

    let project: String
    /// The users of the project itself are those of the empty name.
    var tenants: [String: Tenant] = ["": Tenant(document: [:])]
    private var lastID = 0

    init(project: String) { self.project = project }

    /// Answers a call of the service.
    mutating func call(_ method: String, _ payload: [UInt8]) -> ServiceOutcome {
        do throws(MemoryUserRefusal) {
            guard let object = (try? JSONValue(parsing: payload))?.object else { throw .argument("the payload is not a JSON object") }
            return .value(try answer(method, object))
        } catch {
            return error.answer
        }
    }

    private mutating func answer(_ method: String, _ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        switch method {
        case "accounts:create": try create(payload)
        case "accounts:lookup": try lookup(payload)
        case "accounts:update": try update(payload)
        case "accounts:delete": try delete(payload)
        case "accounts:batchDelete": try batchDelete(payload)
        case "accounts:batchGet": try list(payload)
        case "accounts:batchCreate": try importUsers(payload)
        case "accounts:sendOobCode": try link(payload)
        case "createCustomToken": try customToken(payload)
        case "verifyIdToken": try verify(payload, "idToken", "https://securetoken.google.com/\(project)", "id-token")
        case "createSessionCookie": try sessionCookie(payload)
        case "verifySessionCookie": try verify(payload, "sessionCookie", "https://session.firebase.google.com/\(project)", "session-cookie")
        default:
            if method.hasPrefix("tenants:") {
                try tenant(method, payload)
            } else if method.hasPrefix("oauthIdpConfigs:") {
                try provider(method, payload)
            } else if method.hasPrefix("config:") {
                try configuration(method, payload)
            } else {
                throw MemoryUserRefusal.unknown(method)
            }
        }
    }

    // MARK: Users

    private func users(_ payload: JSONObject) throws(MemoryUserRefusal) -> [String: JSONObject] {
        guard let tenant = tenants[payload["tenantId"]?.string ?? ""] else { throw .noTenant }
        return tenant.users
    }

    private mutating func put(_ user: JSONObject, _ uid: String, _ payload: JSONObject) {
        tenants[payload["tenantId"]?.string ?? ""]?.users[uid] = user
    }

    private mutating func create(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        let all = try users(payload)
        lastID += 1
        let uid = payload["localId"]?.string ?? "testUser\(lastID)"
        guard (1...128).contains(uid.utf16.count) else { throw .uid }
        guard all[uid] == nil else { throw MemoryUserRefusal("uid-already-exists", "already-exists", "another user has this uid") }
        var user: JSONObject = ["localId": .string(uid), "createdAt": .string(String(TestTime.seconds * 1000))]
        if let tenant = payload["tenantId"]?.string { user["tenantId"] = .string(tenant) }
        try set(payload, in: &user, among: all)
        if payload["disabled"] == true { user["disabled"] = true }
        put(Self.finished(user), uid, payload)
        return ["localId": .string(uid)]
    }

    private mutating func update(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        let all = try users(payload)
        guard let uid = payload["localId"]?.string, !uid.isEmpty else { throw .uid }
        guard var user = all[uid] else { throw .noUser }
        try set(payload, in: &user, among: all)
        if let disabled = payload["disableUser"]?.bool { user["disabled"] = disabled ? true : nil }
        if let claims = payload["customAttributes"]?.string {
            try Self.check(claims: claims)
            user["customAttributes"] = .string(claims)
        }
        if let since = payload["validSince"] { user["validSince"] = since }
        if let link = payload["linkProviderUserInfo"] { try add(link, to: &user, among: all) }
        let attributes = ["DISPLAY_NAME": "displayName", "PHOTO_URL": "photoUrl", "EMAIL": "email", "PASSWORD": "passwordHash"]
        for name in (payload["deleteAttribute"]?.array ?? []).compactMap({ $0.string.flatMap { attributes[$0] } }) { user[name] = nil }
        for provider in (payload["deleteProvider"]?.array ?? []).compactMap(\.string) {
            if provider == "phone" { user["phoneNumber"] = nil }
            user["providerUserInfo"] = .array((user["providerUserInfo"]?.array ?? []).filter { $0["providerId"]?.string != provider })
        }
        if let mfa = payload["mfa"] { user["mfaInfo"] = mfa["enrollments"] }
        put(Self.finished(user), uid, payload)
        return ["localId": .string(uid)]
    }

    /// Sets the properties that creating and changing have in common.
    private func set(_ payload: JSONObject, in user: inout JSONObject, among all: [String: JSONObject]) throws(MemoryUserRefusal) {
        let uid = user["localId"]
        func isTaken(_ name: String, _ value: JSONValue) -> Bool { all.values.contains { $0["localId"] != uid && $0[name] == value } }
        if let email = payload["email"]?.string {
            let parts = email.split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), email.utf8.count < 256 else {
                throw MemoryUserRefusal("invalid-email", "invalid-argument", "the e-mail is not valid")
            }
            let stored = JSONValue.string(email.lowercased())
            if isTaken("email", stored) { throw MemoryUserRefusal("email-already-exists", "already-exists", "another user has this e-mail") }
            if user["email"] != stored { user["emailVerified"] = false }
            user["email"] = stored
        }
        if let phone = payload["phoneNumber"]?.string {
            guard phone.hasPrefix("+"), phone.utf8.count > 1, phone.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) else {
                throw MemoryUserRefusal("invalid-phone-number", "invalid-argument", "the phone number is not valid")
            }
            if isTaken("phoneNumber", .string(phone)) {
                throw MemoryUserRefusal("phone-number-already-exists", "already-exists", "another user has this phone number")
            }
            user["phoneNumber"] = .string(phone)
        }
        if let password = payload["password"]?.string {
            guard (6...4096).contains(password.utf16.count) else {
                throw MemoryUserRefusal("invalid-password", "invalid-argument", "the password is too weak")
            }
            user["passwordHash"] = "UkVEQUNURUQ="
        }
        for name in ["displayName", "photoUrl", "emailVerified"] { if let value = payload[name] { user[name] = value } }
    }

    private func add(_ link: JSONValue, to user: inout JSONObject, among all: [String: JSONObject]) throws(MemoryUserRefusal) {
        func isSame(_ other: JSONValue) -> Bool { other["providerId"] == link["providerId"] && other["rawId"] == link["rawId"] }
        let uid = user["localId"]
        if all.values.contains(where: { $0["localId"] != uid && ($0["providerUserInfo"]?.array ?? []).contains(where: isSame) }) {
            throw MemoryUserRefusal("credential-already-in-use", "already-exists", "another user has this account of the provider")
        }
        let others = (user["providerUserInfo"]?.array ?? []).filter { $0["providerId"] != link["providerId"] }
        user["providerUserInfo"] = .array(others + [link])
    }

    /// The user with the entries for password and phone number.
    private static func finished(_ user: JSONObject) -> JSONObject {
        var user = user
        var links = (user["providerUserInfo"]?.array ?? []).filter { !["password", "phone"].contains($0["providerId"]?.string ?? "") }
        if user["passwordHash"] != nil, let email = user["email"] {
            links.insert(["providerId": "password", "rawId": email, "email": email], at: 0)
        }
        if let phone = user["phoneNumber"] { links.append(["providerId": "phone", "rawId": phone, "phoneNumber": phone]) }
        user["providerUserInfo"] = links.isEmpty ? nil : .array(links)
        return user
    }

    private static func check(claims text: String) throws(MemoryUserRefusal) {
        guard let claims = (try? JSONValue(parsing: text))?.object else {
            throw MemoryUserRefusal("invalid-claims", "invalid-argument", "the claims are not an object")
        }
        try check(claims)
        guard text.utf16.count <= 1000 else {
            throw MemoryUserRefusal("claims-too-large", "invalid-argument", "the claims have more than 1000 characters")
        }
    }

    private static let reserved = [
        "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "nonce", "azp", "acr", "amr", "cnf", "auth_time", "firebase", "at_hash", "c_hash",
    ]

    private static func check(_ claims: JSONObject) throws(MemoryUserRefusal) {
        guard let name = reserved.first(where: { claims[$0] != nil }) else { return }
        throw MemoryUserRefusal("forbidden-claim", "invalid-argument", "the claim is reserved: \(name)")
    }

    private func lookup(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        func texts(_ name: String) -> [String] { (payload[name]?.array ?? []).compactMap(\.string) }
        let (uids, emails, phones) = (texts("localId"), texts("email").map { $0.lowercased() }, texts("phoneNumber"))
        let links = payload["federatedUserId"]?.array ?? []
        let found = try users(payload).sorted { $0.key < $1.key }.map(\.value).filter { user in
            uids.contains(user["localId"]?.string ?? "") || user["email"]?.string.map(emails.contains) == true
                || user["phoneNumber"]?.string.map(phones.contains) == true
                || (user["providerUserInfo"]?.array ?? []).contains { own in
                    links.contains { $0["providerId"] == own["providerId"] && $0["rawId"] == own["rawId"] }
                }
        }
        return found.isEmpty ? [:] : ["users": .array(found.map { .object($0) })]
    }

    private func list(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        let size = payload["maxResults"]?.int ?? 20
        guard (1...1000).contains(size) else { throw MemoryUserRefusal("invalid-argument", "invalid-argument", "a page has 1 to 1000 users") }
        let after = payload["nextPageToken"]?.string ?? ""
        let page = try users(payload).filter { $0.key > after }.sorted { $0.key < $1.key }.prefix(size)
        var answer: JSONObject = ["users": .array(page.map { .object($0.value) })]
        if page.count == size { answer["nextPageToken"] = page.last.map { .string($0.key) } }
        return .object(answer)
    }

    private mutating func delete(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        guard let uid = payload["localId"]?.string, !uid.isEmpty else { throw .uid }
        guard try users(payload)[uid] != nil else { throw .noUser }
        tenants[payload["tenantId"]?.string ?? ""]?.users[uid] = nil
        return [:]
    }

    private mutating func batchDelete(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        let uids = (payload["localIds"]?.array ?? []).compactMap(\.string)
        guard (1...1000).contains(uids.count) else {
            throw MemoryUserRefusal("maximum-user-count-exceeded", "invalid-argument", "1 to 1000 users are deleted at once")
        }
        _ = try users(payload)
        for uid in uids { tenants[payload["tenantId"]?.string ?? ""]?.users[uid] = nil }
        return [:]
    }

    private mutating func importUsers(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        let rows = payload["users"]?.array ?? []
        guard (1...1000).contains(rows.count) else {
            throw MemoryUserRefusal("maximum-user-count-exceeded", "invalid-argument", "an import has 1 to 1000 users")
        }
        var errors: [JSONValue] = []
        for (index, row) in rows.enumerated() {
            do throws(MemoryUserRefusal) {
                let all = try users(payload)
                guard let row = row.object, let uid = row["localId"]?.string, !uid.isEmpty else { throw .argument("localId is missing") }
                var user: JSONObject = ["localId": .string(uid), "createdAt": row["createdAt"] ?? .string(String(TestTime.seconds * 1000))]
                try set(row, in: &user, among: all)
                if let claims = row["customAttributes"]?.string { try Self.check(claims: claims) }
                for name in ["customAttributes", "passwordHash", "disabled"] { user[name] = row[name] }
                for link in row["providerUserInfo"]?.array ?? [] { try add(link, to: &user, among: all) }
                put(Self.finished(user), uid, payload)
            } catch {
                errors.append(["index": JSONValue(index), "message": .string(error.message)])
            }
        }
        return errors.isEmpty ? [:] : ["error": .array(errors)]
    }

    // MARK: Links and tokens

    private mutating func link(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        let email = payload["email"]?.string?.lowercased() ?? ""
        let modes = [
            "PASSWORD_RESET": "resetPassword", "VERIFY_EMAIL": "verifyEmail", "EMAIL_SIGNIN": "signIn",
            "VERIFY_AND_CHANGE_EMAIL": "verifyAndChangeEmail",
        ]
        guard let type = payload["requestType"]?.string, let mode = modes[type] else { throw .argument("requestType is missing") }
        if type != "EMAIL_SIGNIN", try !users(payload).values.contains(where: { $0["email"]?.string == email }) {
            throw type == "PASSWORD_RESET" ? MemoryUserRefusal("email-not-found", "not-found", "there is no user with this e-mail") : .noUser
        }
        lastID += 1
        return ["email": .string(email), "oobLink": .string("http://127.0.0.1/emulator/action?mode=\(mode)&lang=en&oobCode=testCode\(lastID)")]
    }

    private func customToken(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        guard let uid = payload["uid"]?.string, (1...128).contains(uid.utf16.count) else { throw .uid }
        _ = try users(payload)
        var token: JSONObject = [
            "iss": "functions@hearth.invalid", "sub": "functions@hearth.invalid", "uid": .string(uid), "iat": .int(TestTime.seconds),
            "aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit", "exp": .int(TestTime.seconds + 3600),
        ]
        if let claims = payload["claims"]?.object {
            try Self.check(claims)
            token["claims"] = .object(claims)
        }
        if let tenant = payload["tenantId"] { token["tenant_id"] = tenant }
        return ["customToken": .string(TestToken.text(.object(token)))]
    }

    private func sessionCookie(_ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        let seconds = payload["validDuration"]?.string.flatMap { Int64($0) } ?? 1_209_600
        guard (300...1_209_600).contains(seconds) else {
            throw MemoryUserRefusal("invalid-session-cookie-duration", "invalid-argument", "a session cookie lives for 5 minutes to 2 weeks")
        }
        guard var claims = TestToken.claims(payload["idToken"]?.string ?? "")?.object,
            claims["iss"]?.string == "https://securetoken.google.com/\(project)"
        else { throw MemoryUserRefusal("invalid-id-token", "invalid-argument", "the ID token is not valid") }
        claims["iss"] = .string("https://session.firebase.google.com/\(project)")
        claims["iat"] = .int(TestTime.seconds)
        claims["exp"] = .int(TestTime.seconds + seconds)
        return ["sessionCookie": .string(TestToken.text(.object(claims)))]
    }

    private func verify(_ payload: JSONObject, _ name: String, _ issuer: String, _ kind: String) throws(MemoryUserRefusal) -> JSONValue {
        guard let claims = TestToken.claims(payload[name]?.string ?? ""), claims["iss"]?.string == issuer, claims["aud"]?.string == project,
            let uid = claims["sub"]?.string
        else { throw MemoryUserRefusal("argument-error", "unauthenticated", "the token is not valid") }
        let tenant = claims["firebase"]?["tenant"]?.string
        if let wanted = payload["tenantId"]?.string, wanted != tenant {
            throw MemoryUserRefusal("mismatching-tenant-id", "permission-denied", "the token is of another tenant")
        }
        guard payload["checkRevoked"] == true else { return claims }
        guard let user = tenants[tenant ?? ""]?.users[uid] else { throw .noUser }
        if user["disabled"] == true { throw MemoryUserRefusal("user-disabled", "permission-denied", "the user is disabled") }
        if let since = user["validSince"]?.string.flatMap({ Int($0) }), claims["iat"]?.int ?? 0 < since {
            throw MemoryUserRefusal("\(kind)-revoked", "unauthenticated", "the token was revoked")
        }
        return claims
    }

    // MARK: Tenants

    private mutating func tenant(_ method: String, _ payload: JSONObject) throws(MemoryUserRefusal) -> JSONValue {
        switch method {
        case "tenants:create":
            lastID += 1
            let id = "test-tenant-\(lastID)"
            tenants[id] = Tenant(document: payload)
            return document(id)
        case "tenants:list":
            let ids = tenants.keys.filter { !$0.isEmpty && $0 > payload["pageToken"]?.string ?? "" }.sorted().prefix(payload["pageSize"]?.int ?? 20)
            var answer: JSONObject = ["tenants": .array(ids.map(document))]
            if ids.count == payload["pageSize"]?.int ?? 20 { answer["nextPageToken"] = ids.last.map { .string($0) } }
            return .object(answer)
        default: break
        }
        guard let id = payload["tenantId"]?.string, !id.isEmpty else {
            throw MemoryUserRefusal("invalid-tenant-id", "invalid-argument", "the tenant is missing")
        }
        guard tenants[id] != nil else { throw .noTenant }
        switch method {
        case "tenants:get": return document(id)
        case "tenants:update":
            for (name, value) in payload where name != "tenantId" { tenants[id]?.document[name] = value }
            return document(id)
        case "tenants:delete":
            tenants[id] = nil
            return [:]
        default: throw MemoryUserRefusal.unknown(method)
        }
    }

    private func document(_ id: String) -> JSONValue {
        var document = tenants[id]?.document ?? [:]
        document["name"] = .string("projects/\(project)/tenants/\(id)")
        return .object(document)
    }
}

/// The reason why the users in memory refuse a call.
struct MemoryUserRefusal: Error {
    var reason: String
    var code: String
    var message: String

    init(_ reason: String, _ code: String, _ message: String) { (self.reason, self.code, self.message) = (reason, code, message) }

    static let noUser = MemoryUserRefusal("user-not-found", "not-found", "there is no such user")
    static let noTenant = MemoryUserRefusal("tenant-not-found", "not-found", "there is no such tenant")
    static let uid = MemoryUserRefusal("invalid-uid", "invalid-argument", "the uid is not valid")

    static func argument(_ message: String) -> MemoryUserRefusal { MemoryUserRefusal("argument-error", "invalid-argument", message) }

    static func unknown(_ method: String) -> MemoryUserRefusal {
        MemoryUserRefusal("operation-not-allowed", "unimplemented", "there is no operation \"\(method)\" in memory")
    }

    var answer: ServiceOutcome {
        let error: JSONValue = ["code": .string(code), "message": .string(message), "details": ["reason": .string(reason)]]
        return ServiceOutcome(isOK: false, body: error.serialized())
    }
}
