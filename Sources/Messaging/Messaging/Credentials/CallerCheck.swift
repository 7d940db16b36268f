import HearthBytes
import HTTP

/// Who calls the messaging API, as far as it matters what he may do.
enum Caller: Sendable, Equatable {
    /// The administrator, or anybody in development mode who says `owner`.
    case owner
    /// A service account of a project, with an access token for these scopes.
    case account(email: String, project: String, scopes: Scopes)

    /// Whether it may do things for a project.
    func may(actFor project: String) -> Bool {
        switch self {
        case .owner: true
        case .account(_, let own, _): own == project
        }
    }
}

/// What an access token is good for.
struct Scopes: OptionSet, Sendable, Hashable {
    let rawValue: Int

    static let messaging = Scopes(rawValue: 1)
    static let cloudPlatform = Scopes(rawValue: 2)
    /// What Admin SDKs ask for other services of this host.
    static let other = Scopes(rawValue: 4)
    static let database = Scopes(rawValue: 8)

    /// Of a list with spaces between.
    init(list: String) {
        var found: Scopes = []
        for scope in list.split(separator: " ") {
            guard scope.hasPrefix("https://www.googleapis.com/auth/") else { continue }
            switch scope.dropFirst("https://www.googleapis.com/auth/".count) {
            case "firebase.messaging": found.insert(.messaging)
            case "cloud-platform": found.insert(.cloudPlatform)
            case "firebase.database": found.insert(.database)
            case "firebase", "identitytoolkit", "userinfo.email": found.insert(.other)
            default: break
            }
        }
        self = found
    }

    init(rawValue: Int) { self.rawValue = rawValue }

    /// Whether they allow to send.
    var allowMessaging: Bool { !isDisjoint(with: [.messaging, .cloudPlatform]) }

    /// Whether they allow to administer databases.
    var allowDatabases: Bool { !isDisjoint(with: [.database, .cloudPlatform]) }
}

/// Finds out who calls (spec messaging 2.1 and 5.6).
struct CallerCheck: Sendable {
    let adminToken: [UInt8]
    /// From where `Bearer owner` is the administrator's; nil for nowhere.
    let ownerAccess: DevelopmentAccess?
    let tokens: SealedTokens
    let accounts: LiveAccounts
    let clock: MessagingClock

    /// Who calls, whatever he may do.
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

    /// The service account that an access token was given to, and when the token ends, in seconds since 1970.
    func account(_ token: Span<UInt8>) throws(MessagingError) -> (caller: Caller, ends: Int64) {
        guard let content = tokens.open(token.string(), for: .access) else { throw .invalidCredential }
        let parts = content.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard (4...5).contains(parts.count), let ends = Int64(parts[0]), let scopes = Int(parts[1]) else { throw .invalidCredential }
        guard ends * 1000 > clock.now else { throw .expiredCredential }
        // A token ends with its account, and with the account's key.
        guard try accounts.contains(email: parts[3], project: parts[2], keyID: parts.count > 4 ? parts[4] : nil) else { throw .invalidCredential }
        return (.account(email: parts[3], project: parts[2], scopes: Scopes(rawValue: scopes)), ends)
    }

    /// A caller who may send for a project.
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
    /// `owner`, in development mode, from where it does not count.
    static func ownerRefused(_ reason: String) -> MessagingError {
        MessagingError(.invalidCredential(isExpired: false), "The token \"owner\" \(reason).")
    }
    static let insufficientScope = MessagingError(.insufficientScope, "Request had insufficient authentication scopes.")
}
