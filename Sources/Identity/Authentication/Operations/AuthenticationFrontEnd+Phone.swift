import Accounts
import HearthJSON

/// Signing in with a phone number.
extension AuthenticationFrontEnd {
    func sendVerificationCode(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try call.tenant()
        guard tenant.isEmpty else { throw AuthError("UNSUPPORTED_TENANT_OPERATION") }
        let rules = try await rules(tenant)
        guard rules.allowsPhone else { throw AuthError("OPERATION_NOT_ALLOWED") }
        guard let phone = try call.body.text("phoneNumber"), AccountText.isPhone(phone, isStrict: isStrict) else {
            throw AuthError("INVALID_PHONE_NUMBER", "Invalid format.")
        }
        let isForTests = rules.testNumbers[phone] != nil
        if !isForTests { try await requirePerson(call.body, call) }
        let code = try await message("SIGN_IN_OR_SIGN_UP", to: phone, isForTests: isForTests, call, tenant: tenant) { store throws(AccountFailure) in
            try store.addSignInMessage(phone, tenant: tenant)
        }
        try await send(code, call)
        return ["sessionInfo": .string(code.sessionInfo)]
    }

    /// Refuses to have a text message sent for a program, if that can be told. Receipts of phones prove nothing here: their SDKs show a
    /// reCAPTCHA after this refusal.
    ///
    /// - Parameter proof: the part of the request with the token.
    func requirePerson(_ proof: AuthBody?, _ call: AuthCall) async throws(AuthError) {
        guard isStrict, service.settings.recaptchaSiteKey != nil, !call.isAdministrator else { return }
        guard let token = try proof?.text("recaptchaToken") else {
            let receipts = ["iosReceipt", "playIntegrityToken", "safetyNetToken"]
            throw AuthError(receipts.contains { proof?.has($0) == true } ? "INVALID_APP_CREDENTIAL" : "MISSING_APP_CREDENTIAL")
        }
        guard token.utf8.count <= Self.recaptchaBytesMax else { throw AuthError("CAPTCHA_CHECK_FAILED") }
        switch await service.tools.verifyRecaptcha(token) {
        case true?: return
        case false?: throw AuthError("CAPTCHA_CHECK_FAILED")
        case nil: throw .unavailable
        }
    }

    private static var recaptchaBytesMax: Int { 16_384 }

    /// Sends a text message. In development it is only kept in the inbox.
    func send(_ code: MessageCode, _ call: AuthCall) async throws(AuthError) {
        guard !code.isForTests else { return }
        guard await service.tools.send(.text(code, language: call.language)) else { throw .unavailable }
    }

    func signInWithPhoneNumber(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let token = try await callerToken(call)
        let tenant = try call.namedTenant() ?? token?.tenant ?? ""
        guard try await rules(tenant).allowsPhone || !isStrict else { throw AuthError("OPERATION_NOT_ALLOWED") }
        let proof = try phoneProof(call)
        let operation = try call.body.text("operation")
        let mayCreate = operation != "REAUTH" && operation != "LINK" && operation != "UPDATE"
        let result = try await decided(call, method: "phone") { store throws(AccountFailure) in
            try store.signIn(proof, tenant: tenant, caller: token, mayCreate: mayCreate)
        }
        switch result {
        case .taken(let phone, let secret, let seconds):
            return ["temporaryProof": .string(secret), "phoneNumber": .string(phone), "temporaryProofExpiresIn": .string(String(seconds))]
        case .signedIn(let signedIn):
            var fields: JSONObject = ["isNewUser": .bool(signedIn.isNew)]
            fields["phoneNumber"] = signedIn.user.phone.map { .string($0) }
            for (name, value) in try await tokenFields(signedIn) { fields[name] = value }
            return .object(fields)
        }
    }

    private func phoneProof(_ call: AuthCall) throws(AuthError) -> AccountStore.PhoneProof {
        if let proof = try call.body.text("temporaryProof") {
            guard let phone = try call.body.text("phoneNumber") else { throw AuthError("MISSING_PHONE_NUMBER") }
            return .temporary(proof: proof, phone: phone)
        }
        guard let sessionInfo = try call.body.text("sessionInfo") else { throw AuthError("MISSING_SESSION_INFO") }
        guard let code = try call.body.text("code") else { throw AuthError("MISSING_CODE") }
        return .message(sessionInfo: sessionInfo, code: code)
    }

    func verifyIosClient(_ call: AuthCall) -> JSONValue {
        // No push service is asked: the receipt proves nothing, and no operation relies on it.
        ["receipt": .string(SecretText.identifier(32)), "suggestedTimeout": "60"]
    }
}
