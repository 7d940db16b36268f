public import HearthJSON
import SQLite

/// A code that is sent by e-mail.
public struct EmailCode: Sendable {
    /// The purposes, by their names in the protocol.
    public enum Purpose: String, Sendable {
        case PASSWORD_RESET, VERIFY_EMAIL, EMAIL_SIGNIN, VERIFY_AND_CHANGE_EMAIL, RECOVER_EMAIL, REVERT_SECOND_FACTOR_ADDITION

        /// Whether the mail tells the user of a change, with a link that undoes it.
        public var isNotice: Bool { self == .RECOVER_EMAIL || self == .REVERT_SECOND_FACTOR_ADDITION }

        var lifeSeconds: Int64 {
            switch self {
            case .PASSWORD_RESET: 3600
            case .EMAIL_SIGNIN: 6 * 3600
            case .VERIFY_EMAIL, .VERIFY_AND_CHANGE_EMAIL: 3 * 86_400
            case .RECOVER_EMAIL, .REVERT_SECOND_FACTOR_ADDITION: 30 * 86_400
            }
        }
    }

    public var purpose: Purpose
    public var email: String
    public var newEmail: String?
    /// The secret.
    public var code: String
    /// The link of the e-mail.
    public var link: String
}

/// Codes of e-mails, and what they permit.
extension AccountStore {
    /// Makes a code.
    ///
    /// - Parameters:
    ///   - uid: the user for whom the code is; every purpose but signing in needs one.
    ///   - link: makes the link for a code.
    public func addCode(
        _ purpose: EmailCode.Purpose, email: String, newEmail: String? = nil, uid: String? = nil, tenant: String, link: (String) -> String
    ) throws(AccountFailure) -> EmailCode {
        let receiver = purpose == .VERIFY_AND_CHANGE_EMAIL ? newEmail ?? email : email
        try countMail(to: receiver, tenant: tenant, isReset: purpose == .PASSWORD_RESET)
        return try addCode(purpose, email: email, newEmail: newEmail, detail: newEmail, uid: uid, tenant: tenant, created: now, link: link)
    }

    /// Makes a code of a notice about the security of an account, with a limit of its own. The codes of a user are in the order in which they were
    /// made, whatever the clock says: going back to a change ends those of later ones.
    ///
    /// - Parameter detail: the facts that the code needs when it is used.
    func addNoticeCode(
        _ purpose: EmailCode.Purpose, email: String, detail: String?, of user: UserRecord, link: (String) -> String
    ) throws(AccountFailure) -> EmailCode {
        try countNotice(to: email, tenant: user.tenant)
        let last = try first(
            "SELECT MAX(created) FROM code WHERE tenant = ?1 AND uid = ?2 AND type IN ('RECOVER_EMAIL', 'REVERT_SECOND_FACTOR_ADDITION')",
            .text(user.tenant), .text(user.uid)
        ) { $0.integer(at: 0) }
        return try addCode(
            purpose, email: email, newEmail: nil, detail: detail, uid: user.uid, tenant: user.tenant, created: max(now, (last ?? 0) + 1),
            link: link)
    }

    private func addCode(
        _ purpose: EmailCode.Purpose, email: String, newEmail: String?, detail: String?, uid: String?, tenant: String, created: Int64,
        link: (String) -> String
    ) throws(AccountFailure) -> EmailCode {
        let code = SecretText.letters(54)
        let made = EmailCode(purpose: purpose, email: email, newEmail: newEmail, code: code, link: link(code))
        let lifeSeconds = policy.isStrict ? purpose.lifeSeconds : 365 * 86_400
        var shown: JSONObject = [
            "email": .string(email), "oobCode": .string(code), "oobLink": .string(made.link), "requestType": .string(purpose.rawValue),
        ]
        if !purpose.isNotice { shown["newEmail"] = newEmail.map { .string($0) } }
        let place = try inboxTime(created, after: "code", tenant: tenant)
        try run(
            "INSERT INTO code VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", .blob(SecretText.hash(code)), .text(tenant),
            .text(purpose.rawValue), .text(email), .optional(detail), .optional(uid), .integer(place),
            .integer(now + lifeSeconds * 1000), policy.showsCodes ? .text(JSONValue.object(shown).text) : .null)
        return made
    }

    /// The time of a new message. Those of an inbox have different times, because their order is the one in which they were sent.
    ///
    /// - Parameter table: the table of the messages that were sent before.
    func inboxTime(_ created: Int64, after table: String, tenant: String) throws(AccountFailure) -> Int64 {
        guard policy.showsCodes else { return created }
        let last = try first("SELECT MAX(created) FROM \(table) WHERE tenant = ?1 AND shown IS NOT NULL", .text(tenant)) { $0.integer(at: 0) }
        return max(created, (last ?? 0) + 1)
    }

    func removeCode(_ secret: String) throws(AccountFailure) {
        try run("DELETE FROM code WHERE hash = ?1", .blob(SecretText.hash(secret)))
    }

    // MARK: Using codes

    /// The links of notices that stay when the other secrets of a user end.
    enum KeptNotices: String {
        /// By which the owner undoes the changes of an intruder.
        case all = " AND type NOT IN ('RECOVER_EMAIL', 'REVERT_SECOND_FACTOR_ADDITION')"
        /// Those to an address that was the verified one of the account for long.
        case settled = " AND NOT (type = 'RECOVER_EMAIL' AND instr(ifnull(newEmail, ''), '\"settled\":true') > 0)"
        case none = ""
    }

    /// Removes what was sent to a user, or waits for one: codes, messages and proofs are good for the account as it was.
    func removeSecrets(of user: UserRecord, keeping kept: KeptNotices = .all) throws(AccountFailure) {
        guard policy.isStrict else { return }
        for table in ["code", "message", "proof"] {
            let condition = table == "code" ? kept.rawValue : ""
            try run("DELETE FROM \(table) WHERE tenant = ?1 AND uid = ?2\(condition)", .text(user.tenant), .text(user.uid))
        }
    }

    /// Ends everything by which a stranger could have access to an account that was registered with an e-mail of which nothing was known: what gives
    /// access by itself, and what would give it back later. The caller stores the user.
    ///
    /// The one who has the mails of the new e-mail may be the stranger, who has moved the account of another person there. So a link to a settled
    /// address stays: nobody gets one for an account that was made for this.
    func purge(_ user: inout UserRecord) throws(AccountFailure) {
        user.passwordHash = nil
        user.importedHash = nil
        user.phone = nil
        user.providers = []
        try revokeTokens(of: &user)
        guard policy.isStrict else { return }
        user.factors = []
        user.initialEmail = nil
        user.usesEmailLink = false
        try removeSecrets(of: user, keeping: .settled)
    }

    /// Makes links invalid that could change the password of an e-mail: it has changed without them.
    func removeResetCodes(of email: String?, tenant: String) throws(AccountFailure) {
        try run(
            "DELETE FROM code WHERE tenant = ?1 AND email = ?2 AND type = ?3", .text(tenant), .optional(email),
            .text(EmailCode.Purpose.PASSWORD_RESET.rawValue))
    }

    /// Sets the password of the user of a reset code.
    public func resetPassword(_ secret: String, hash: String, tenant: String) throws(AccountFailure) -> StoredCode {
        let code = try code(secret, tenant: tenant)
        guard code.purpose == .PASSWORD_RESET, var user = try owner(of: code, tenant: tenant) else { throw AccountFailure("INVALID_OOB_CODE") }
        try removeResetCodes(of: code.email, tenant: tenant)
        if user.isEmailVerified || !policy.isStrict { try revokeTokens(of: &user) } else { try purge(&user) }
        user.passwordHash = hash
        user.importedHash = nil
        user.passwordChanged = now
        user.isEmailVerified = true
        // An intruder may have linked other providers.
        user.providers = []
        try putWithLinks(user)
        try forgetFailures("password \(tenant) \(code.email)")
        return code
    }

    /// Verifies, changes or restores an e-mail. The result has no tokens.
    ///
    /// - Parameter recoveryLink: makes the link for the code by which a change of the e-mail can be undone.
    public func applyCode(
        _ secret: String, tenant: String, recoveryLink: (String) -> String = { $0 }
    ) throws(AccountFailure) -> SignedIn {
        let code = try code(secret, tenant: tenant)
        guard code.purpose != .PASSWORD_RESET, code.purpose != .EMAIL_SIGNIN, let old = try owner(of: code, tenant: tenant) else {
            throw AccountFailure("INVALID_OOB_CODE")
        }
        var user = old
        var notices: [SecurityNotice] = []
        try removeCode(secret)
        switch code.purpose {
        case .VERIFY_AND_CHANGE_EMAIL:
            guard let email = code.newEmail else { throw AccountFailure("INVALID_OOB_CODE") }
            try change(&user, toVerified: email)
            // The one who has the mail of the new address need not be the owner of the account.
            if policy.isStrict { notices = try addRecovery(of: &user, before: old, nil, link: recoveryLink) }
        case .RECOVER_EMAIL:
            try change(&user, toVerified: code.email)
            if policy.isStrict { try goBack(&user, to: code) }
        case .REVERT_SECOND_FACTOR_ADDITION:
            user.factors.removeAll { code.factorID?.isExactly($0.id) ?? false }
            // An intruder who has added a factor is signed in.
            try revokeTokens(of: &user, withThisSecond: true)
        case .VERIFY_EMAIL, .PASSWORD_RESET, .EMAIL_SIGNIN: user.isEmailVerified = true
        }
        try putWithLinks(user)
        var result = SignedIn(user: user)
        result.notices = notices
        return result
    }

    private func change(_ user: inout UserRecord, toVerified email: String) throws(AccountFailure) {
        if let owner = try self.user(email: email, tenant: user.tenant), !owner.isSameUser(as: user) { throw AccountFailure("EMAIL_EXISTS") }
        user.email = email
        user.isEmailVerified = true
        try revokeTokens(of: &user, withThisSecond: true)
    }

    /// Signs in with the code of a link.
    ///
    /// - Parameters:
    ///   - token: the caller, if the e-mail is to be linked.
    ///   - recoveryLink: makes the link for the code by which a change of the caller's e-mail can be undone.
    public func signIn(
        emailCode secret: String, email: String, tenant: String, caller token: CallerToken?, recoveryLink: (String) -> String = { $0 }
    ) throws(AccountFailure) -> SignedIn {
        let code = try code(secret, tenant: tenant)
        guard code.purpose == .EMAIL_SIGNIN else { throw AccountFailure("INVALID_OOB_CODE") }
        guard code.email.isExactly(email) else {
            throw AccountFailure("INVALID_EMAIL", "The email provided does not match the sign-in email address.")
        }
        try removeCode(secret)
        let owner = try user(email: code.email, tenant: tenant)
        guard let token else {
            var user = owner ?? UserRecord(tenant: tenant, uid: newIdentifier(), created: now)
            if user.isDisabled { throw AccountFailure("USER_DISABLED") }
            if owner != nil, !user.isEmailVerified, policy.isStrict {
                try purge(&user)
                try putWithLinks(user)
            }
            user.email = code.email
            user.isEmailVerified = true
            user.usesEmailLink = true
            if owner == nil { user = try createDecided(user, method: "password") }
            return try finish(user, isNew: owner == nil, provider: "password")
        }
        let old = try caller(token, tenant: tenant)
        try requireRecent(token, old)
        var user = old
        if let owner, !owner.isSameUser(as: user) { throw AccountFailure("EMAIL_EXISTS") }
        user.email = code.email
        user.isEmailVerified = true
        user.usesEmailLink = true
        if old.email != nil, !user.hasEmail(old.email) { try revokeTokens(of: &user) }
        let notices = try addRecovery(of: &user, before: old, token, link: recoveryLink)
        var result = try goOn(user, token, provider: "password")
        result.notices = notices
        return result
    }
}

extension AccountReader {
    /// A stored code.
    public struct StoredCode: Sendable {
        public var purpose: EmailCode.Purpose
        public var email: String
        public var newEmail: String?
        public var uid: String?
        /// The id of the second factor that the code removes.
        public var factorID: String?
        /// The account before the change that the code undoes; nil for codes of earlier versions.
        var recoveryPoint: RecoveryPoint?
        /// Milliseconds since 1970, later than for earlier notices of the user.
        var created: Int64 = 0
    }

    /// The code with this secret.
    public func code(_ secret: String, tenant: String) throws(AccountFailure) -> StoredCode {
        let row = try first(
            "SELECT type, email, newEmail, uid, expires, created FROM code WHERE hash = ?1 AND tenant = ?2", .blob(SecretText.hash(secret)),
            .text(tenant)
        ) { row -> (StoredCode, Int64)? in
            guard let purpose = EmailCode.Purpose(rawValue: row.text(at: 0)) else { return nil }
            var code = StoredCode(purpose: purpose, email: row.text(at: 1))
            if case .text(let text) = row.value(at: 2) {
                switch purpose {
                case .REVERT_SECOND_FACTOR_ADDITION: code.factorID = text
                case .RECOVER_EMAIL: code.recoveryPoint = RecoveryPoint(stored: text)
                case .PASSWORD_RESET, .VERIFY_EMAIL, .EMAIL_SIGNIN, .VERIFY_AND_CHANGE_EMAIL: code.newEmail = text
                }
            }
            if case .text(let text) = row.value(at: 3) { code.uid = text }
            code.created = row.integer(at: 5)
            return (code, row.integer(at: 4))
        }
        guard let row else { throw AccountFailure("INVALID_OOB_CODE") }
        guard row.1 > now else { throw AccountFailure("EXPIRED_OOB_CODE") }
        if row.0.purpose != .EMAIL_SIGNIN, try owner(of: row.0, tenant: tenant) == nil { throw AccountFailure("INVALID_OOB_CODE") }
        return row.0
    }

    /// The user for whom a code was made. Nil if the user is gone, or has another e-mail than the one to which the code was sent: another person may
    /// have that e-mail now, or read its mails.
    func owner(of code: StoredCode, tenant: String) throws(AccountFailure) -> UserRecord? {
        guard let uid = code.uid, let user = try user(uid, tenant: tenant) else { return nil }
        // These undo what an intruder has done, who may have changed the e-mail too.
        if code.purpose.isNotice { return user }
        return user.hasEmail(code.email) ? user : nil
    }

    /// The second factor that a code removes; nil for codes for something else, and if it was removed already.
    public func factor(of code: StoredCode, tenant: String) throws(AccountFailure) -> SecondFactor? {
        guard let id = code.factorID, let uid = code.uid else { return nil }
        return try user(uid, tenant: tenant)?.factors.first { $0.id.isExactly(id) }
    }

    /// The newest codes that can be read in the inbox, the oldest of them first.
    public func shownCodes(tenant: String) throws(AccountFailure) -> [JSONValue] {
        try rows(
            "SELECT shown, created FROM code WHERE tenant = ?1 AND shown IS NOT NULL ORDER BY created DESC LIMIT 10000", [.text(tenant)],
            Self.shown
        ).reversed()
    }

    /// A message of the inbox, with the time at which it was made.
    static func shown(_ row: Statement) -> JSONValue? {
        guard var object = (try? JSONValue(parsing: row.text(at: 0)))?.object else { return nil }
        object["createdAt"] = .string(String(row.integer(at: 1)))
        return .object(object)
    }
}
