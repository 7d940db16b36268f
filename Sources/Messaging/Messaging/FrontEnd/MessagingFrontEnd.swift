import HearthBytes
public import EventLoop
public import HTTP
import HearthJSON

/// The HTTP interface of the messaging service, for one loop: sending, topics, registration, delivery (spec messaging 2, 4, 6).
///
/// Pass it the requests that it claims. It answers each of them, at once or when the back end has answered.
public final class MessagingFrontEnd {
    let service: MessagingService
    let loop: EventLoop
    let callers: CallerCheck
    let streams: DeviceStreams
    let proxies: TrustedProxies

    /// A front end for `loop`. All its functions must be called on this loop.
    ///
    /// - Parameter proxies: the proxies whose header with the client's address is trusted.
    public init(service: MessagingService, loop: EventLoop, proxies: TrustedProxies = TrustedProxies()) {
        self.service = service
        self.loop = loop
        self.proxies = proxies
        let settings = service.settings
        callers = CallerCheck(
            adminToken: settings.adminToken, ownerAccess: settings.ownerAccess, tokens: service.tokens, accounts: service.embedded.accounts,
            clock: service.embedded.clock)
        streams = DeviceStreams(loop: loop, backend: service.embedded)
    }

    var backend: any MessagingBackend { service.backend }
    var embedded: EmbeddedBackend { service.embedded }

    // MARK: Requests

    /// Whether a request's path belongs to the service. Functions take precedence: do not ask for the path of a function.
    public func claims(_ exchange: HTTPExchange) -> Bool { MessagingRoute.claims(exchange.path) }

    /// The handling of the body of a claimed request.
    public func head(_ exchange: HTTPExchange) -> BodyPlan { .collect(limit: bodyBytesMax(exchange.path)) }

    /// The size limit of a body, which is lower for anonymous callers.
    private func bodyBytesMax(_ path: Span<UInt8>) -> Int {
        MessagingRoute.isSend(path) || MessagingRoute(path)?.isForSenders == true ? MessageParser.bodyBytesMax : Self.shortBodyBytesMax
    }

    /// Enough for a registration, or for a thousand acknowledgements.
    private static let shortBodyBytesMax = 64 << 10

    /// Answers a claimed request.
    public func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        guard let route = MessagingRoute(exchange.path) else { return MessagingAnswer.unknownPath(exchange) }
        if exchange.method == .options { return exchange.allowPreflight(.noContent, methods: "GET, POST, PATCH, DELETE") }
        do throws(MessagingError) {
            try answer(exchange, route, body)
        } catch {
            MessagingAnswer.refuse(exchange, error)
        }
    }

    private func answer(_ exchange: HTTPExchange, _ route: MessagingRoute, _ body: Span<UInt8>) throws(MessagingError) {
        switch route {
        case .send(let project): try send(exchange, project, body)
        case .subscriptions, .subscription, .clientSubscription: try answerSubscriptions(exchange, route, body)
        case .registrations, .registration, .installations, .installation, .installationToken:
            try answerRegistration(exchange, route, body)
        case .topicBatch, .importTokens, .topicOfToken, .tokenInfo: answerInstance(exchange, route, body)
        case .grant: grant(exchange, body)
        case .device(let token, let part): try answerDevice(exchange, token, part, body)
        case .native(let project, let rest): try answerNative(exchange, project, rest, body)
        case .control(let name): try control(exchange, name, body)
        case .connect: connect(exchange)
        case .unknown: MessagingAnswer.unknownPath(exchange)
        }
    }

    /// The body of an error of the HTTP server itself, for a claimed request.
    public func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange) -> HTTPErrorBody {
        var error = MessagingError(.malformed, "\(message)")
        if status == .contentTooLarge { error.message = "Request payload size exceeds the limit: \(bodyBytesMax(exchange.path)) bytes." }
        return HTTPErrorBody(
            contentType: "application/json; charset=UTF-8", fields: [("Access-Control-Allow-Origin", "*")],
            body: ErrorEnvelope.body(error).serialized())
    }

    /// Ends the streams of all devices and accepts no new ones. To be called before the server waits for requests that have started.
    public func stop() { streams.stop() }

    /// Ends the streams of all devices, which connect again.
    public func endStreams() { streams.endAll() }

    // MARK: Common parts of requests

    /// The project of a path, if the caller may act for it.
    func project(_ name: String, for caller: Caller, permission: String = "cloudmessaging.messages.create") throws(MessagingError) -> MessagingProject
    {
        guard let project = service.project(name), caller.may(actFor: project.id) else {
            throw .notPermitted(permission, project: name)
        }
        return project
    }

    /// The text of a header field.
    static func header(_ exchange: HTTPExchange, _ name: StaticString) -> String? {
        guard let value = exchange.header(name) else { return nil }
        return value.string()
    }

    /// Parses a body that must be a JSON object. An empty body counts as an empty object.
    static func object(_ body: Span<UInt8>) throws(MessagingError) -> JSONObject {
        guard body.count > 0 else { return JSONObject() }
        guard let value = try? JSONValue(parsing: body, limits: JSONLimits(depthMax: 100)), let object = value.object else { throw .notJSON() }
        return object
    }

    // MARK: Sending

    private func send(_ exchange: HTTPExchange, _ project: String, _ body: Span<UInt8>) throws(MessagingError) {
        guard exchange.method == .post else { return MessagingAnswer.methodNotAllowed(exchange, allowed: "POST") }
        let request: SendRequest
        do throws(MessagingError) {
            request = try checked(exchange, project, body)
        } catch {
            service.sendCounter.add(.failure(error), isValidateOnly: false)
            throw error
        }
        service.send(request, on: loop) { result in
            MessagingAnswer.finish(exchange, result.map { ["name": .string($0)] })
        }
    }

    private func checked(_ exchange: HTTPExchange, _ project: String, _ body: Span<UInt8>) throws(MessagingError) -> SendRequest {
        let project = try self.project(project, for: try callers.sender(exchange))
        let checked = try service.settings.parser.parse(body)
        let key = Self.header(exchange, "x-idempotency-key")
        return SendRequest(
            project: project.id, message: checked.message, isValidateOnly: checked.isValidateOnly,
            idempotencyKey: key.flatMap { (1...256).contains($0.utf8.count) ? $0 : nil })
    }
}
