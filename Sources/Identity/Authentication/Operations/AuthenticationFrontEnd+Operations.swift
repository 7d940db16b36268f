import Accounts
import EventLoop
import HearthJSON
import HTTP
import Passwords
import Tokens

/// The table of operations, and what most of them need.
extension AuthenticationFrontEnd {
    func answer(_ call: AuthCall) async throws(AuthError) -> AuthAnswer {
        if call.path.operation.isForAdministrators || call.path.operation.isOfEmulator { return try await administer(call) }
        switch call.path.operation {
        case .certificates: return try await document(.idTokenCertificates)
        case .keys: return try await document(.idTokenKeys)
        case .sessionCookieKeys: return try await document(.cookieKeys)
        case .sessionCertificates: return try await document(.cookieCertificates)
        case .discovery: return .json(discovery(call))
        case .projects: return .json(try await projectForClients(call))
        case .recaptchaParams: return .json(recaptchaParameters())
        case .recaptchaConfig: return .json(recaptchaConfiguration())
        case .passwordPolicy: return .json(try await passwordPolicy(call))
        default: break
        }
        guard call.method == .post else { throw Self.notFound }
        try await requireApp(call)
        return .json(try await answerUser(call))
    }

    private func answerUser(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        switch call.path.operation {
        case .signUp: try await signUp(call)
        case .signInWithPassword: try await signInWithPassword(call)
        case .signInWithIdp: try await signInWithProvider(call)
        case .signInWithCustomToken: try await signInWithCustomToken(call)
        case .signInWithEmailLink: try await signInWithEmailLink(call)
        case .sendVerificationCode: try await sendVerificationCode(call)
        case .signInWithPhoneNumber: try await signInWithPhoneNumber(call)
        case .createAuthURI: try await createAuthURI(call)
        case .lookup: try await lookup(call)
        case .update: try await update(call)
        case .delete: try await delete(call)
        case .sendOobCode: try await sendOobCode(call)
        case .resetPassword: try await resetPassword(call)
        case .revokeToken: try await revokeProviderToken(call)
        case .verifyIosClient: verifyIosClient(call)
        case .startEnrolment: try await startEnrolment(call)
        case .finishEnrolment: try await finishEnrolment(call)
        case .withdraw: try await withdrawFactor(call)
        case .startSecondFactor: try await startSecondFactor(call)
        case .finishSecondFactor: try await finishSecondFactor(call)
        case .token: try await refresh(call)
        default: throw Self.notFound
        }
    }

    private func document(_ kind: KeyDocumentKind) async throws(AuthError) -> AuthAnswer {
        let document = service.tools.document
        guard let bytes = await loop.offload({ document(kind) }) else { throw .unavailable }
        return .keys(bytes)
    }

    // MARK: Tokens

    /// Signs a payload on another thread.
    func sign(_ payload: JSONObject, _ signer: TokenSigner) async throws(AuthError) -> String {
        let bytes = JSONValue.object(payload).serialized()
        let signed = await loop.offload { () -> Result<String, KeyRingError> in
            do throws(KeyRingError) { return .success(try signer.sign(bytes)) } catch { return .failure(error) }
        }
        guard case .success(let token) = signed else { throw .unavailable }
        return token
    }

    /// The content of the caller's ID token; nil if the request has none.
    ///
    /// - Parameter mustExist: whether a request without a token is refused.
    func callerToken(_ call: AuthCall) async throws(AuthError) -> CallerToken? {
        guard let text = try call.body.text("idToken") else { return nil }
        return try await verified(text)
    }

    func requiredToken(_ call: AuthCall) async throws(AuthError) -> CallerToken {
        guard let token = try await callerToken(call) else { throw AuthError("MISSING_ID_TOKEN") }
        return token
    }

    /// Verifies an ID token of this host.
    func verified(_ text: String) async throws(AuthError) -> CallerToken {
        let payload = try await verifiedPayload(text)
        guard let token = CallerToken(payload: payload) else { throw AuthError("INVALID_ID_TOKEN") }
        return token
    }

    func verifiedPayload(_ text: String) async throws(AuthError) -> JSONObject {
        let bytes = Array(text.utf8)
        let verifier = service.idTokens
        let result: Result<VerifiedToken, TokenRefusal>
        if let known = verifier.cached(bytes.span) {
            result = .success(known)
        } else {
            // A task of its own: a signature is not verified on the loop.
            result = await Task { await verifier.verify(bytes) }.value
        }
        switch result {
        case .success(let token):
            guard let payload = (try? JSONValue(parsing: token.claims))?.object else { throw AuthError("INVALID_ID_TOKEN") }
            return payload
        case .failure(.expired): throw AuthError("TOKEN_EXPIRED")
        case .failure(.keysUnavailable) where isStrict: throw .unavailable
        case .failure: throw AuthError("INVALID_ID_TOKEN")
        }
    }

    /// The fields of an answer with tokens. Signs the ID token on another thread.
    func tokenFields(_ signedIn: SignedIn, hasUser: Bool = true) async throws(AuthError) -> JSONObject {
        var fields = JSONObject()
        if hasUser { fields["localId"] = .string(signedIn.user.uid) }
        if let credential = signedIn.pendingCredential {
            fields["mfaPendingCredential"] = .string(credential)
            fields["mfaInfo"] = .array(signedIn.user.factors.map { UserAnswer.factor($0, showsPhone: false) })
            return fields
        }
        guard let tokens = signedIn.tokens else { return fields }
        fields["idToken"] = .string(try await sign(tokens.payload, service.tools.idTokens))
        fields["refreshToken"] = .string(tokens.refreshToken)
        if hasUser { fields["expiresIn"] = .string(String(UserSession.tokenSeconds)) }
        return fields
    }

    // MARK: The store

    /// Runs an operation for the caller of a request, who is subject to the limits unless it is an administrator.
    func perform<Answer: Sendable>(
        for call: AuthCall, _ operation: @escaping @Sendable (AccountStore) throws(AccountFailure) -> Answer
    ) async throws(AuthError) -> Answer {
        let (address, language) = (limitedAddress(call), call.language)
        return try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try store.serving(address, language: language, operation)
        }
    }

    /// The address whose limits count for a request; nil for administrators.
    func limitedAddress(_ call: AuthCall) -> String? { call.isAdministrator ? nil : call.address }

    // MARK: Checks

    /// The e-mail of a request, in its stored form.
    func email(_ call: AuthCall, _ name: String = "email", invalid: String = "INVALID_EMAIL") throws(AuthError) -> String? {
        guard let text = try call.body.string(name) else { return nil }
        guard AccountText.isEmail(text) else { throw AuthError(text.isEmpty && invalid == "INVALID_EMAIL" ? "MISSING_EMAIL" : invalid) }
        return AccountText.canonical(email: text)
    }

    func requireStrength(_ password: String, _ rules: SignInRules) throws(AuthError) {
        guard password.utf16.count >= 6 else { throw AuthError("WEAK_PASSWORD", "Password should be at least 6 characters") }
        guard password.utf8.count <= 4096 else {
            throw AuthError(
                "PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "Missing password requirements: [Password may contain at most 4096 characters]")
        }
        try PasswordRules(rules.passwordPolicy)?.check(password)
    }

    func rules(_ tenant: String) async throws(AuthError) -> SignInRules {
        let rules = try await accounts.read(on: loop) { store throws(AccountFailure) in try store.rules(of: tenant) }
        if rules.isDisabled { throw AuthError("PROJECT_DISABLED") }
        return rules
    }

    /// The hosts whose pages and links may be used: those of the configuration, which an administrator can change.
    func authorizedDomains() async throws(AuthError) -> [String] {
        try await rules("").authorizedDomains ?? service.settings.authorizedDomains
    }

    /// Hashes a password on another thread. Refused if too many wait for that, of all clients or of this one.
    func hash(_ password: String, for call: AuthCall) async throws(AuthError) -> String { try await hash(password, client: call.address) }

    /// - Parameter client: the address of the client.
    func hash(_ password: String, client: String) async throws(AuthError) -> String {
        let hasher = service.tools.passwords
        let made = try await derived(for: client) { () -> String? in
            do throws(PasswordFailure) { return try hasher.hash(password) } catch { return nil }
        }
        guard let made else { throw .unavailable }
        return made
    }

    /// Verifies the password of a user; takes as long without one.
    func verify(_ password: String, _ user: UserRecord?, for call: AuthCall) async throws(AuthError) -> PasswordCheck {
        let hasher = service.tools.passwords
        let stored = user.flatMap { user in user.passwordHash.map { StoredPassword(hash: $0, imported: user.importedHash) } }
        return try await derived(for: call.address) { hasher.verify(password, stored) }
    }

    private func derived<R: Sendable>(for client: String, _ work: @escaping @Sendable () -> R) async throws(AuthError) -> R {
        do throws(PasswordFailure) { return try await service.tools.passwordQueue.run(for: client, work) } catch { throw .unavailable }
    }
}
