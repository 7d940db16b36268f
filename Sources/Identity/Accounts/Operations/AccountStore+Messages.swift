import HearthBytes
public import HearthJSON
import SQLite

/// A code that is sent by text message.
public struct MessageCode: Sendable {
    /// The secret by which the client names the message.
    public var sessionInfo: String
    /// Six digits.
    public var code: String
    public var phone: String
    /// Whether the number is one for tests, to which no message is sent.
    public var isForTests = false
}

/// The purposes of a text message. A code for one is never accepted for another.
enum MessagePurpose: String {
    case signIn, enrolment, secondFactor
}

/// Codes of text messages, and signing in with them.
extension AccountStore {
    private static var messageSeconds: Int64 { 600 }
    private static var phoneProofSeconds: Int64 { 3600 }

    /// Makes a code to sign in with a number.
    public func addSignInMessage(_ phone: String, tenant: String) throws(AccountFailure) -> MessageCode {
        if let owner = try user(phone: phone, tenant: tenant), !owner.factors.isEmpty { throw AccountFailure.phoneIsNoFirstFactor }
        return try addMessage(.signIn, phone, uid: nil, tenant: tenant)
    }

    func addMessage(_ purpose: MessagePurpose, _ phone: String, uid: String?, tenant: String) throws(AccountFailure) -> MessageCode {
        let rules = try rules(of: tenant)
        var made = MessageCode(sessionInfo: SecretText.letters(226), code: SecretText.code(), phone: phone)
        if let code = rules.testNumbers[phone] {
            (made.code, made.isForTests) = (code, true)
            try removeOldMessages(ofTestNumber: phone, tenant: tenant)
        } else {
            guard rules.messageRegions.allows(phone) else {
                throw AccountFailure("OPERATION_NOT_ALLOWED", "SMS unable to be sent until this region enabled by the app developer.")
            }
            try countText(to: phone)
        }
        let shown: JSONObject = ["code": .string(made.code), "phoneNumber": .string(phone), "sessionInfo": .string(made.sessionInfo)]
        try run(
            "INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8, ?9)", .blob(SecretText.hash(made.sessionInfo)), .text(tenant),
            .text(purpose.rawValue), .text(phone), .optional(uid), .blob(SecretText.hash(made.code + made.sessionInfo)),
            .integer(try inboxTime(now, after: "message", tenant: tenant)),
            .integer(now + (policy.isStrict ? Self.messageSeconds : 86_400) * 1000),
            policy.showsCodes ? .text(JSONValue.object(shown).text) : .null)
        return made
    }

    /// The most messages of a test number that wait for their code: nothing else bounds them.
    static var testMessagesMax: Int64 { 100 }

    private func removeOldMessages(ofTestNumber phone: String, tenant: String) throws(AccountFailure) {
        try run(
            """
            DELETE FROM message WHERE hash IN (
                SELECT hash FROM message WHERE tenant = ?1 AND phone = ?2 ORDER BY created DESC LIMIT -1 OFFSET ?3)
            """, .text(tenant), .text(phone), .integer(Self.testMessagesMax - 1))
    }

    /// Checks a code, which is used up if it is right.
    ///
    /// - Returns: the number, and the user for whom the message was sent.
    func useMessage(_ purpose: MessagePurpose, _ sessionInfo: String, code: String, tenant: String) throws(AccountFailure) -> (String, String?) {
        let hash = Value.blob(SecretText.hash(sessionInfo))
        let row = try first(
            "SELECT purpose, phone, uid, code, attempts, expires FROM message WHERE hash = ?1 AND tenant = ?2", hash, .text(tenant)
        ) { row -> (purpose: String, phone: String, uid: String?, code: [UInt8], attempts: Int, expires: Int64)? in
            var uid: String?
            if case .text(let text) = row.value(at: 2) { uid = text }
            return (
                row.text(at: 0), row.text(at: 1), uid, [UInt8](row.bytes(at: 3)), Int(row.integer(at: 4)), row.integer(at: 5)
            )
        }
        try requireCodes()
        guard let row, row.purpose == purpose.rawValue else { throw AccountFailure("INVALID_SESSION_INFO") }
        guard row.expires > now else { throw AccountFailure("SESSION_EXPIRED") }
        guard SecretText.hash(code + sessionInfo).span.equalsInConstantTime(row.code) else {
            if policy.isStrict {
                if row.attempts + 1 >= Self.attemptsMax {
                    try run("DELETE FROM message WHERE hash = ?1", hash)
                } else {
                    try run("UPDATE message SET attempts = attempts + 1 WHERE hash = ?1", hash)
                }
            }
            try countWrongCode()
            throw .counted(AuthError("INVALID_CODE"))
        }
        try run("DELETE FROM message WHERE hash = ?1", hash)
        return (row.phone, row.uid)
    }

    // MARK: Signing in

    /// The proof of a phone number: the code of a message, or a temporary proof.
    public enum PhoneProof: Sendable {
        case message(sessionInfo: String, code: String)
        case temporary(proof: String, phone: String)
    }

    /// The result of a sign-in with a phone number.
    public enum PhoneSignIn: Sendable {
        case signedIn(SignedIn)
        /// The number belongs to another user. The proof signs in as that user.
        case taken(phone: String, proof: String, seconds: Int64)
    }

    /// Signs in with a phone number, or links it to the caller.
    ///
    /// - Parameter mayCreate: whether a new user is created for an unknown number.
    public func signIn(
        _ proof: PhoneProof, tenant: String, caller token: CallerToken?, mayCreate: Bool
    ) throws(AccountFailure) -> PhoneSignIn {
        let phone: String
        // A proof that takes the place of another one ends with it.
        var proofEnds = now + Self.phoneProofSeconds * 1000
        switch proof {
        case .message(let sessionInfo, let code): phone = try useMessage(.signIn, sessionInfo, code: code, tenant: tenant).0
        case .temporary(let secret, let claimed):
            guard let known = try self.proof(.phone, secret), known.tenant == tenant, known.content.string == claimed else {
                throw AccountFailure("INVALID_TEMPORARY_PROOF")
            }
            try removeProof(secret)
            phone = claimed
            proofEnds = known.expires
        }
        let owner = try user(phone: phone, tenant: tenant)
        if let token {
            var user = try caller(token, tenant: tenant)
            try requireRecent(token, user)
            if let owner, !owner.isSameUser(as: user) {
                let secret = try addProof(.phone, tenant: tenant, uid: nil, content: .string(phone), ends: proofEnds)
                return .taken(phone: phone, proof: secret, seconds: max((proofEnds - now + 999) / 1000, 0))
            }
            if !user.factors.isEmpty { throw AccountFailure.phoneIsNoFirstFactor }
            user.phone = phone
            return .signedIn(try goOn(user, token, provider: "phone"))
        }
        if let owner {
            if !owner.factors.isEmpty { throw AccountFailure.phoneIsNoFirstFactor }
            return .signedIn(try finish(owner, provider: "phone"))
        }
        guard mayCreate else { throw AccountFailure("USER_NOT_FOUND") }
        var user = UserRecord(tenant: tenant, uid: newIdentifier(), created: now)
        user.phone = phone
        user = try createDecided(user, method: "phone")
        return .signedIn(try finish(user, isNew: true, provider: "phone"))
    }
}

extension AccountFailure {
    /// A message to the phone would take the place of both factors.
    static var phoneIsNoFirstFactor: AccountFailure {
        AccountFailure("UNSUPPORTED_FIRST_FACTOR", "A phone number cannot be set as a first factor on an SMS based MFA user.")
    }
}

extension AccountReader {
    /// The newest messages that can be read in the inbox, the oldest of them first.
    public func shownMessages(tenant: String) throws(AccountFailure) -> [JSONValue] {
        try rows(
            "SELECT shown, created FROM message WHERE tenant = ?1 AND shown IS NOT NULL ORDER BY created DESC LIMIT 10000", [.text(tenant)],
            Self.shown
        ).reversed()
    }
}
