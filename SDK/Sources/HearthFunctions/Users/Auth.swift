internal import HearthJSON

/// The users of the host, and their tokens.
///
///     let user = try await auth.getUser(email: "ada@example.com")
///     try await auth.setCustomUserClaims(user.uid, ["admin": true])
///
/// The names are those of the Firebase Admin SDKs. In production mode, the host's configuration names the plugins that may use it (`auth.plugins`);
/// others get ``FirebaseAuthError/Code/insufficientPermission``.
public let auth = Auth()

/// Administers users of the project or of a tenant, and makes and verifies tokens.
public struct Auth: Sendable {
    /// The most identifiers of ``getUsers(_:)``.
    public static let identifiersMax = 100
    /// The most users of a page, an import and ``deleteUsers(_:)``.
    public static let usersMax = 1000

    /// The tenant; nil for the project's own users.
    public let tenantID: String?

    init(tenantID: String? = nil) { self.tenantID = tenantID }

    /// The users of a tenant.
    public func tenant(_ id: String) -> Auth { Auth(tenantID: id) }

    // MARK: Reading

    /// The user with this id.
    public func getUser(_ uid: String) async throws(FirebaseAuthError) -> AuthUserRecord { try await only(.uid(uid)) }

    /// The user with this e-mail.
    public func getUser(email: String) async throws(FirebaseAuthError) -> AuthUserRecord { try await only(.email(email)) }

    /// The user with this phone number.
    public func getUser(phoneNumber: String) async throws(FirebaseAuthError) -> AuthUserRecord { try await only(.phoneNumber(phoneNumber)) }

    /// The user to whom an account of an identity provider is linked.
    public func getUser(providerID: String, uid: String) async throws(FirebaseAuthError) -> AuthUserRecord {
        try await only(.provider(id: providerID, uid: uid))
    }

    private func only(_ identifier: UserIdentifier) async throws(FirebaseAuthError) -> AuthUserRecord {
        guard let user = try await getUsers([identifier]).users.first else { throw FirebaseAuthError(.userNotFound, "There is no such user.") }
        return user
    }

    /// The users with up to 100 identifiers, in no order, and the identifiers of none.
    public func getUsers(_ identifiers: [UserIdentifier]) async throws(FirebaseAuthError) -> (users: [AuthUserRecord], notFound: [UserIdentifier]) {
        guard identifiers.count <= Self.identifiersMax else {
            throw FirebaseAuthError(.maximumUserCountExceeded, "One call finds at most \(Self.identifiersMax) users; these are \(identifiers.count).")
        }
        guard !identifiers.isEmpty else { return ([], []) }
        var (uids, emails, phones, links): ([JSONValue], [JSONValue], [JSONValue], [JSONValue]) = ([], [], [], [])
        for identifier in identifiers {
            switch identifier {
            case .uid(let uid): uids.append(.string(uid))
            case .email(let email): emails.append(.string(email))
            case .phoneNumber(let phone): phones.append(.string(phone))
            case .provider(let id, let uid): links.append(["providerId": .string(id), "rawId": .string(uid)])
            }
        }
        let answer = try await call(
            "accounts:lookup",
            ["localId": .array(uids), "email": .array(emails), "phoneNumber": .array(phones), "federatedUserId": .array(links)])
        let users = (answer["users"]?.array ?? []).map { AuthUserRecord(account: $0) }
        return (users, identifiers.filter { identifier in !users.contains { identifier.names($0) } })
    }

    /// All users, by uid. The next page is read when the loop needs it.
    ///
    ///     for try await user in auth.listUsers() { ... }
    ///
    /// - Parameter pageSize: the users of a request, from 1 to 1000.
    public func listUsers(pageSize: Int = Auth.usersMax) -> AuthUserList { AuthUserList(auth: self, pageSize: pageSize) }

    /// A page of users, by uid.
    ///
    /// - Parameters:
    ///   - maxResults: from 1 to 1000.
    ///   - pageToken: the token that the page before has returned.
    /// - Returns: the users, and the token of the next page; nil at the end.
    public func listUsers(maxResults: Int, pageToken: String?) async throws(FirebaseAuthError) -> (users: [AuthUserRecord], pageToken: String?) {
        var payload: JSONObject = ["maxResults": JSONValue(maxResults)]
        payload["nextPageToken"] = pageToken.map { .string($0) }
        let answer = try await call("accounts:batchGet", payload)
        return ((answer["users"]?.array ?? []).map { AuthUserRecord(account: $0) }, answer["nextPageToken"]?.string)
    }

    // MARK: Changing

    /// Creates a user, with a new uid unless the request has one.
    public func createUser(_ request: AuthUserRequest) async throws(FirebaseAuthError) -> AuthUserRecord {
        let answer = try await call("accounts:create", request.creation)
        return try await getUser(answer["localId"]?.string ?? "")
    }

    /// Changes the properties that the request has, and removes those that it names.
    public func updateUser(_ uid: String, _ request: AuthUserRequest) async throws(FirebaseAuthError) -> AuthUserRecord {
        _ = try await call("accounts:update", request.change(of: uid))
        return try await getUser(uid)
    }

    /// Deletes a user with all sessions.
    public func deleteUser(_ uid: String) async throws(FirebaseAuthError) { _ = try await call("accounts:delete", ["localId": .string(uid)]) }

    /// Deletes up to 1000 users. Unknown ids are ignored.
    ///
    /// - Returns: the number of users that do not exist any more, and the others with the reasons.
    public func deleteUsers(_ uids: [String]) async throws(FirebaseAuthError) -> (successCount: Int, failures: [AuthRowFailure]) {
        guard !uids.isEmpty else { return (0, []) }
        let answer = try await call("accounts:batchDelete", ["localIds": .array(uids.map { .string($0) }), "force": true])
        let failures = (answer["errors"]?.array ?? []).map(AuthRowFailure.init)
        return (uids.count - failures.count, failures)
    }

    /// Replaces the custom claims of a user. They are in the user's ID tokens from the next refresh on.
    ///
    /// - Parameters:
    ///   - uid: the user's id.
    ///   - claims: at most 1000 characters of JSON; nil to remove all.
    public func setCustomUserClaims(_ uid: String, _ claims: JSONObject?) async throws(FirebaseAuthError) {
        let text = JSONValue.object(claims ?? [:]).description
        _ = try await call("accounts:update", ["localId": .string(uid), "customAttributes": .string(text)])
    }

    /// Ends all sessions of a user. ID tokens that exist are refused by ``verifyIDToken(_:checkRevoked:)`` with `checkRevoked`. In development mode
    /// refresh tokens go on, as those of the emulator.
    public func revokeRefreshTokens(_ uid: String) async throws(FirebaseAuthError) {
        _ = try await call("accounts:update", ["localId": .string(uid), "validSince": .string(String(WallTime.seconds))])
    }

    /// Imports up to 1000 users, without any check of their data against the password policy. Users with the same uid are replaced as a
    /// whole, and their sessions end.
    ///
    /// - Parameters:
    ///   - users: at most 1000.
    ///   - hash: the algorithm of the password hashes, if there are any.
    /// - Returns: the number of imported users, and the others with the reasons.
    public func importUsers(
        _ users: [AuthUserImport], hash: AuthPasswordHash? = nil
    ) async throws(FirebaseAuthError) -> (successCount: Int, failures: [AuthRowFailure]) {
        var payload = hash?.fields ?? [:]
        payload["users"] = .array(users.map { .object($0.fields) })
        let failures = (try await call("accounts:batchCreate", payload)["error"]?.array ?? []).map(AuthRowFailure.init)
        return (users.count - failures.count, failures)
    }

    // MARK: Calls

    /// Calls an operation of the service.
    func call(_ method: String, _ payload: JSONObject, ofTenant: Bool = true) async throws(FirebaseAuthError) -> JSONValue {
        var payload = payload
        if ofTenant, let tenantID { payload["tenantId"] = .string(tenantID) }
        let answer = await services.answer("auth", method, JSONValue.object(payload).serialized())
        let value = (try? answer.value) ?? .null
        if answer.isOK { return value }
        throw FirebaseAuthError(failure: value)
    }
}

/// The identity of a user in ``Auth/getUsers(_:)``.
public enum UserIdentifier: Sendable, Hashable {
    /// The user's id.
    case uid(String)
    /// An e-mail, in any case of letters.
    case email(String)
    /// A phone number such as "+15555550100".
    case phoneNumber(String)
    /// The id of an account of an identity provider.
    case provider(id: String, uid: String)

    /// Whether it is an identity of `user`.
    func names(_ user: AuthUserRecord) -> Bool {
        switch self {
        case .uid(let uid): user.uid == uid
        case .email(let email): user.email == email.lowercased()
        case .phoneNumber(let phone): user.phoneNumber == phone
        case .provider(let id, let uid): user.providerData.contains { $0.providerID == id && $0.uid == uid }
        }
    }
}

/// A user that was not imported or deleted.
public struct AuthRowFailure: Sendable, Hashable {
    /// The index in the given list.
    public var index: Int
    /// The reason, in one sentence.
    public var message: String

    init(_ json: JSONValue) {
        index = json["index"]?.int ?? 0
        message = json["message"]?.string ?? ""
    }
}

/// All users, page by page.
public struct AuthUserList: AsyncSequence, Sendable {
    /// A user, when its page was read.
    public typealias Element = AuthUserRecord
    /// The reason why a loop ends early.
    public typealias Failure = FirebaseAuthError

    let auth: Auth
    let pageSize: Int

    /// Begins at the first user.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(auth, pageSize) }

    /// The state of a loop over the users.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let auth: Auth
        private let pageSize: Int
        private var page: ArraySlice<AuthUserRecord> = []
        private var token: String?
        private var isLast = false

        init(_ auth: Auth, _ pageSize: Int) { (self.auth, self.pageSize) = (auth, pageSize) }

        /// The next user; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(FirebaseAuthError) -> AuthUserRecord? {
            while page.isEmpty, !isLast {
                do throws(FirebaseAuthError) {
                    let (users, next) = try await auth.listUsers(maxResults: pageSize, pageToken: token)
                    (page, token, isLast) = (users[...], next, next == nil)
                } catch {
                    isLast = true
                    throw error
                }
            }
            return page.popFirst()
        }
    }
}
