import Accounts
public import EventLoop
import HearthBytes
import HearthJSON
public import HTTP
import Tokens

/// The HTTP interface of authentication, for one loop (spec auth 2).
///
/// Pass it the requests that it claims. It answers each of them.
public final class AuthenticationFrontEnd {
    let service: AuthenticationService
    let loop: EventLoop
    /// Whether a bearer token is an access token of a service account that may administer the project.
    private let isAccessToken: (Span<UInt8>) -> Bool

    var accounts: AccountService { service.accounts }
    var isStrict: Bool { service.isStrict }

    /// A front end for `loop`. All its functions must be called on this loop.
    public init(service: AuthenticationService, loop: EventLoop, isAccessToken: @escaping (Span<UInt8>) -> Bool) {
        self.service = service
        self.loop = loop
        self.isAccessToken = isAccessToken
    }

    // MARK: Requests

    /// Whether a request's path belongs to the protocol.
    public func claims(_ exchange: HTTPExchange) -> Bool { AuthPath.claims(exchange.path, host: exchange.host) }

    /// The handling of the body of a claimed request.
    public func head(_ exchange: HTTPExchange) -> BodyPlan {
        .collect(limit: AuthPath(exchange.path, host: exchange.host).operation.bodyBytesMax)
    }

    /// Answers a claimed request.
    public func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        if AuthPath.isPage(exchange.path) { return servePage(exchange, body: body) }
        if exchange.method == .options { return allowPreflight(exchange) }
        let call: AuthCall
        do throws(AuthError) {
            call = try self.call(exchange, body)
        } catch {
            return refuse(exchange, error)
        }
        loop.task { [self] in
            do throws(AuthError) {
                answer(exchange, try await answer(call))
            } catch {
                refuse(exchange, error)
            }
        }
    }

    private func call(_ exchange: HTTPExchange, _ bytes: Span<UInt8>) throws(AuthError) -> AuthCall {
        let path = AuthPath(exchange.path, host: exchange.host)
        guard path.operation != .unknown else { throw Self.notFound }
        let query = FormText(exchange.query.string())
        let isAdministrator = try authorize(exchange, path, query)
        let body = Self.isForm(exchange) ? AuthBody(form: FormText(bytes.string())) : try AuthBody(bytes)
        if path.project == nil, !isAdministrator, body.has("targetProjectId") { throw Self.insufficientPermission }
        return AuthCall(
            path: path, method: exchange.method, query: query, body: body, isAdministrator: isAdministrator,
            address: "\(service.settings.proxies.customer(of: exchange))",
            client: service.settings.proxies.client(of: exchange).map { "\($0)" }, userAgent: exchange.header("user-agent")?.string(),
            base: base(of: exchange),
            language: exchange.header("x-firebase-locale")?.string() ?? exchange.header("accept-language")?.string(),
            appCheckToken: service.tools.apps == nil ? nil : exchange.header("x-firebase-appcheck")?.array())
    }

    /// The address of this host in links.
    func base(of exchange: HTTPExchange) -> String {
        service.settings.publicURL ?? "\(service.settings.isTLS ? "https" : "http")://\(exchange.host.string())"
    }

    private static func isForm(_ exchange: HTTPExchange) -> Bool {
        guard let type = exchange.header("content-type") else { return false }
        let form: StaticString = "application/x-www-form-urlencoded"
        return type.count >= form.utf8CodeUnitCount && type.extracting(0..<form.utf8CodeUnitCount).equalsIgnoringCase(lowercase: form)
    }

    // MARK: Credentials

    /// Checks credentials. Returns whether the caller is an administrator.
    private func authorize(_ exchange: HTTPExchange, _ path: AuthPath, _ query: FormText) throws(AuthError) -> Bool {
        if path.operation.isOfEmulator { return try authorizeEmulator(exchange, path) }
        if path.operation.isOpen { return false }
        if let token = Self.bearer(exchange) {
            guard isAdministrator(token, exchange) else { throw Self.unauthenticated("Invalid Credentials", "authError") }
            try requireProject(path)
            return true
        }
        let key = query["key"] ?? exchange.header("x-goog-api-key")?.string() ?? ""
        let needsAdministrator = path.project != nil || path.operation.isForAdministrators
        if key.isEmpty {
            if needsAdministrator, isStrict { throw Self.unauthenticated("Login Required.", "required") }
            throw AuthError(
                "The request is missing a valid API key.", status: 403, statusName: "PERMISSION_DENIED", reason: "forbidden")
        }
        if let keys = service.settings.apiKeys, isStrict, !keys.contains(key) {
            throw AuthError(
                "API key not valid. Please pass a valid API key.", status: 400, statusName: "INVALID_ARGUMENT", reason: "keyInvalid")
        }
        if needsAdministrator { throw Self.insufficientPermission }
        return false
    }

    /// Development's own paths need no credential there. In production they exist for tests only, for the administrator on this machine.
    private func authorizeEmulator(_ exchange: HTTPExchange, _ path: AuthPath) throws(AuthError) -> Bool {
        if !isStrict {
            // A page of another site must not read codes.
            if let access = service.settings.developmentAccess, path.operation != .emulatorAction, access.refusal(of: exchange) != nil {
                throw Self.notFound
            }
            return true
        }
        guard service.settings.hasTestHooks, path.operation == .emulatorCodes || path.operation == .emulatorMessages,
            NetworkAddress(endpoint: exchange.peerAddress)?.isLoopback == true, !exchange.wasForwarded, let token = Self.bearer(exchange),
            isAdministrator(token, exchange)
        else { throw Self.notFound }
        return true
    }

    private static func bearer(_ exchange: HTTPExchange) -> [UInt8]? {
        guard let header = exchange.header("authorization"), header.count > 7,
            header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer ")
        else { return nil }
        return header.extracting(7..<header.count).array()
    }

    private func isAdministrator(_ token: [UInt8], _ exchange: HTTPExchange) -> Bool {
        let token = token.span
        if token.equalsInConstantTime(service.settings.adminToken) { return true }
        if !isStrict, let access = service.settings.developmentAccess, access.refusal(of: exchange) == nil {
            if token.equalsIgnoringCase(lowercase: "owner") { return true }
            let google: StaticString = "ya29."
            if token.count >= 5, token.extracting(0..<5).equals(google) { return true }
        }
        return isAccessToken(token)
    }

    private func requireProject(_ path: AuthPath) throws(AuthError) {
        guard let project = path.project, project != service.policy.project, project != service.policy.projectNumber else { return }
        throw AuthError("PROJECT_NOT_FOUND", status: 404, statusName: "NOT_FOUND", reason: "notFound")
    }

    private static func unauthenticated(_ message: String, _ reason: String) -> AuthError {
        AuthError(message, status: 401, statusName: "UNAUTHENTICATED", reason: reason)
    }

    static let insufficientPermission = AuthError("INSUFFICIENT_PERMISSION", "Only authenticated requests can specify target_project_id.")
    static let notFound = AuthError("Not Found", status: 404, statusName: "NOT_FOUND", reason: "notFound")
    static let notImplemented = AuthError("NOT_IMPLEMENTED", status: 501, statusName: "NOT_IMPLEMENTED", reason: "unimplemented")
}
