import HearthBytes
import HTTP
import RealtimeDatabase

/// Admits requests by their App Check tokens (spec database 2.3, 3.1). Administrators need none, as in the hosted service.
struct AppCheck {
    let isEnforced: Bool
    /// The requests in which unsigned tokens are accepted; nil in production mode, in which they are not.
    let developmentAccess: DevelopmentAccess?
    let checker: any CredentialChecker

    /// The result of reading the token of a request.
    enum Finding {
        /// The sender is admitted.
        case known(Requester)
        /// A token that must be verified first.
        case token([UInt8], isInQuery: Bool)
    }

    /// Finds the sender, if it may be known without verifying a token.
    func read(_ requester: Requester, _ exchange: HTTPExchange, _ parameters: RESTParameters) throws(RESTError) -> Finding {
        guard isEnforced, !requester.isAdmin else { return .known(requester) }
        guard let (token, isInQuery) = token(exchange, parameters) else {
            checker.appWasMissing()
            throw .appIsMissing
        }
        guard let verdict = checker.knownApp(token.span) else { return .token(token, isInQuery: isInQuery) }
        return .known(try admit(requester, verdict, exchange, isInQuery: isInQuery))
    }

    /// The parameter `ac`, otherwise the field `X-Firebase-AppCheck`. An empty one counts as absent. Nil where App Check is not enforced.
    func token(_ exchange: HTTPExchange, _ parameters: RESTParameters) -> (text: [UInt8], isInQuery: Bool)? {
        guard isEnforced else { return nil }
        if let token = parameters.app, !token.isEmpty { return (token, true) }
        guard let token = exchange.header("x-firebase-appcheck"), token.count > 0 else { return nil }
        return (token.array(), false)
    }

    /// The sender with a verified token.
    func admit(_ requester: Requester, _ verdict: AppVerdict, _ exchange: HTTPExchange, isInQuery: Bool) throws(RESTError) -> Requester {
        switch verdict {
        case .app(let expires, let isUnsigned):
            if isUnsigned, let reason = developmentAccess?.refusal(of: exchange, isInQuery: isInQuery) {
                throw RESTError(.unauthorized, "An App Check token without a signature \(reason).")
            }
            var requester = requester
            requester.appExpires = expires
            return requester
        case .refused(.expired): throw .appHasExpired
        case .refused(.unavailable): throw .appIsUnknown
        case .refused(.unreadable), .refused(.unauthorized): throw .appIsInvalid
        }
    }
}
