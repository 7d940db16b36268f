public import EventLoop
import HearthBytes
import HearthJSON
public import HTTP

/// The HTTP interface of App Check, for one loop (spec auth 5). Pass it the requests that it claims. It answers each of them.
public final class AppCheckFrontEnd {
    private let service: AppCheckService
    private let loop: EventLoop
    /// Whether a bearer token is an access token of a service account that may administer the project.
    private let isAccessToken: (Span<UInt8>) -> Bool

    /// Attestations have about 10 kB.
    private static let bodyBytesMax = 128 * 1024

    /// A front end for `loop`. All its functions must be called on this loop.
    public init(service: AppCheckService, loop: EventLoop, isAccessToken: @escaping (Span<UInt8>) -> Bool) {
        self.service = service
        self.loop = loop
        self.isAccessToken = isAccessToken
    }

    /// Whether a request's path belongs to the protocol.
    public func claims(_ exchange: HTTPExchange) -> Bool { AppCheckPath.claims(exchange.path) }

    /// The handling of the body of a claimed request.
    public func head(_ exchange: HTTPExchange) -> BodyPlan { .collect(limit: Self.bodyBytesMax) }

    /// Answers a claimed request.
    public func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        if exchange.method == .options { return allowPreflight(exchange) }
        let operation = AppCheckPath(exchange.path).operation
        let content: AppCheckBody
        do throws(AppCheckError) {
            try authorize(exchange, operation)
            content = try AppCheckBody(body)
        } catch {
            return refuse(exchange, error)
        }
        let method = exchange.method
        let address = "\(service.settings.proxies.customer(of: exchange))"
        loop.task { [self] in
            do throws(AppCheckError) {
                if operation == .keys {
                    answer(exchange, try await service.keys(on: loop), caching: "public, max-age=21600, must-revalidate")
                } else {
                    answer(exchange, JSONValue.object(try await answer(operation, method, content, address)).serialized(), caching: "no-store")
                }
            } catch {
                refuse(exchange, error)
            }
        }
    }

    // MARK: Credentials

    private func authorize(_ exchange: HTTPExchange, _ operation: AppCheckPath.Operation) throws(AppCheckError) {
        switch operation {
        case .keys: return
        case .app:
            guard let keys = service.settings.apiKeys else { return }
            let key = exchange.header("x-goog-api-key")?.string() ?? Self.key(in: exchange.query.string())
            guard let key, keys.contains(key) else { throw .invalidKey }
        case .verify, .apps, .registration, .debugTokens, .debugToken:
            guard let header = exchange.header("authorization"), header.count > 7,
                header.extracting(0..<7).equalsIgnoringCase(lowercase: "bearer "), isAdministrator(header.extracting(7..<header.count), exchange)
            else { throw .unauthenticated }
        case .unknown: throw .notFound
        }
    }

    private static func key(in query: String) -> String? {
        query.split(separator: "&").first { $0.hasPrefix("key=") }.map { String($0.dropFirst(4)) }
    }

    private func isAdministrator(_ token: Span<UInt8>, _ exchange: HTTPExchange) -> Bool {
        if token.equalsInConstantTime(service.settings.adminToken) { return true }
        if let access = service.settings.developmentAccess, token.equalsIgnoringCase(lowercase: "owner") {
            return access.refusal(of: exchange) == nil
        }
        return isAccessToken(token)
    }

    // MARK: Operations

    private func answer(
        _ operation: AppCheckPath.Operation, _ method: HTTPMethod, _ body: AppCheckBody, _ address: String
    ) async throws(AppCheckError) -> JSONObject {
        switch operation {
        case .app(let project, let app, let verb):
            try service.requireProject(project)
            guard method == .post else { throw .notFound }
            if verb == "generateAppAttestChallenge" { return try await service.challenge(app: app, isNonce: false, address: address) }
            if verb == "generatePlayIntegrityChallenge" { return try await service.challenge(app: app, isNonce: true, address: address) }
            guard let exchange = ExchangeMethod(rawValue: verb) else { throw .notFound }
            return try await service.exchange(app: app, method: exchange, body: body, address: address, on: loop)
        case .verify(let project):
            try service.requireProject(project)
            guard method == .post else { throw .notFound }
            let isRepeated = try await service.consume(try body.required("appCheckToken"))
            return isRepeated ? ["alreadyConsumed": true] : [:]
        case .apps(let project):
            try service.requireProject(project)
            return try await apps(method, body)
        case .registration(let project, let app):
            try service.requireProject(project)
            guard method == .delete else { throw .notFound }
            guard try await service.storage.perform({ store throws(AppCheckFailure) in try store.removeApp(app) }) else { throw .notFound }
            return [:]
        case .debugTokens(let project, let app):
            try service.requireProject(project)
            return try await debugTokens(app, method, body)
        case .debugToken(let project, let app, let token):
            try service.requireProject(project)
            guard method == .delete else { throw .notFound }
            let isRemoved = try await service.storage.perform { store throws(AppCheckFailure) in try store.removeDebugToken(id: token, app: app) }
            guard isRemoved else { throw .notFound }
            return [:]
        case .keys, .unknown: throw .notFound
        }
    }

    /// Lists the apps, or registers one.
    private func apps(_ method: HTTPMethod, _ body: AppCheckBody) async throws(AppCheckError) -> JSONObject {
        if method == .get {
            let stored = try await service.storage.perform { store throws(AppCheckFailure) in try store.apps() }
            let configured = service.settings.apps.map { id -> JSONValue in ["appId": .string(id), "isConfigured": true] }
            return ["apps": .array(configured + stored.map { ["appId": .string($0.id), "displayName": .string($0.name)] })]
        }
        guard method == .post else { throw .notFound }
        let app = try body.required("appId")
        guard AppCheckService.isAppID(app) else { throw .invalid("appId must look like 1:1234567890:ios:321abc456def7890.") }
        let name = try body.text("displayName") ?? ""
        guard name.utf8.count <= 200 else { throw .invalid("displayName is too long.") }
        try await service.storage.perform { store throws(AppCheckFailure) in try store.putApp(app, name: name) }
        return ["appId": .string(app), "displayName": .string(name)]
    }

    /// Lists the debug tokens of an app, without the secrets, or adds one.
    private func debugTokens(_ app: String, _ method: HTTPMethod, _ body: AppCheckBody) async throws(AppCheckError) -> JSONObject {
        try await service.requireApp(app)
        let place = "projects/\(service.settings.project)/apps/\(app)/debugTokens/"
        if method == .get {
            let tokens = try await service.storage.perform { store throws(AppCheckFailure) in try store.debugTokens(app: app) }
            return ["debugTokens": .array(tokens.map { ["name": .string(place + $0.id), "displayName": .string($0.name)] })]
        }
        guard method == .post else { throw .notFound }
        let name = try body.required("displayName")
        guard name.utf8.count <= 200 else { throw .invalid("displayName is too long.") }
        let token = try body.text("token") ?? Self.newSecret()
        guard Self.isSecret(token) else { throw .invalid("token must be a UUID of version 4.") }
        let id = AppCheckService.randomText()
        let secret = token.lowercased()
        try await service.storage.perform { store throws(AppCheckFailure) in try store.addDebugToken(secret, id: id, app: app, name: name) }
        // The secret is shown once.
        var answer: JSONObject = ["name": .string(place + id), "displayName": .string(name), "token": .string(token)]
        if !service.settings.hasDebugProvider {
            answer["warning"] = "this host exchanges no debug tokens; set appCheck.debugProvider to true in functions.json"
        }
        return answer
    }

    private static func newSecret() -> String {
        var bytes = Array(AppCheckService.randomBytes().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
    }

    /// Whether a text is a UUID of version 4: others could be guessed.
    static func isSecret(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
            && parts[2].hasPrefix("4")
    }

    // MARK: Answers

    private func answer(_ exchange: HTTPExchange, _ body: [UInt8], caching: StaticString) {
        exchange.respond(.ok, body: body.span) { fields in
            fields.field("Content-Type", "application/json; charset=UTF-8")
            fields.field("Cache-Control", caching)
            Self.writeOrigin(exchange, to: fields)
        }
    }

    private func refuse(_ exchange: HTTPExchange, _ error: AppCheckError) {
        let body = Self.body(error.code, error.status, error.message)
        exchange.respond(HTTPStatus(rawValue: error.code), body: body.span) { fields in
            fields.field("Content-Type", "application/json; charset=UTF-8")
            if error.code == 401 { fields.field("WWW-Authenticate", "Bearer realm=\"https://accounts.google.com/\"") }
            if error.code == 503 { fields.field("Retry-After", 1) }
            Self.writeOrigin(exchange, to: fields)
        }
    }

    private static func body(_ code: Int, _ status: String, _ message: String) -> [UInt8] {
        let error: JSONValue = ["code": .int(Int64(code)), "message": .string(message), "status": .string(status)]
        return JSONValue.object(["error": error]).serialized()
    }

    /// The body of an error of the HTTP server itself, for a claimed request.
    public func errorBody(status: HTTPStatus, message: StaticString) -> HTTPErrorBody {
        HTTPErrorBody(
            contentType: "application/json; charset=UTF-8", fields: [("Access-Control-Allow-Origin", "*")],
            body: Self.body(status.rawValue, status.rawValue < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE", "\(message)"))
    }

    /// Pages of every origin may read answers: rights depend on proofs, never on cookies.
    private static func writeOrigin(_ exchange: HTTPExchange, to fields: ResponseHead) {
        if let origin = exchange.header("origin") { fields.field("Access-Control-Allow-Origin", origin) }
        fields.field("Vary", "Origin")
    }

    private func allowPreflight(_ exchange: HTTPExchange) {
        exchange.respond(.noContent) { fields in
            Self.writeOrigin(exchange, to: fields)
            fields.field("Access-Control-Allow-Methods", "GET,POST,DELETE")
            if let wanted = exchange.header("access-control-request-headers") { fields.field("Access-Control-Allow-Headers", wanted) }
            if let network = exchange.header("access-control-request-private-network"), network.equals("true") {
                fields.field("Access-Control-Allow-Private-Network", "true")
            }
            fields.field("Access-Control-Max-Age", 3600)
        }
    }
}
