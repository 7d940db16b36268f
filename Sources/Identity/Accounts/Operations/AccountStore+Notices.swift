import HearthJSON
import SQLite

/// Notices that wait until they are sent. Their links are secrets, so they are encrypted.
extension AccountStore {
    private static var place: String { "notice" }
    /// Notices that are read at once.
    private static var noticesMax: Int64 { 100 }
    /// The most letters of the preferred languages that are stored.
    private static var languagesMax: Int { 500 }
    /// A notice that could not be sent in this time is given up.
    static var noticeLifeMilliseconds: Int64 { 3 * 86_400_000 }

    /// Stores a notice. Returns it with its id.
    func add(_ notice: SecurityNotice) throws(AccountFailure) -> SecurityNotice {
        var notice = notice
        notice.language = language.map { String($0.prefix(Self.languagesMax)) }
        try run(
            "INSERT INTO notice (created, content) VALUES (?1, ?2)", .integer(now),
            .text(factorSeal.sealed(notice.stored.serialized(), Self.place)))
        notice.id = try first("SELECT last_insert_rowid()") { $0.integer(at: 0) } ?? 0
        return notice
    }

    /// Removes a notice that was sent.
    public func removeNotice(_ id: Int64) throws(AccountFailure) { try run("DELETE FROM notice WHERE id = ?1", .integer(id)) }

    /// The oldest notices that wait.
    func waitingNotices() throws(AccountFailure) -> [SecurityNotice] {
        try rows("SELECT id, content FROM notice ORDER BY id LIMIT ?1", [.integer(Self.noticesMax)]) { row in
            guard let bytes = factorSeal.opened(row.text(at: 1), Self.place), let stored = try? JSONValue(parsing: bytes) else { return nil }
            return SecurityNotice(id: row.integer(at: 0), stored: stored)
        }
    }

    /// Makes the notice of a second factor, with the link by which the user removes a factor that another person has added. Nil if the user has no
    /// e-mail.
    func addNotice(of factor: SecondFactor, _ user: UserRecord, link: (String) -> String) throws(AccountFailure) -> SecurityNotice? {
        guard let email = user.email else { return nil }
        let code = try addNoticeCode(.REVERT_SECOND_FACTOR_ADDITION, email: email, detail: factor.id, of: user, link: link)
        var notice = SecurityNotice(.factorAdded, to: email)
        notice.link = code.link
        notice.label = factor.label
        return try add(notice)
    }

    /// Makes the notice of a linked account. Nil if the user had no e-mail before.
    func addNotice(ofProvider id: String, _ old: UserRecord) throws(AccountFailure) -> SecurityNotice? {
        guard let email = old.email else { return nil }
        try countNotice(to: email, tenant: old.tenant)
        var notice = SecurityNotice(.signInAdded, to: email)
        notice.label = ["google.com": "Google", "facebook.com": "Facebook", "apple.com": "Apple"][id] ?? id
        return try add(notice)
    }

    /// Adds a notice of a change that is made also without it: an owner who gets no more notices has got many by then. In production only, as the
    /// emulator sends none.
    func tell(
        _ result: inout SignedIn, _ notice: () throws(AccountFailure) -> SecurityNotice?
    ) throws(AccountFailure) {
        guard policy.isStrict else { return }
        do throws(AccountFailure) {
            if let made = try notice() { result.notices.append(made) }
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            result.withheldNotice = refusal.message
        }
    }
}
