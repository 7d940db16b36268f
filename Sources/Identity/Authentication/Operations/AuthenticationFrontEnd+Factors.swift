import Accounts
import HearthBytes
import HearthJSON

/// Second factors.
extension AuthenticationFrontEnd {
    /// Refuses a kind of factor that is turned off. Returns the rules.
    @discardableResult
    private func requireFactor(_ call: AuthCall, tenant: String, isMessage: Bool) async throws(AuthError) -> SignInRules {
        let rules = try await rules(tenant)
        let isAllowed = isMessage ? rules.allowsMessageFactor : rules.allowsOneTimeCodes
        guard !isAllowed else { return rules }
        throw AuthError("OPERATION_NOT_ALLOWED", "\(isMessage ? "SMS" : "TOTP") based MFA not enabled.")
    }

    func startEnrolment(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let token = try await requiredToken(call)
        let tenant = try call.namedTenant()
        let loop = loop
        if try call.body.body("totpEnrollmentInfo") != nil {
            try await requireFactor(call, tenant: tenant ?? token.tenant, isMessage: false)
            let made = try await accounts.perform(on: loop) { store throws(AccountFailure) in
                try store.startCodeEnrolment(caller: token, tenant: tenant)
            }
            return [
                "totpSessionInfo": [
                    "sharedSecretKey": .string(made.secret), "verificationCodeLength": 6, "hashingAlgorithm": "SHA1", "periodSec": 30,
                    "sessionInfo": .string(made.sessionInfo), "finalizeEnrollmentTime": .string(TimeText.text(milliseconds: made.ends)),
                ]
            ]
        }
        let rules = try await requireFactor(call, tenant: tenant ?? token.tenant, isMessage: true)
        try await accounts.read(on: loop) { store throws(AccountFailure) in try store.requireEnroller(token, tenant: tenant) }
        guard let info = try call.body.body("phoneEnrollmentInfo") else {
            throw AuthError("INVALID_ARGUMENT", "((Missing phoneEnrollmentInfo.))")
        }
        let phone = try info.text("phoneNumber")
        let isForTests = phone.map { rules.testNumbers[$0] != nil } ?? false
        if !isForTests { try await requirePerson(info, call) }
        // A missing number is refused before a function is asked about it.
        let code = try await message(
            "MULTI_FACTOR_ENROLLMENT", to: phone ?? "", isForTests: isForTests, call, tenant: tenant ?? token.tenant
        ) { store throws(AccountFailure) in
            try store.startEnrolment(phone: phone, caller: token, tenant: tenant)
        }
        try await send(code, call)
        return ["phoneSessionInfo": ["sessionInfo": .string(code.sessionInfo)]]
    }

    func finishEnrolment(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let token = try await requiredToken(call)
        let tenant = try call.namedTenant()
        let name = try call.body.text("displayName")
        // No factor is added without the notice of it.
        let link = try await revertingLink(call.links, tenant: tenant ?? token.tenant)
        if let info = try call.body.body("totpVerificationInfo") {
            try await requireFactor(call, tenant: tenant ?? token.tenant, isMessage: false)
            let (session, code) = try session(info, code: "verificationCode")
            let signedIn = try await perform(for: call) { store throws(AccountFailure) in
                try store.finishCodeEnrolment(sessionInfo: session, code: code, displayName: name, caller: token, tenant: tenant, link: link)
            }
            tell(signedIn)
            return .object(try await tokenFields(signedIn, hasUser: false))
        }
        try await requireFactor(call, tenant: tenant ?? token.tenant, isMessage: true)
        guard let info = try call.body.body("phoneVerificationInfo") else {
            throw AuthError("INVALID_ARGUMENT", "((Missing phoneVerificationInfo.))")
        }
        let (session, code) = try session(info, code: "code")
        let signedIn = try await perform(for: call) { store throws(AccountFailure) in
            try store.finishEnrolment(sessionInfo: session, code: code, displayName: name, caller: token, tenant: tenant, link: link)
        }
        tell(signedIn)
        return .object(try await tokenFields(signedIn, hasUser: false))
    }

    private func session(_ info: AuthBody, code name: String) throws(AuthError) -> (String, String) {
        guard let session = try info.text("sessionInfo") else { throw AuthError("MISSING_SESSION_INFO") }
        guard let code = try info.text(name) else { throw AuthError("MISSING_CODE") }
        return (session, code)
    }

    func withdrawFactor(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let token = try await requiredToken(call)
        let tenant = try call.namedTenant()
        let id = try call.body.text("mfaEnrollmentId")
        let signedIn = try await accounts.perform(on: loop) { store throws(AccountFailure) in
            try store.withdraw(factor: id, caller: token, tenant: tenant)
        }
        return .object(try await tokenFields(signedIn, hasUser: false))
    }

    func startSecondFactor(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try call.tenant()
        try await requireFactor(call, tenant: tenant, isMessage: true)
        guard let credential = try call.body.text("mfaPendingCredential") else {
            throw AuthError("MISSING_MFA_PENDING_CREDENTIAL", "Request does not have MFA pending credential.")
        }
        guard let id = try call.body.text("mfaEnrollmentId") else {
            throw AuthError("MISSING_MFA_ENROLLMENT_ID", "No second factor identifier is provided.")
        }
        let (phone, isForTests) = try await accounts.read(on: loop) { store throws(AccountFailure) in
            try store.secondFactorPhone(credential, factor: id, tenant: tenant)
        }
        if !isForTests { try await requirePerson(try call.body.body("phoneSignInInfo"), call) }
        let code = try await message(
            "MULTI_FACTOR_SIGN_IN", to: phone, isForTests: isForTests, call, tenant: tenant
        ) { store throws(AccountFailure) in
            try store.startSecondFactor(credential, factor: id, tenant: tenant)
        }
        try await send(code, call)
        return ["phoneResponseInfo": ["sessionInfo": .string(code.sessionInfo)]]
    }

    func finishSecondFactor(_ call: AuthCall) async throws(AuthError) -> JSONValue {
        let tenant = try call.tenant()
        guard let credential = try call.body.text("mfaPendingCredential") else {
            throw AuthError("MISSING_CREDENTIAL", "Please set MFA Pending Credential.")
        }
        if let info = try call.body.body("totpVerificationInfo") {
            guard let id = try call.body.text("mfaEnrollmentId") else {
                throw AuthError("MISSING_MFA_ENROLLMENT_ID", "No second factor identifier is provided.")
            }
            guard let code = try info.text("verificationCode") else { throw AuthError("MISSING_CODE") }
            let signedIn = try await decided(call) { store throws(AccountFailure) in
                try store.finishSecondFactor(credential, factor: id, code: code, tenant: tenant)
            }
            return .object(try await tokenFields(signedIn, hasUser: false))
        }
        guard let info = try call.body.body("phoneVerificationInfo") else {
            throw AuthError("INVALID_ARGUMENT", "MFA provider not supported!")
        }
        let (session, code) = try session(info, code: "code")
        let signedIn = try await decided(call) { store throws(AccountFailure) in
            try store.finishSecondFactor(credential, sessionInfo: session, code: code, tenant: tenant)
        }
        return .object(try await tokenFields(signedIn, hasUser: false))
    }

    /// Reads second factors that an administrator sets, or a client of the emulator.
    func factors(_ bodies: [AuthBody], mustHaveID: Bool) throws(AuthError) -> [SecondFactor] {
        var found: [SecondFactor] = []
        for body in bodies {
            let phone = try body.text("phoneInfo")
            if let phone, !AccountText.isPhone(phone, isStrict: isStrict) { throw AuthError("INVALID_MFA_PHONE_NUMBER", "Invalid format.") }
            let named = try body.text("mfaEnrollmentId")
            if named == nil, mustHaveID { throw AuthError("INVALID_MFA_ENROLLMENT_ID", "mfaEnrollmentId must be defined.") }
            let id = named ?? SecretText.identifier()
            guard !found.contains(where: { $0.id == id }) else { throw AuthError("DUPLICATE_MFA_ENROLLMENT_ID") }
            // A number is enrolled once.
            guard phone == nil || !found.contains(where: { $0.phone == phone }) else { continue }
            let enrolled = try body.text("enrolledAt").flatMap { TimeText.milliseconds($0) } ?? service.policy.clock()
            found.append(SecondFactor(id: id, displayName: try body.text("displayName"), enrolled: enrolled, phone: phone))
        }
        return found
    }
}
