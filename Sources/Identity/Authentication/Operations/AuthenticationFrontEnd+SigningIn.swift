import Accounts
import EventLoop
import HearthJSON
import Passwords

/// Signing up, and signing in with e-mail and password, and refreshing.
extension AuthenticationFrontEnd {
    func signUp(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let body = call.body
        if call.isAdministrator { return try await create(call) }
        if body.has("localId") { throw AuthError("UNEXPECTED_PARAMETER", "User ID") }
        let tenant = try call.namedTenant()
        let token = try await callerToken(call)
        let rules = try await rules(tenant ?? token?.tenant ?? "")
        guard token != nil || body.has("email") || body.has("password") else {
            guard rules.allowsAnonymous else { throw AuthError("ADMIN_ONLY_OPERATION") }
            let new = try newUser(call)
            let signedIn = try await perform(for: call) { store throws(AccountFailure) in try store.signUp(new, tenant: tenant ?? "") }
            return .object(try await signUpFields(signedIn))
        }
        guard let email = try email(call) else { throw AuthError("MISSING_EMAIL") }
        guard let password = try body.text("password") else { throw AuthError("MISSING_PASSWORD") }
        guard rules.allowsPassword else { throw AuthError("OPERATION_NOT_ALLOWED") }
        try requireStrength(password, rules)
        let place = tenant ?? token?.tenant ?? ""
        try await perform(for: call) { store throws(AccountFailure) in
            try store.requireFree(email: email, tenant: place, caller: token)
        }
        var new = try newUser(call)
        new.email = email
        let hash = try await hash(password, for: call)
        new.passwordHash = hash
        let (complete, link) = (new, try await recoveryLink(call.links, tenant: place, isNeeded: token != nil))
        let signedIn = try await decided(call, method: "password") { store throws(AccountFailure) -> SignedIn in
            guard let token else { return try store.signUp(complete, tenant: place) }
            return try store.linkPassword(
                email: email, hash: hash, displayName: complete.displayName, caller: token, tenant: tenant, recoveryLink: link)
        }
        tell(signedIn)
        return .object(try await signUpFields(signedIn))
    }

    /// The data that a client may set when it signs up.
    private func newUser(_ call: AuthCall) throws(AuthError) -> NewUser {
        var new = NewUser()
        new.displayName = try call.body.text("displayName")
        guard !isStrict else { return new }
        // The emulator lets clients enrol second factors in this way.
        new.factors = try factors(call.body.bodies("mfaInfo"), mustHaveID: false)
        return new
    }

    private func signUpFields(_ signedIn: SignedIn) async throws(AuthError) -> JSONObject {
        var fields: JSONObject = ["kind": "identitytoolkit#SignupNewUserResponse"]
        fields["email"] = signedIn.user.email.map { .string($0) }
        fields["displayName"] = signedIn.user.displayName.map { .string($0) }
        for (name, value) in try await tokenFields(signedIn) { fields[name] = value }
        return fields
    }

    /// Refusals of passwords end at a multiple of this time if hashes differ in their cost.
    private static var refusalMilliseconds: UInt64 { 500 }

    /// Waits until the time of a refusal tells nothing about the hash that was verified, or whether there was one.
    private func evenOut(since begun: UInt64) async {
        let passed = (EventLoop.monotonicNanoseconds() - begun) / 1_000_000
        await loop.sleep(milliseconds: Self.refusalMilliseconds - passed % Self.refusalMilliseconds)
    }

    func signInWithPassword(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let begun = EventLoop.monotonicNanoseconds()
        let tenant = try call.tenant()
        let rules = try await rules(tenant)
        guard rules.allowsPassword else { throw AuthError("PASSWORD_LOGIN_DISABLED") }
        guard let email = try email(call) else { throw AuthError("MISSING_EMAIL") }
        guard let password = try call.body.text("password") else { throw AuthError("MISSING_PASSWORD") }
        let address = call.address
        let (user, hasForeignHashes) = try await accounts.read(on: loop) { store throws(AccountFailure) in
            try store.passwordUser(email: email, tenant: tenant, address: address)
        }
        if let user, user.isDisabled, !isStrict || !rules.protectsEmails { throw AuthError("USER_DISABLED") }
        let verdict = try await verify(password, user, for: call)
        guard let user, let hash = user.passwordHash, verdict.isRight else {
            try await accounts.perform(on: loop) { store throws(AccountFailure) in
                try store.passwordFailed(email: email, tenant: tenant, address: address)
            }
            if isStrict, hasForeignHashes, rules.protectsEmails { await evenOut(since: begun) }
            guard !rules.protectsEmails else { throw AuthError("INVALID_LOGIN_CREDENTIALS") }
            throw AuthError(user == nil ? "EMAIL_NOT_FOUND" : "INVALID_PASSWORD")
        }
        try PasswordRules(rules.passwordPolicy)?.checkAtSignIn(password)
        let better = verdict.better
        let signedIn = try await decided(call, method: "password") { store throws(AccountFailure) in
            try store.passwordSucceeded(user.uid, hash: hash, better: better, email: email, tenant: tenant, address: address)
        }
        var fields: JSONObject = ["kind": "identitytoolkit#VerifyPasswordResponse", "registered": true, "email": .string(email)]
        // The SDKs for Apple platforms and the web read it from here.
        fields["displayName"] = .string(signedIn.user.displayName ?? "")
        fields["profilePicture"] = signedIn.user.photoURL.map { .string($0) }
        for (name, value) in try await tokenFields(signedIn) { fields[name] = value }
        return .object(fields)
    }

    func signInWithEmailLink(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let token = try await callerToken(call)
        let tenant = try call.namedTenant() ?? token?.tenant ?? ""
        guard try await rules(tenant).allowsEmailLink else { throw AuthError("OPERATION_NOT_ALLOWED") }
        guard let email = try email(call) else { throw AuthError("MISSING_EMAIL") }
        guard let code = try call.body.text("oobCode") else { throw AuthError("MISSING_OOB_CODE") }
        let link = try await recoveryLink(call.links, tenant: tenant, isNeeded: token != nil)
        let signedIn = try await decided(call, method: "emailLink") { store throws(AccountFailure) in
            try store.signIn(emailCode: code, email: email, tenant: tenant, caller: token, recoveryLink: link)
        }
        tell(signedIn)
        var fields: JSONObject = [
            "kind": "identitytoolkit#EmailLinkSigninResponse", "email": .string(email), "isNewUser": .bool(signedIn.isNew),
        ]
        for (name, value) in try await tokenFields(signedIn) { fields[name] = value }
        return .object(fields)
    }

    func refresh(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        guard let grant = try call.body.text("grantType") else { throw AuthError("MISSING_GRANT_TYPE") }
        guard grant == "refresh_token" else { throw AuthError("INVALID_GRANT_TYPE") }
        guard let token = try call.body.text("refreshToken") else { throw AuthError("MISSING_REFRESH_TOKEN") }
        let signedIn = try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.refresh(token) }
        let fields = try await tokenFields(signedIn)
        return [
            "id_token": fields["idToken"] ?? nil, "access_token": fields["idToken"] ?? nil, "expires_in": fields["expiresIn"] ?? nil,
            "refresh_token": fields["refreshToken"] ?? nil, "token_type": "Bearer", "user_id": .string(signedIn.user.uid),
            "project_id": .string(service.policy.projectNumber),
        ]
    }

    func lookup(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        if call.isAdministrator { return try await lookupForAdministrator(call) }
        let token = try await requiredToken(call)
        let tenant = try call.namedTenant()
        let user = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.caller(token, tenant: tenant) }
        let reader: UserAnswer.Reader = isStrict ? .user(isStrict: true) : .administrator
        return ["kind": "identitytoolkit#GetAccountInfoResponse", "users": .array([UserAnswer.user(user, for: reader)])]
    }

    func delete(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let answer: JSONValue = ["kind": "identitytoolkit#DeleteAccountResponse"]
        if call.isAdministrator {
            guard let uid = try call.body.text("localId") else { throw AuthError("MISSING_LOCAL_ID") }
            let tenant = try call.tenant()
            try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.delete(uid: uid, tenant: tenant) }
            return answer
        }
        let token = try await requiredToken(call)
        let tenant = try call.namedTenant()
        try await accounts.perform(on: loop) { store throws(AccountFailure) in try store.delete(token, tenant: tenant) }
        return answer
    }
}
