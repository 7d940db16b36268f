import HearthBytes
import HearthJSON

/// Second factors: enrolling, withdrawing, and signing in with them.
extension AccountStore {
    private static var factorsMax: Int { 5 }

    /// Makes a message with a code for a new factor.
    public func startEnrolment(phone: String?, caller token: CallerToken, tenant: String?) throws(AccountFailure) -> MessageCode {
        let user = try enroller(token, tenant: tenant)
        guard let phone, AccountText.isPhone(phone, isStrict: policy.isStrict) else {
            throw AccountFailure("INVALID_PHONE_NUMBER", "Invalid format.")
        }
        guard !user.factors.contains(where: { $0.phone == phone }) else { throw Self.isEnrolled }
        return try addMessage(.enrolment, phone, uid: user.uid, tenant: user.tenant)
    }

    private static var isEnrolled: AccountFailure {
        AccountFailure("SECOND_FACTOR_EXISTS", "Phone number already enrolled as second factor for this account.")
    }

    /// A secret for one-time codes that is not enrolled yet.
    public struct CodeEnrolment: Sendable {
        public var secret: String
        public var sessionInfo: String
        /// Milliseconds since 1970.
        public var ends: Int64
    }

    /// Makes a secret for one-time codes.
    public func startCodeEnrolment(caller token: CallerToken, tenant: String?) throws(AccountFailure) -> CodeEnrolment {
        let user = try enroller(token, tenant: tenant)
        let secret = SecretText.bytes(20)
        let seconds: Int64 = 300
        let sessionInfo = try addProof(
            .enrolment, tenant: user.tenant, uid: user.uid, content: .string(factorSeal.sealed(secret, "enrolment \(user.uid)")),
            seconds: seconds)
        return CodeEnrolment(secret: OneTimePassword.base32(secret), sessionInfo: sessionInfo, ends: now + seconds * 1000)
    }

    /// Enrols the number of a message whose code is right.
    ///
    /// - Parameter link: makes the link for the code by which the user removes the factor again.
    public func finishEnrolment(
        sessionInfo: String, code: String, displayName: String?, caller token: CallerToken, tenant: String?, link: (String) -> String
    ) throws(AccountFailure) -> SignedIn {
        let user = try enroller(token, tenant: tenant)
        let (phone, uid) = try useMessage(.enrolment, sessionInfo, code: code, tenant: user.tenant)
        guard user.uid.isExactly(uid) else { throw AccountFailure("INVALID_SESSION_INFO") }
        guard !user.factors.contains(where: { $0.phone == phone }) else { throw Self.isEnrolled }
        return try enrol(SecondFactor(id: SecretText.identifier(), displayName: displayName, enrolled: now, phone: phone), user, token, link)
    }

    /// Enrols a secret if a code of it is right.
    ///
    /// - Parameter link: makes the link for the code by which the user removes the factor again.
    public func finishCodeEnrolment(
        sessionInfo: String, code: String, displayName: String?, caller token: CallerToken, tenant: String?, link: (String) -> String
    ) throws(AccountFailure) -> SignedIn {
        let user = try enroller(token, tenant: tenant)
        guard let proof = try proof(.enrolment, sessionInfo), user.uid.isExactly(proof.uid), proof.tenant == user.tenant,
            let secret = proof.content.string.flatMap({ factorSeal.opened($0, "enrolment \(user.uid)") })
        else { throw AccountFailure("INVALID_SESSION_INFO") }
        try requireCodes(of: user)
        let adjacent = try rules(of: user.tenant).adjacentIntervals
        let step = OneTimePassword.step(of: code, secret: secret, nowSeconds: nowSeconds, adjacent: adjacent, lastStep: 0)
        guard let step else {
            try countAttempt(ofProof: sessionInfo, proof)
            try countWrongCode(of: user)
            throw .counted(AuthError("INVALID_CODE"))
        }
        guard !user.factors.contains(where: { $0.secret != nil }) else {
            throw AccountFailure("SECOND_FACTOR_EXISTS", "TOTP already enrolled as second factor for this account.")
        }
        try removeProof(sessionInfo)
        var factor = SecondFactor(id: SecretText.identifier(), displayName: displayName, enrolled: now, phone: nil, secret: secret)
        factor.lastStep = step
        return try enrol(factor, user, token, link)
    }

    private func enrol(
        _ factor: SecondFactor, _ user: UserRecord, _ token: CallerToken, _ link: (String) -> String
    ) throws(AccountFailure) -> SignedIn {
        guard user.factors.count < Self.factorsMax else { throw AccountFailure("SECOND_FACTOR_LIMIT_EXCEEDED") }
        var user = user
        user.factors.append(factor)
        var token = token
        token.secondFactor = factor.phone == nil ? "totp" : "phone"
        token.secondFactorID = factor.id
        var result = try goOn(user, token)
        try tell(&result) { () throws(AccountFailure) in try addNotice(of: factor, user, link: link) }
        return result
    }

    /// Removes a factor of the caller.
    public func withdraw(factor id: String?, caller token: CallerToken, tenant: String?) throws(AccountFailure) -> SignedIn {
        var user = try caller(token, tenant: tenant)
        guard let index = user.factors.firstIndex(where: { $0.id.isExactly(id) }) else { throw AccountFailure("MFA_ENROLLMENT_NOT_FOUND") }
        // A stolen token of the first factor alone must not remove the second.
        if token.secondFactor == nil { try requireRecent(token, user) }
        user.factors.remove(at: index)
        var token = token
        if token.secondFactorID == id {
            token.secondFactor = nil
            token.secondFactorID = nil
        }
        return try goOn(user, token)
    }

    // MARK: Signing in

    /// Makes a message with a code for the second factor.
    public func startSecondFactor(_ credential: String, factor id: String, tenant: String) throws(AccountFailure) -> MessageCode {
        let (phone, _) = try secondFactorPhone(credential, factor: id, tenant: tenant)
        let pending = try pending(credential, tenant: tenant)
        return try addMessage(.secondFactor, phone, uid: pending.user.uid, tenant: pending.user.tenant)
    }

    /// Ends a sign-in with the code of a message.
    public func finishSecondFactor(_ credential: String, sessionInfo: String, code: String, tenant: String) throws(AccountFailure) -> SignedIn {
        let known = try proof(.secondFactor, credential)
        let (phone, uid) = try useMessage(.secondFactor, sessionInfo, code: code, tenant: known?.tenant ?? tenant)
        let pending = try pending(credential, tenant: tenant)
        guard let factor = pending.user.factors.first(where: { $0.phone == phone }), pending.user.uid.isExactly(uid) else {
            throw AccountFailure("MFA_ENROLLMENT_NOT_FOUND")
        }
        return try finish(pending, credential, factor, "phone")
    }

    /// Ends a sign-in with a one-time code.
    public func finishSecondFactor(_ credential: String, factor id: String, code: String, tenant: String) throws(AccountFailure) -> SignedIn {
        var pending = try pending(credential, tenant: tenant)
        guard let index = pending.user.factors.firstIndex(where: { $0.id.isExactly(id) }), let secret = pending.user.factors[index].secret else {
            throw AccountFailure("MFA_ENROLLMENT_NOT_FOUND")
        }
        let factor = pending.user.factors[index]
        try requireCodes(of: pending.user)
        let adjacent = try rules(of: pending.user.tenant).adjacentIntervals
        let step = OneTimePassword.step(
            of: code, secret: secret, nowSeconds: nowSeconds, adjacent: adjacent, lastStep: factor.lastStep)
        guard let step else {
            try countAttempt(ofProof: credential, pending.proof)
            try countWrongCode(of: pending.user)
            throw .counted(AuthError("INVALID_CODE"))
        }
        pending.user.factors[index].lastStep = step
        return try finish(pending, credential, factor, "totp")
    }

    private func finish(_ pending: Pending, _ credential: String, _ factor: SecondFactor, _ kind: String) throws(AccountFailure) -> SignedIn {
        try removeProof(credential)
        let content = pending.proof.content
        var session = UserSession(
            tenant: pending.user.tenant, uid: pending.user.uid, provider: content["provider"]?.string ?? "password", authTime: nowSeconds)
        session.claims = content["claims"]?.object ?? JSONObject()
        session.attributes = content["attributes"]?.object ?? JSONObject()
        session.secondFactor = kind
        session.secondFactorID = factor.id
        var result = SignedIn(user: pending.user)
        // The function for sign-ins was not asked while the second factor was missing.
        let more = try decideSignIn(
            &result.user, isNew: false, method: content["method"]?.string ?? session.provider, secondFactor: kind, attributes: session.attributes)
        for (name, value) in more { session.claims[name] = value }
        try begin(session, &result)
        return result
    }
}

/// Reading who may enrol second factors, and sign-ins that wait for one.
extension AccountReader {
    /// The caller, if second factors of this kind can be enrolled.
    func enroller(_ token: CallerToken, tenant: String?) throws(AccountFailure) -> UserRecord {
        let user = try caller(token, tenant: tenant)
        if ["anonymous", "phone", "custom", "gc.apple.com"].contains(token.provider) {
            throw AccountFailure("UNSUPPORTED_FIRST_FACTOR", "MFA is not available for the given first factor.")
        }
        guard user.isEmailVerified else { throw AccountFailure("UNVERIFIED_EMAIL", "Need to verify email first before enrolling second factors.") }
        return user
    }

    /// Checks that the caller can enrol factors at all.
    public func requireEnroller(_ token: CallerToken, tenant: String?) throws(AccountFailure) { _ = try enroller(token, tenant: tenant) }

    struct Pending {
        var user: UserRecord
        var proof: Proof
    }

    func pending(_ credential: String, tenant: String) throws(AccountFailure) -> Pending {
        guard let proof = try proof(.secondFactor, credential), let uid = proof.uid, tenant.isEmpty || tenant == proof.tenant,
            let user = try user(uid, tenant: proof.tenant)
        else { throw AccountFailure("INVALID_MFA_PENDING_CREDENTIAL") }
        if user.isDisabled { throw AccountFailure("USER_DISABLED") }
        return Pending(user: user, proof: proof)
    }

    /// The number to which a message with a code for the second factor is sent, and whether it is one for tests.
    public func secondFactorPhone(
        _ credential: String, factor id: String, tenant: String
    ) throws(AccountFailure) -> (phone: String, isForTests: Bool) {
        let pending = try pending(credential, tenant: tenant)
        guard let factor = pending.user.factors.first(where: { $0.id.isExactly(id) }) else { throw AccountFailure("MFA_ENROLLMENT_NOT_FOUND") }
        guard let phone = factor.phone else { throw AccountFailure("INVALID_ARGUMENT", "MFA provider not supported!") }
        return (phone, try rules(of: pending.user.tenant).testNumbers[phone] != nil)
    }
}
