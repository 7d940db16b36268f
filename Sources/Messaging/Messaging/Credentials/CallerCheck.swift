import HearthBytes
import HTTP

/// The caller of the messaging API.
enum Caller: Sendable, Equatable {
    /// An administrator; in development mode, also a caller with the token `owner`.
    case owner
    /// A service account of a project, with an access token for these scopes.
    case account(email: String, project: String, scopes: Scopes)

    /// Whether the caller may act for a project.
    func may(actFor project: String) -> Bool {
        switch self {
        case .owner: true
        case .account(_, let own, _): own == project
        }
    }
}

/// The scopes of an access token.
struct Scopes: OptionSet, Sendable, Hashable {
    let rawValue: Int

    static let messaging = Scopes(rawValue: 1)
    static let cloudPlatform = Scopes(rawValue: 2)
    /// Scopes that Admin SDKs request for other services of this host.
    static let other = Scopes(rawValue: 4)
    static let database = Scopes(rawValue: 8)
    static let users = Scopes(rawValue: 16)

    /// Parses a list that is separated by spaces.
    init(list: String) {
        var found: Scopes = []
        for scope in list.split(separator: " ") {
            guard scope.hasPrefix("https://www.googleapis.com/auth/") else { continue }
            switch scope.dropFirst("https://www.googleapis.com/auth/".count) {
            case "firebase.messaging": found.insert(.messaging)
            case "cloud-platform": found.insert(.cloudPlatform)
            case "firebase.database": found.insert(.database)
            case "identitytoolkit": found.formUnion([.users, .other])
            case "firebase", "userinfo.email": found.insert(.other)
            default: break
            }
        }
        self = found
    }

    init(rawValue: Int) { self.rawValue = rawValue }

    /// The names of what accounts can be bounded to, in the API and on the command line.
    static let names: [(name: String, scope: Scopes)] = [("auth", .users), ("database", .database), ("messaging", .messaging)]

    /// These names; nil if one is unknown, or there is none.
    init?(names: [String]) {
        var found: Scopes = []
        for name in names {
            guard let scope = Self.names.first(where: { $0.name == name })?.scope else { return nil }
            found.insert(scope)
        }
        guard !found.isEmpty else { return nil }
        self = found
    }

    var names: [String] { Self.names.filter { contains($0.scope) }.map(\.name) }

    /// The requested scopes that lie within the bounds of an account. Scopes for everything become those of the bounds.
    func within(_ bounds: Scopes?) -> Scopes {
        guard let bounds else { return self }
        return contains(.cloudPlatform) ? bounds : intersection(bounds)
    }

    /// Whether they permit sending.
    var allowMessaging: Bool { !isDisjoint(with: [.messaging, .cloudPlatform]) }

    /// Whether they permit the administration of databases.
    var allowDatabases: Bool { !isDisjoint(with: [.database, .cloudPlatform]) }
    /// Whether users and their devices may be administered.
    var allowUsers: Bool { !isDisjoint(with: [.users, .cloudPlatform]) }
}

/// Identifies callers (spec messaging 2.1 and 5.6).
struct CallerCheck: Sendable {
    let adminToken: [UInt8]
    /// The callers for whom `Bearer owner` is an administrator's token; nil for none.
    let ownerAccess: DevelopmentAccess?
    let tokens: SealedTokens
    let accounts: LiveAccounts
    let clock: MessagingClock

    /// Identifies the caller, regardless of permissions.
    func caller(_ exchange: HTTPExchange) throws(MessagingError) -> Caller {
        guard let header = exchange.header("authorization"), header.count > 0 else { throw .unauthenticated }
        guard header.count > 7, header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer ") else { throw .unauthenticated }
        let token = header.extracting(7..<header.count)
        if token.equalsInConstantTime(adminToken) { return .owner }
        if let ownerAccess, token.equals("owner") {
            if let reason = ownerAccess.refusal(of: exchange) { throw .ownerRefused(reason) }
            return .owner
        }
        return try account(token).caller
    }

    /// The service account of an access token, and when the token expires, in seconds since 1970.
    func account(_ token: Span<UInt8>) throws(MessagingError) -> (caller: Caller, ends: Int64) {
        guard let content = tokens.open(token.string(), for: .access) else { throw .invalidCredential }
        let parts = content.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard (4...5).contains(parts.count), let ends = Int64(parts[0]), let scopes = Int(parts[1]) else { throw .invalidCredential }
        guard ends * 1000 > clock.now else { throw .expiredCredential }
        // A token becomes invalid when its account or the account's key is deleted.
        guard try accounts.contains(email: parts[3], project: parts[2], keyID: parts.count > 4 ? parts[4] : nil) else { throw .invalidCredential }
        return (.account(email: parts[3], project: parts[2], scopes: Scopes(rawValue: scopes)), ends)
    }

    /// The caller, if it may send.
    func sender(_ exchange: HTTPExchange) throws(MessagingError) -> Caller {
        let caller = try caller(exchange)
        if case .account(_, _, let scopes) = caller, !scopes.allowMessaging { throw .insufficientScope }
        return caller
    }
}

extension MessagingError {
    private static let expectation =
        "Expected OAuth 2 access token, login cookie or other valid authentication credential. "
        + "See https://developers.google.com/identity/sign-in/web/devconsole-project."

    static let unauthenticated = MessagingError(
        .unauthenticated, "Request is missing required authentication credential. \(expectation)")
    static let invalidCredential = MessagingError(
        .invalidCredential(isExpired: false), "Request had invalid authentication credentials. \(expectation)")
    static let expiredCredential = MessagingError(
        .invalidCredential(isExpired: true), "Request had invalid authentication credentials. \(expectation)")
    /// The error for the token `owner` in development mode, from a caller who may not use it.
    static func ownerRefused(_ reason: String) -> MessagingError {
        MessagingError(.invalidCredential(isExpired: false), "The token \"owner\" \(reason).")
    }
    static let insufficientScope = MessagingError(.insufficientScope, "Request had insufficient authentication scopes.")
}
