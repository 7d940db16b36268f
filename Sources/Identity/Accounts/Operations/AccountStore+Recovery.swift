import HearthJSON
import SQLite

/// The ways to sign in that an account had before its e-mail was changed, apart from the password.
struct RecoveryPoint: Sendable, Equatable {
    /// Provider and id of each linked account.
    var links: [[String]]
    var phone: String?
    /// The ids of the second factors.
    var factors: [String]
    /// Whether the e-mail was verified, and that of the account for ``settledMilliseconds``.
    var isSettled: Bool

    /// As long as the link of a notice is good.
    static let settledMilliseconds: Int64 = 30 * 86_400_000

    init(_ user: UserRecord, isSettled: Bool) {
        self.isSettled = isSettled
        links = user.providers.map { [$0.provider, $0.rawID] }
        phone = user.phone
        factors = user.factors.map(\.id)
    }

    /// Reads the stored form; nil if it is damaged.
    init?(stored text: String) {
        guard let object = try? JSONValue(parsing: text), let links = object["links"]?.array, let factors = object["factors"]?.array else {
            return nil
        }
        self.links = links.map { ($0.array ?? []).compactMap(\.string) }
        self.factors = factors.compactMap(\.string)
        phone = object["phone"]?.string
        isSettled = object["settled"]?.bool ?? false
    }

    var stored: String {
        var object: JSONObject = [
            "links": .array(links.map { .array($0.map { .string($0) }) }), "factors": .array(factors.map { .string($0) }),
        ]
        object["phone"] = phone.map { .string($0) }
        if isSettled { object["settled"] = true }
        return JSONValue.object(object).text
    }

    func has(_ link: LinkedProvider) -> Bool {
        links.contains { $0.count == 2 && $0[0].isExactly(link.provider) && $0[1].isExactly(link.rawID) }
    }
}

/// Undoing changes of the e-mail.
extension AccountStore {
    /// Makes the notice by which the owner of a former e-mail undoes its change. None if the e-mail has not changed.
    ///
    /// In production each change can be undone. The emulator has one former address for each user, and none for sessions that began anonymously.
    ///
    /// - Parameters:
    ///   - old: the user before the change.
    ///   - token: the caller; nil for a change by the code of a mail.
    func addRecovery(
        of user: inout UserRecord, before old: UserRecord, _ token: CallerToken?, link: (String) -> String
    ) throws(AccountFailure) -> [SecurityNotice] {
        guard let oldEmail = old.email, !user.hasEmail(oldEmail) else { return [] }
        guard policy.isStrict || user.email != nil && token?.provider != "anonymous" else { return [] }
        try countEmailChange(of: old)
        let initial = user.initialEmail ?? oldEmail
        user.initialEmail = initial
        let point = RecoveryPoint(old, isSettled: try isSettled(old))
        let code = try addNoticeCode(.RECOVER_EMAIL, email: policy.isStrict ? oldEmail : initial, detail: point.stored, of: user, link: link)
        var notice = SecurityNotice(.emailChanged, to: code.email)
        notice.link = code.link
        notice.newEmail = user.email
        return [try add(notice)]
    }

    /// Whether the e-mail of a user is verified, and has not changed for long.
    private func isSettled(_ user: UserRecord) throws(AccountFailure) -> Bool {
        guard user.isEmailVerified, now - user.created > RecoveryPoint.settledMilliseconds else { return false }
        return try first(
            "SELECT 1 FROM code WHERE tenant = ?1 AND uid = ?2 AND type = 'RECOVER_EMAIL' LIMIT 1", .text(user.tenant), .text(user.uid)
        ) { _ in true } == nil
    }

    /// Ends the links that undo changes of the e-mail, because an administrator has decided which one counts: an intruder may have such a link too.
    func removeRecoveryCodes(of user: UserRecord) throws(AccountFailure) {
        try run("DELETE FROM code WHERE tenant = ?1 AND uid = ?2 AND type = 'RECOVER_EMAIL'", .text(user.tenant), .text(user.uid))
    }

    /// Ends everything by which an intruder could come back to an account whose e-mail was restored: the password, which may be known, all ways to
    /// sign in and second factors that were added since the change, and the notices of later changes, whose mails an intruder may read. The notices
    /// of earlier changes stay. The caller has ended the sessions, and stores the user.
    func goBack(_ user: inout UserRecord, to code: StoredCode) throws(AccountFailure) {
        user.passwordHash = nil
        user.importedHash = nil
        if user.initialEmail?.isExactly(code.email) == true { user.initialEmail = nil }
        if let point = code.recoveryPoint {
            user.providers.removeAll { !point.has($0) }
            user.factors.removeAll { factor in !point.factors.contains { factor.id.isExactly($0) } }
            if let phone = user.phone, !phone.isExactly(point.phone) { user.phone = nil }
        } else {
            // A code of an earlier version does not tell what was there.
            user.providers = []
            user.factors.removeAll { $0.enrolled >= code.created }
            user.phone = nil
        }
        try run(
            "DELETE FROM code WHERE tenant = ?1 AND uid = ?2 AND created >= ?3", .text(user.tenant), .text(user.uid), .integer(code.created))
    }
}
