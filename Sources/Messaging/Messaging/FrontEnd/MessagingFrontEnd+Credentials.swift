import HearthBytes
import EventLoop
import HTTP
import HearthJSON

/// Service accounts and their access tokens (spec messaging 5.6).
extension MessagingFrontEnd {
    /// Answers `/_messaging/v1/projects/P/credentials`, for the administrator only.
    func answerCredentials(_ exchange: HTTPExchange, _ name: String, _ rest: [String], _ body: Span<UInt8>) throws(MessagingError) {
        guard try callers.caller(exchange) == .owner else { throw .notPermitted("iam.serviceAccountKeys.create", project: name) }
        let project = try project(name, for: .owner)
        switch (exchange.method, rest.count) {
        case (.post, 0): try createAccount(exchange, project, try Self.object(body))
        case (.get, 0):
            embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
            _: { _, store throws(StoreFailure) in
                let accounts = try store.accounts(project: project.id).map { account -> JSONValue in
                    [
                        "client_email": .string(account.email), "private_key_id": .string(account.keyID),
                        "createTime": .string(Timestamp.text(milliseconds: account.created)),
                        "scopes": .array((account.bounds?.names ?? Scopes.names.map(\.name)).map { .string($0) }),
                    ]
                }
                return .success(["credentials": .array(accounts)])
            }
        case (.delete, 1):
            let email = rest[0]
            embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(exchange, result) }
            _: { writer, store throws(StoreFailure) in
                try writer.removeAccount(email: email, project: project.id, store) ? .success(.object(JSONObject())) : .failure(.noMessage)
            }
        default: MessagingAnswer.methodNotAllowed(exchange, allowed: "GET, POST, DELETE")
        }
    }

    private func createAccount(_ exchange: HTTPExchange, _ project: MessagingProject, _ body: JSONObject) throws(MessagingError) {
        let name = body["name"]?.string ?? "hearth-messaging"
        guard ServiceAccount.isName(name) else { throw .field("name", "must be 1 to 63 of the characters a-z, 0-9 and -") }
        let bounds = try Self.bounds(body["scopes"])
        let address = "\(service.settings.isTLS ? "https" : "http")://\(exchange.host.string())/token"
        let now = embedded.clock.now
        let answer = LoopBound(exchange, loop: loop)
        let (loop, embedded) = (loop, embedded)
        // Finding the primes of a key takes a good part of a second.
        Task {
            let made = await loop.offload { ServiceAccount.make(name: name, project: project.id, tokenURI: address, bounds: bounds, now: now) }
            loop.post {
                guard let (account, file) = made else { return MessagingAnswer.refuse(answer.value, .internalError) }
                embedded.ask(on: loop) { (result: Result<JSONValue, MessagingError>) in MessagingAnswer.finish(answer.value, result) }
                _: { writer, store throws(StoreFailure) in
                    try writer.put(account, store)
                    return .success(file)
                }
            }
        }
    }

    /// The bounds of a new account; nil for everything.
    private static func bounds(_ given: JSONValue?) throws(MessagingError) -> Scopes? {
        guard let given, !given.isNull else { return nil }
        let names = given.array?.map { $0.string ?? "" } ?? []
        guard let bounds = Scopes(names: names) else {
            throw .field("scopes", "must be a list of \(Scopes.names.map(\.name).joined(separator: ", "))")
        }
        return bounds
    }

    // MARK: Access tokens

    /// Answers `POST /token`.
    func grant(_ exchange: HTTPExchange, _ body: Span<UInt8>) {
        guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
        let form = QueryParameters(body)
        let request: TokenGrant
        let now = embedded.clock.now / 1000
        do throws(TokenGrant.Refusal) {
            guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
                throw TokenGrant.Refusal(code: "unsupported_grant_type", description: "Invalid grant_type: only the JWT bearer grant is supported.")
            }
            request = try TokenGrant(form["assertion"] ?? "")
            try request.check(now: now, host: exchange.host.string())
        } catch {
            return Self.refuse(exchange, error)
        }
        embedded.ask(on: loop) { [service] (result: Result<Grant, MessagingError>) in
            guard case .success(let grant) = result else {
                return Self.refuse(exchange, TokenGrant.Refusal(code: "temporarily_unavailable", description: "Try again."), .serviceUnavailable)
            }
            let content: String
            switch grant {
            case .content(let granted): content = granted
            case .noAccount: return Self.refuse(exchange, .invalidGrant("Invalid JWT Signature, or an account that does not exist here."))
            case .noScope:
                return Self.refuse(exchange, TokenGrant.Refusal(code: "invalid_scope", description: "The account may have none of these scopes."))
            }
            let token = service.tokens.seal(content, for: .access)
            MessagingAnswer.json(
                exchange, ["access_token": .string(token), "expires_in": .int(TokenGrant.tokenSeconds), "token_type": "Bearer"])
        } _: { _, store throws(StoreFailure) in
            guard let account = try store.account(email: request.email), request.isSigned(by: account) else { return .success(.noAccount) }
            return .success(request.content(for: account, now: now).map { .content($0) } ?? .noScope)
        }
    }

    /// The answer of the store to the request of an account.
    private enum Grant: Sendable {
        /// The content of the access token.
        case content(String)
        case noAccount, noScope
    }

    private static func refuse(_ exchange: HTTPExchange, _ refusal: TokenGrant.Refusal, _ status: HTTPStatus = .badRequest) {
        MessagingAnswer.json(exchange, ["error": .string(refusal.code), "error_description": .string(refusal.description)], status: status)
    }
}

extension MessagingFrontEnd {
    /// The rights of an access token on the databases of `project`. Uses data of this loop only.
    public func databaseAccess(_ token: Span<UInt8>, project: String) -> DatabaseAccess {
        do throws(MessagingError) {
            let (caller, ends) = try callers.account(token)
            guard case .account(_, let own, let scopes) = caller, own == project, scopes.allowDatabases else { return .refused }
            return .administrator(until: ends)
        } catch {
            return switch error.kind {
            case .invalidCredential(isExpired: true): .expired
            case .unavailable, .internalError: .unavailable
            default: .refused
            }
        }
    }

    /// Whether an access token is that of a service account that may administer the users of `project`. Uses data of this loop only.
    public func mayAdministerUsers(_ token: Span<UInt8>, project: String) -> Bool {
        guard let (caller, _) = try? callers.account(token), case .account(_, let own, let scopes) = caller else { return false }
        return own == project && scopes.allowUsers
    }

    /// Whether a token is an access token of a service account of a project, without bounds, for everything.
    public func mayAdministerEverything(_ token: Span<UInt8>, project: String) -> Bool {
        guard let (caller, _) = try? callers.account(token), case .account(_, let own, let scopes) = caller else { return false }
        return own == project && scopes.contains(.cloudPlatform)
    }
}
