public import HearthJSON

/// Exports users to a file, page by page.
public struct UserExport {
    /// The users that a file does not hold completely.
    public struct Losses: Sendable, Equatable {
        /// Users whose password has another algorithm than the other users', so that the file does not have it.
        public var passwords = 0
        /// Users with linked accounts of providers that the file does not have.
        public var providers = 0
        /// Users with second factors, which the file does not have.
        public var factors = 0
        /// Users with one-time codes as a second factor, whose secrets no file has.
        public var secrets = 0

        public var isEmpty: Bool { self == Losses() }
    }

    private let users: UsersClient
    private let format: UserFileFormat
    /// Whether the file has fields that only a Hearth host reads.
    private let isComplete: Bool

    /// The number of exported users.
    public private(set) var count = 0
    /// The number of exported passwords.
    public private(set) var passwordCount = 0
    public private(set) var losses = Losses()
    /// The parameters of the passwords in a file that names them once, outside of it; nil as long as no user has such a password. A host may have
    /// hashes of several costs, after a change of `auth.passwordHash`: those that most of the first users have.
    public private(set) var hashing: PasswordHashing?

    /// - Parameter isComplete: whether to write all fields, in JSON.
    public init(_ users: UsersClient, format: UserFileFormat, isComplete: Bool) {
        self.users = users
        self.format = format
        self.isComplete = isComplete
    }

    /// Writes all users with `write`.
    public mutating func run(_ write: (String) throws(ClientFailure) -> Void) throws(ClientFailure) {
        var token: String?
        if format == .json { try write("{\"users\": [") }
        repeat {
            let page = try users.page(after: token, size: UsersClient.pageSizeMax, hashes: true)
            if hashing == nil { hashing = Self.usualHashing(page.users) }
            var text = ""
            for user in page.users {
                let row = row(user)
                switch format {
                case .json: text += "\(count == 0 ? "\n" : ",\n")\(JSONValue.object(row))"
                case .csv: text += CSVUser.record(row)
                }
                count += 1
            }
            if !text.isEmpty { try write(text) }
            token = page.next
        } while token != nil
        if format == .json { try write("\n]}\n") }
    }

    private static func usualHashing(_ users: [JSONObject]) -> PasswordHashing? {
        var counts: [PasswordHashing: Int] = [:]
        for user in users { if let hashing = ExportedPassword(of: user)?.scrypt { counts[hashing, default: 0] += 1 } }
        // The dearer one of two that are as common is newer.
        return counts.max { ($0.value, $0.key.memoryCost ?? 0) < ($1.value, $1.key.memoryCost ?? 0) }?.key
    }

    /// A user in the names of files.
    private mutating func row(_ user: JSONObject) -> JSONObject {
        var row = JSONObject()
        for name in UserFields.common where !["passwordHash", "salt", "providerUserInfo"].contains(name) {
            row[name] = user[name == "lastSignedInAt" ? "lastLoginAt" : name]
        }
        writePassword(user, to: &row)
        var (links, isPartial): ([JSONValue], Bool) = ([], false)
        for link in user["providerUserInfo"]?.array ?? [] {
            let provider = link["providerId"]?.string ?? ""
            // These follow from other fields.
            if ["password", "phone"].contains(provider) { continue }
            guard isComplete || CSVUser.providers.contains(provider) else {
                isPartial = true
                continue
            }
            var entry = JSONObject()
            for name in UserFields.ofProvider { entry[name] = link[name] }
            if isComplete { for name in ["screenName", "phoneNumber"] { entry[name] = link[name] } }
            links.append(.object(entry))
        }
        if isPartial { losses.providers += 1 }
        if !links.isEmpty { row["providerUserInfo"] = .array(links) }
        writeFactors(user, to: &row)
        if isComplete { for name in ["passwordUpdatedAt", "validSince"] { row[name] = user[name] } }
        return row
    }

    private mutating func writePassword(_ user: JSONObject, to row: inout JSONObject) {
        guard user["passwordHash"] != nil else { return }
        guard let password = ExportedPassword(of: user), isComplete || password.scrypt == hashing && hashing != nil else {
            losses.passwords += 1
            return
        }
        passwordCount += 1
        row["passwordHash"] = .string(password.hash)
        row["salt"] = .string(password.salt)
        if isComplete { row["passwordHashParameters"] = .object(password.parameters) }
    }

    private mutating func writeFactors(_ user: JSONObject, to row: inout JSONObject) {
        let factors = user["mfaInfo"]?.array ?? []
        guard !factors.isEmpty else { return }
        guard isComplete else {
            losses.factors += 1
            return
        }
        let written = factors.filter { $0["phoneInfo"] != nil }
        if written.count < factors.count { losses.secrets += 1 }
        if !written.isEmpty { row["mfaInfo"] = .array(written) }
    }
}
