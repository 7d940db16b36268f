import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase

/// Checks the credentials that a live connection presents (spec database 3.4, 10.1).
struct LiveCredentials {
    private let requesters: RequesterReader
    /// The reason why `owner` and unsigned tokens do not count on this connection; nil if they do.
    private let developmentRefusal: String?

    /// A sender, and the JSON of the answer.
    struct Finding {
        var requester: Requester
        var answer: [UInt8]
    }

    /// - Parameter exchange: the request that opened the connection. A page of another site is recognized by it.
    init(_ requesters: RequesterReader, _ exchange: HTTPExchange) {
        self.requesters = requesters
        if let access = requesters.developmentAccess {
            developmentRefusal = access.refusal(of: exchange)
        } else {
            developmentRefusal = "is not accepted by this host"
        }
    }

    /// Verifies a credential. `completion` may be called before this returns.
    func check(_ credential: LiveCredential, completion: @escaping (Result<Finding, LiveRefusal>) -> Void) {
        let token = credential.token.span
        if token.equalsInConstantTime(requesters.adminToken) { return completion(administrator(credential, expires: nil)) }
        if token.equals("owner"), requesters.developmentAccess != nil {
            if let developmentRefusal { return completion(.failure(.invalidToken("The token \"owner\" \(developmentRefusal)."))) }
            return completion(administrator(credential, expires: nil))
        }
        if let verdict = requesters.checker.known(token) { return completion(finding(verdict, credential)) }
        requesters.checker.check(credential.token) { verdict in completion(finding(verdict, credential)) }
    }

    /// Verifies an App Check token. `completion` may be called before this returns, with the expiry time of the token in seconds since 1970, or nil
    /// if it does not expire.
    func check(app token: [UInt8], completion: @escaping (Result<Int64?, LiveRefusal>) -> Void) {
        if let verdict = requesters.checker.knownApp(token.span) { return completion(finding(verdict)) }
        requesters.checker.checkApp(token) { verdict in completion(finding(verdict)) }
    }

    /// Notes for the log that a request without an App Check token was refused.
    func appWasMissing() { requesters.checker.appWasMissing() }

    private func finding(_ verdict: AppVerdict) -> Result<Int64?, LiveRefusal> {
        switch verdict {
        case .app(let expires, let isUnsigned):
            if isUnsigned, let developmentRefusal {
                return .failure(.invalidToken("An App Check token without a signature \(developmentRefusal)."))
            }
            if let expires, expires * 1000 <= UnixTime.milliseconds() { return .failure(.appHasExpired) }
            return .success(expires)
        case .refused(.expired): return .failure(.appHasExpired)
        case .refused(.unavailable):
            return .failure(LiveRefusal(status: "unavailable", message: "The App Check token cannot be verified now"))
        case .refused(.unreadable), .refused(.unauthorized): return .failure(.invalidToken(RESTError.appIsInvalid.message))
        }
    }

    /// Whether a credential that was accepted is still valid: the clock may have been set.
    func holds(_ requester: Requester) -> Bool {
        guard let expires = requester.expires else { return true }
        return expires * 1000 > UnixTime.milliseconds()
    }

    private func finding(_ verdict: CredentialVerdict, _ credential: LiveCredential) -> Result<Finding, LiveRefusal> {
        switch verdict {
        case .admin(let expires): return administrator(credential, expires: expires)
        case .user(let auth, let expires, let isUnsigned):
            if isUnsigned, let developmentRefusal {
                return .failure(.invalidToken("A token without a signature \(developmentRefusal)."))
            }
            guard credential.override == nil else { return .failure(.invalidToken("Only an administrator can set \"authvar\"")) }
            if let expires, expires * 1000 <= UnixTime.milliseconds() { return .failure(.expired) }
            let user: JSONValue? = credential.isSignedOut ? nil : auth
            return .success(
                Finding(
                    requester: Requester(principal: .user(auth: user), isAdmin: false, expires: expires),
                    answer: answer(user ?? .null, expires)))
        case .refused(.expired): return .failure(.expired)
        case .refused(.unavailable): return .failure(LiveRefusal(status: "unavailable", message: "The token cannot be verified now"))
        case .refused(.unreadable): return .failure(.invalidToken("Could not parse auth token."))
        case .refused(.unauthorized): return .failure(.invalidToken("The token does not belong to this project"))
        }
    }

    /// An administrator, or the user in whose name one acts, for whom the rules apply.
    private func administrator(_ credential: LiveCredential, expires: Int64?) -> Result<Finding, LiveRefusal> {
        var principal = Principal.admin
        if credential.isSignedOut { principal = .user(auth: nil) }
        if let override = credential.override { principal = .user(auth: override) }
        return .success(
            Finding(
                requester: Requester(principal: principal, isAdmin: true, expires: expires), answer: answer(credential.override ?? .null, expires)))
    }

    private func answer(_ auth: JSONValue, _ expires: Int64?) -> [UInt8] {
        var answer: JSONObject = ["auth": auth]
        if let expires { answer["expires"] = .int(expires) }
        return JSONValue.object(answer).serialized()
    }
}
