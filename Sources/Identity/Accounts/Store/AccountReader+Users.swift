import HearthJSON
import SQLite

/// Reading users.
extension AccountReader {
    private func read(_ row: Statement) -> UserRecord? {
        guard let stored = try? JSONValue(parsing: row.text(at: 2)) else { return nil }
        return UserRecord(tenant: row.text(at: 0), uid: row.text(at: 1), stored: stored, factorSeal)
    }

    private func one(_ sql: String, _ tenant: String, _ values: Value...) throws(AccountFailure) -> UserRecord? {
        try some(sql, tenant, values).first
    }

    /// Users of a tenant: none while it is being removed.
    private func some(_ sql: String, _ tenant: String, _ values: [Value]) throws(AccountFailure) -> [UserRecord] {
        guard try !isBeingRemoved(tenant) else { return [] }
        return try rows(sql, [.text(tenant)] + values, read)
    }

    /// Whether a tenant was deleted, and a part of its users still is in the store.
    func isBeingRemoved(_ tenant: String) throws(AccountFailure) -> Bool {
        guard !tenant.isEmpty else { return false }
        return try first("SELECT 1 FROM removal WHERE tenant = ?1", .text(tenant)) { _ in true } ?? false
    }

    /// The user with this id.
    public func user(_ uid: String, tenant: String) throws(AccountFailure) -> UserRecord? {
        try one("SELECT tenant, uid, record FROM user WHERE tenant = ?1 AND uid = ?2", tenant, .text(uid))
    }

    /// The user with this e-mail, in lower case.
    public func user(email: String, tenant: String) throws(AccountFailure) -> UserRecord? {
        try one("SELECT tenant, uid, record FROM user WHERE tenant = ?1 AND email = ?2", tenant, .text(email))
    }

    /// The user with this phone number.
    public func user(phone: String, tenant: String) throws(AccountFailure) -> UserRecord? {
        try one("SELECT tenant, uid, record FROM user WHERE tenant = ?1 AND phone = ?2", tenant, .text(phone))
    }

    /// The user to whom an account of an identity provider is linked.
    public func user(provider: String, rawID: String, tenant: String) throws(AccountFailure) -> UserRecord? {
        try one(
            """
            SELECT user.tenant, user.uid, record FROM link JOIN user ON user.tenant = link.tenant AND user.uid = link.uid
            WHERE link.tenant = ?1 AND link.provider = ?2 AND link.rawID = ?3
            """, tenant, .text(provider), .text(rawID))
    }

    /// The users with a linked account that has this e-mail.
    func users(linkedEmail email: String, tenant: String) throws(AccountFailure) -> [UserRecord] {
        try some(
            """
            SELECT user.tenant, user.uid, record FROM link JOIN user ON user.tenant = link.tenant AND user.uid = link.uid
            WHERE link.tenant = ?1 AND link.email = ?2 ORDER BY user.uid LIMIT 100
            """, tenant, [.text(email)])
    }

    /// A page of users, ordered by id. It ends earlier than `limit` says if it has many bytes.
    ///
    /// - Returns: the users, and whether there may be more.
    public func users(tenant: String, after uid: String, limit: Int) throws(AccountFailure) -> (users: [UserRecord], mayHaveMore: Bool) {
        guard try !isBeingRemoved(tenant) else { return ([], false) }
        var (bytes, isCut) = (0, false)
        let found = try rows(
            "SELECT tenant, uid, record FROM user WHERE tenant = ?1 AND uid > ?2 ORDER BY uid LIMIT ?3",
            [.text(tenant), .text(uid), .integer(Int64(limit))]
        ) { row -> UserRecord? in
            guard !isCut, bytes < Self.pageBytesMax else {
                isCut = true
                return nil
            }
            bytes += row.bytes(at: 2).count
            return read(row)
        }
        return (found, isCut || found.count == limit)
    }

    private static var pageBytesMax: Int { 4 << 20 }

    /// The orders of a query.
    public enum Order: String, Sendable {
        case USER_ID, NAME, CREATED_AT, LAST_LOGIN_AT, USER_EMAIL

        fileprivate var column: String {
            switch self {
            case .USER_ID: "uid"
            case .NAME: "name"
            case .CREATED_AT: "created"
            case .LAST_LOGIN_AT: "signedIn"
            case .USER_EMAIL: "email"
            }
        }
    }

    /// A part of all users in an order.
    public func users(
        tenant: String, order: Order, isDescending: Bool, offset: Int, limit: Int
    ) throws(AccountFailure) -> [UserRecord] {
        let direction = isDescending ? "DESC" : "ASC"
        let columns = order == .USER_ID ? "uid \(direction)" : "\(order.column) \(direction), uid \(direction)"
        return try some(
            "SELECT tenant, uid, record FROM user WHERE tenant = ?1 ORDER BY \(columns) LIMIT ?2 OFFSET ?3", tenant,
            [.integer(Int64(limit)), .integer(Int64(offset))])
    }

    /// The number of users.
    public func userCount(tenant: String) throws(AccountFailure) -> Int {
        guard try !isBeingRemoved(tenant) else { return 0 }
        return try first("SELECT count FROM userCount WHERE tenant = ?1", .text(tenant)) { Int($0.integer(at: 0)) } ?? 0
    }
}
