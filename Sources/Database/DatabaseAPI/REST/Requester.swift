import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase

/// The sender of a request.
struct Requester {
    /// The principal for whom the request is handled.
    var principal: Principal
    /// Whether the credential is an administrator's, regardless of the principal.
    var isAdmin: Bool
    /// The expiry time of the credential, in seconds since 1970.
    var expires: Int64?
    /// The expiry time of the App Check token, in seconds since 1970; nil where none is required, and for tokens that do not expire.
    var appExpires: Int64?

    static let signedOut = Requester(principal: .user(auth: nil), isAdmin: false)

    /// The writer in the events of a write (spec database 6).
    var origin: EventOrigin { EventOrigin(of: principal) }

    /// When the first of the tokens expires, in seconds since 1970.
    var firstExpiry: Int64? {
        guard let expires, let appExpires else { return expires ?? appExpires }
        return min(expires, appExpires)
    }

    /// Says which token has expired at a time, in milliseconds since 1970; nil if none has.
    func expiry(at milliseconds: Int64) -> RESTError? {
        if let expires, expires * 1000 <= milliseconds { return .expired }
        if let appExpires, appExpires * 1000 <= milliseconds { return .appHasExpired }
        return nil
    }
}

/// Determines the sender of a request (spec database 2.4).
struct RequesterReader {
    /// The bearer token of administrators.
    let adminToken: [UInt8]
    /// The requests in which `owner` and unsigned tokens are accepted; nil in production mode, in which they are not.
    let developmentAccess: DevelopmentAccess?
    let checker: any CredentialChecker

    /// The result of reading the credential of a request.
    enum Finding {
        case known(Requester)
        /// A token that must be verified first.
        case token([UInt8], isInQuery: Bool)
    }

    /// Reads `auth`, otherwise `access_token`, otherwise the Authorization field.
    func read(_ exchange: HTTPExchange, _ parameters: RESTParameters) throws(RESTError) -> Finding {
        if let auth = parameters.auth { return try finding(auth.span, exchange, parameters, isInQuery: true, otherwise: .unreadableToken) }
        if let token = parameters.accessToken { return try finding(token.span, exchange, parameters, isInQuery: true, otherwise: .unauthorized) }
        guard let header = exchange.header("authorization"), header.count > 0 else {
            guard parameters.authOverride == nil else { throw .unauthorized }
            return .known(.signedOut)
        }
        guard header.count > 7, header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer ") else { throw .unauthorized }
        return try finding(header.extracting(7..<header.count), exchange, parameters, isInQuery: false, otherwise: .unauthorized)
    }

    /// The sender with a verified token.
    func requester(
        _ verdict: CredentialVerdict, _ exchange: HTTPExchange, _ parameters: RESTParameters, isInQuery: Bool
    ) throws(RESTError) -> Requester {
        switch verdict {
        case .admin(let expires): return try administrator(parameters, expires: expires)
        case .user(let auth, let expires, let isUnsigned):
            if isUnsigned, let reason = developmentAccess?.refusal(of: exchange, isInQuery: isInQuery) {
                throw RESTError(.unauthorized, "A token without a signature \(reason).")
            }
            guard parameters.authOverride == nil else { throw .unauthorized }
            return Requester(principal: .user(auth: auth), isAdmin: false, expires: expires)
        case .refused(.unreadable): throw .unreadableToken
        case .refused(.expired): throw .expired
        case .refused(.unauthorized): throw .unauthorized
        case .refused(.unavailable): throw RESTError(.serviceUnavailable, "The access token cannot be verified now. Try again.")
        }
    }

    private func finding(
        _ token: Span<UInt8>, _ exchange: HTTPExchange, _ parameters: RESTParameters, isInQuery: Bool, otherwise: RESTError
    ) throws(RESTError) -> Finding {
        if token.equalsInConstantTime(adminToken) { return .known(try administrator(parameters)) }
        if let developmentAccess, token.equals("owner") {
            if let reason = developmentAccess.refusal(of: exchange, isInQuery: isInQuery) {
                throw RESTError(.unauthorized, "The token \"owner\" \(reason).")
            }
            return .known(try administrator(parameters))
        }
        if let verdict = checker.known(token) { return .known(try requester(verdict, exchange, parameters, isInQuery: isInQuery)) }
        guard Self.looksLikeToken(token) else { throw otherwise }
        return .token(token.array(), isInQuery: isInQuery)
    }

    /// Whether a text has three parts with two dots between them. The last part of an unsigned token is empty.
    private static func looksLikeToken(_ text: Span<UInt8>) -> Bool {
        text.withUnsafeBufferPointer { text in text.count { $0 == UInt8(ascii: ".") } == 2 }
    }

    /// An administrator, or the user in whose name an administrator acts. In the latter case, rules apply.
    private func administrator(_ parameters: RESTParameters, expires: Int64? = nil) throws(RESTError) -> Requester {
        guard let override = parameters.authOverride else { return Requester(principal: .admin, isAdmin: true, expires: expires) }
        guard let auth = try? JSONValue(parsing: override.span) else { throw Self.badOverride }
        switch auth {
        case .null: return Requester(principal: .user(auth: nil), isAdmin: true, expires: expires)
        case .object: return Requester(principal: .user(auth: auth), isAdmin: true, expires: expires)
        default: throw Self.badOverride
        }
    }

    private static let badOverride = RESTError.badRequest("auth_variable_override must be a JSON object or null")
}
