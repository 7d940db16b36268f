import Glibc
import HearthBytes
public import HearthJSON

/// Imports the users of a file, in requests of at most 1000 users.
///
/// Users are replaced if their ids exist, so that a request can be repeated: temporary failures are retried.
public struct UserImport {
    /// A user that was not imported.
    public struct Refusal: Sendable, Equatable {
        /// The position among the users of the file, from 1.
        public let row: Int
        /// The line at which the user begins, from 1.
        public let line: Int
        public let uid: String?
        public let reason: String
    }

    private let users: UsersClient
    private let hashing: PasswordHashing?
    private let takesPasswords: Bool
    private let report: (Refusal) -> Void
    private var rows: [(row: UserRow, user: JSONObject)] = []
    private var rowBytes = 0

    /// The number of imported users.
    public private(set) var imported = 0
    /// The number of users that were not imported.
    public private(set) var refused = 0

    private static let requestBytesMax = 8 << 20
    private static let retriesMax = 6

    /// - Parameters:
    ///   - hashing: the algorithm of the hashes; nil if the file has none, or one for each user.
    ///   - takesPasswords: false to leave out the passwords.
    ///   - report: called for each user that is not imported.
    public init(_ users: UsersClient, hashing: PasswordHashing?, takesPasswords: Bool = true, report: @escaping (Refusal) -> Void) {
        self.users = users
        self.hashing = hashing
        self.takesPasswords = takesPasswords
        self.report = report
    }

    /// Adds a user of the file, and imports collected ones.
    public mutating func take(_ row: UserRow) throws(ClientFailure) {
        switch row.content {
        case .failure(let fault): refuse(row, uid: fault.uid, fault.description)
        case .success(var user):
            if !takesPasswords { for name in ["passwordHash", "salt", "passwordHashParameters"] { user.removeValue(forKey: name) } }
            guard user["passwordHash"] == nil || user["passwordHashParameters"] != nil || hashing != nil else {
                throw ClientFailure(
                    .invalidInput,
                    "there are password hashes (line \(row.line)): name their algorithm with --hash-algo, or use --without-passwords")
            }
            let bytes = JSONValue.object(user).serialized().count
            if rows.count == UsersClient.pageSizeMax || rowBytes + bytes > Self.requestBytesMax { try flush() }
            rows.append((row, user))
            rowBytes += bytes
        }
    }

    /// Imports the collected users.
    public mutating func flush() throws(ClientFailure) {
        guard !rows.isEmpty else { return }
        var body = hashing?.fields ?? JSONObject()
        body["users"] = .array(rows.map { .object($0.user) })
        let refusals = try retrying(body)
        for (index, reason) in refusals where rows.indices.contains(index) {
            refuse(rows[index].row, uid: rows[index].user["localId"]?.string, reason)
        }
        imported += rows.count - refusals.count
        rows.removeAll(keepingCapacity: true)
        rowBytes = 0
    }

    private mutating func refuse(_ row: UserRow, uid: String?, _ reason: String) {
        refused += 1
        report(Refusal(row: row.number, line: row.line, uid: uid, reason: reason))
    }

    private func retrying(_ body: JSONObject) throws(ClientFailure) -> [(index: Int, reason: String)] {
        var retries = 0
        while true {
            do throws(ClientFailure) {
                return try users.importUsers(body)
            } catch {
                guard error.isPassing, retries < Self.retriesMax else { throw error }
                usleep(useconds_t(min(5_000_000, 100_000 << retries)))
                retries += 1
            }
        }
    }
}
