import Accounts
import HearthBytes
import HearthJSON

/// Importing users with the hashes of their passwords.
extension AuthenticationFrontEnd {
    private static var usersMax: Int { 1000 }

    /// The parameters of hashes, which are stored with each user until the password is known.
    static let hashParameters: Set = [
        "hashAlgorithm", "signerKey", "saltSeparator", "rounds", "memoryCost", "cpuMemCost", "blockSize", "parallelization", "dkLen",
        "passwordHashOrder", "argon2Parameters",
    ]

    func importUsers(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try await existingTenant(call)
        let rows = try call.body.bodies("users")
        guard !rows.isEmpty, rows.count <= Self.usersMax else { throw AuthError("MISSING_USER_ACCOUNT") }
        if try call.body.bool("sanityCheck") ?? false { try checkDuplicates(rows) }
        var hashing = JSONObject()
        for name in Self.hashParameters { if let value = call.body.object[name], !value.isNull { hashing[name] = value } }
        var users: [(index: Int, user: UserRecord)] = []
        var errors: [(index: Int, message: String)] = []
        for (index, row) in rows.enumerated() {
            do throws(ImportRefusal) { users.append((index, try user(row, tenant, hashing))) } catch { errors.append((index, error.message)) }
        }
        for (position, (index, _)) in users.enumerated() {
            if let password = try rows[index].text("rawPassword") { users[position].user.passwordHash = try await hash(password, for: call) }
        }
        let mayReplace = try call.body.bool("allowOverwrite") ?? true
        let accepted = users
        errors += try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try store.importUsers(accepted, mayReplace: mayReplace)
        }
        var fields: JSONObject = ["kind": "identitytoolkit#UploadAccountResponse"]
        errors.sort { $0.index < $1.index }
        if !errors.isEmpty {
            fields["error"] = .array(errors.map { ["index": .int(Int64($0.index)), "message": .string($0.message)] })
        }
        return .object(fields)
    }

    /// Refuses a list that names an id, e-mail or linked account twice.
    private func checkDuplicates(_ rows: [AuthBody]) throws(AuthError) {
        // By their bytes, as they are stored.
        var seen: Set<[UInt8]> = []
        func isNew(_ text: String) -> Bool { seen.insert(Array(text.utf8)).inserted }
        for row in rows {
            if let uid = try row.text("localId"), !isNew("u\(uid)") { throw AuthError("DUPLICATE_LOCAL_ID", uid) }
            if let email = try row.text("email").map({ AccountText.canonical(email: $0) }), !isNew("e\(email)") {
                throw AuthError("DUPLICATE_EMAIL", email)
            }
            for link in try row.bodies("providerUserInfo") {
                guard let provider = try link.text("providerId"), let rawID = try link.text("rawId", "federatedId") else { continue }
                guard isNew("p\(provider)/\(rawID)") else {
                    throw AuthError("DUPLICATE_RAW_ID", "Provider id(\(provider)), Raw id(\(rawID))")
                }
            }
        }
    }

    /// The reason why a row is not imported.
    private struct ImportRefusal: Error {
        var message: String
    }

    private func user(_ row: AuthBody, _ tenant: String, _ hashing: JSONObject) throws(ImportRefusal) -> UserRecord {
        do throws(AuthError) {
            guard let uid = try row.text("localId"), AccountText.isUserID(uid) else { return try refuse("localId is missing") }
            var user = UserRecord(tenant: tenant, uid: uid, created: try row.integer("createdAt") ?? service.policy.clock())
            if let email = try row.text("email") {
                guard AccountText.isEmail(email) else { return try refuse("email is invalid") }
                user.email = AccountText.canonical(email: email)
            }
            user.isEmailVerified = try row.bool("emailVerified") ?? false
            user.displayName = try row.text("displayName")
            user.photoURL = try row.text("photoUrl")
            user.isDisabled = try row.bool("disabled") ?? false
            user.lastLogin = try row.integer("lastLoginAt")
            user.validSinceSeconds = try row.integer("validSince")
            user.phone = try row.text("phoneNumber")
            if let phone = user.phone, !AccountText.isPhone(phone, isStrict: isStrict) { return try refuse("phone number format is invalid") }
            user.customAttributes = try row.text("customAttributes")
            try readPassword(row, hashing, to: &user)
            for link in try row.bodies("providerUserInfo") { try add(link, to: &user) }
            user.factors = try factors(row.bodies("mfaInfo"), mustHaveID: false)
            if !user.factors.isEmpty {
                guard user.email != nil else { return try refuse("Second factor account requires email to be presented.") }
                guard user.isEmailVerified else { return try refuse("Second factor account requires email to be verified.") }
            }
            if let text = user.customAttributes { try checkClaims(text) }
            return user
        } catch {
            throw ImportRefusal(message: error.message)
        }
    }

    private func refuse(_ message: String) throws(AuthError) -> UserRecord { throw AuthError(message) }

    private func checkClaims(_ text: String) throws(AuthError) {
        do throws(AuthError) { try ReservedClaims.check(attributes: text) } catch {
            switch error.code {
            case "FORBIDDEN_CLAIM": throw AuthError("Custom claims provided include a reserved claim.")
            case "CLAIMS_TOO_LARGE": throw AuthError("Custom claims provided are too large.")
            default: throw AuthError("Invalid custom claims provided.")
            }
        }
    }

    private func readPassword(_ row: AuthBody, _ hashing: JSONObject, to user: inout UserRecord) throws(AuthError) {
        if try row.text("rawPassword") != nil {
            user.passwordChanged = service.policy.clock()
        } else if let hash = try row.text("passwordHash") {
            // Files of `hearth auth:export --all-fields` have an algorithm for each user.
            var parameters = hashing
            if let own = try row.body("passwordHashParameters") {
                parameters = JSONObject(own.object.filter { Self.hashParameters.contains($0.key) && !$0.value.isNull }.map { ($0.key, $0.value) })
            }
            parameters["salt"] = try row.text("salt").map { .string($0) }
            user.passwordHash = hash
            user.importedHash = .object(parameters)
        }
        if user.passwordHash != nil { user.passwordChanged = try row.integer("passwordUpdatedAt") ?? service.policy.clock() }
    }

    private func add(_ link: AuthBody, to user: inout UserRecord) throws(AuthError) {
        guard let provider = try link.text("providerId") else { throw AuthError("federatedId or (providerId & rawId) is required") }
        switch provider {
        case "password": return
        case "phone":
            if user.phone == nil { user.phone = try link.text("phoneNumber", "rawId") }
            return
        default: break
        }
        guard let rawID = try link.text("rawId", "federatedId") else {
            throw AuthError("federatedId or (providerId & rawId) is required")
        }
        var read = LinkedProvider(provider: provider, rawID: rawID)
        read.email = try link.text("email").map { AccountText.canonical(email: $0) }
        read.displayName = try link.text("displayName")
        read.photoURL = try link.text("photoUrl")
        read.screenName = try link.text("screenName")
        user.providers.append(read)
    }
}
