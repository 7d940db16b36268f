public import EventLoop
import HearthBytes
public import HTTP
import RealtimeDatabase
import Telemetry

/// The HTTP interface of the database: the REST interface of one loop (spec database 2).
///
/// Its owner passes it the requests that it claims. It answers each of them, immediately or when the database has answered.
public final class DatabaseFrontEnd {
    let database: RealtimeDatabase
    let loop: EventLoop
    let settings: DatabaseFrontEndSettings
    let streams: EventStreams
    let topics: ListenTopics
    let requesters: RequesterReader
    let apps: AppCheck
    private lazy var bodies = BodyBudget(bytesMax: database.limits.bodyBytesInFlightMax) { [unowned self] in request($0, body: $1) }
    /// The trace contexts for writes.
    var traces: TraceSource

    /// A front end for `loop`, on which all of its methods must be called.
    ///
    /// - Parameter credentials: verifies all tokens except the admin token.
    public init(database: RealtimeDatabase, loop: EventLoop, credentials: any CredentialChecker, settings: DatabaseFrontEndSettings) {
        self.database = database
        self.loop = loop
        self.settings = settings
        traces = settings.tracing?.makeSource() ?? TraceSource()
        topics = ListenTopics(loop: loop)
        streams = EventStreams(loop: loop, settings: settings, countMax: database.limits.streamsMax, seats: database.openStreams)
        apps = AppCheck(isEnforced: settings.enforcesAppCheck, developmentAccess: settings.developmentAccess, checker: credentials)
        requesters = RequesterReader(adminToken: settings.adminToken, developmentAccess: settings.developmentAccess, checker: credentials)
    }

    // MARK: Requests

    /// Whether a request is for the database: its path ends in `.json`.
    public func claims(_ exchange: HTTPExchange) -> Bool { RESTTarget.claims(exchange.path) }

    /// Whether the query of a request contains the name of a database.
    public func isNamed(in exchange: HTTPExchange) -> Bool { (try? RESTParameters(exchange.query))?.namespace != nil }

    /// The handling of the body of a claimed request.
    public func head(_ exchange: HTTPExchange) -> BodyPlan {
        switch exchange.method {
        case .put, .post, .patch:
            let limit = database.limits.writeBytesMax
            if let length = exchange.contentLength, length > limit {
                RESTAnswer.refuse(exchange, .writeTooLarge)
                return .answered
            }
            return bodies.plan(for: exchange, limit: limit)
        default: return .collect(limit: 64 * 1024)
        }
    }

    /// Answers a claimed request.
    public func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        if exchange.method == .options { return RESTAnswer.allowPreflight(exchange) }
        do throws(RESTError) {
            let parameters = try RESTParameters(exchange.query)
            let verb = try RESTVerb(exchange, parameter: parameters.methodOverride)
            switch try requesters.read(exchange, parameters) {
            case .known(let requester): try admit(requester, exchange, verb, parameters, body)
            case .token(let token, let isInQuery):
                // The memory of the body is not valid after this returns.
                guard exchange.holdsMuch(body.count) else { return RESTAnswer.refuse(exchange, .tooMuchIsWritten) }
                let body = body.array()
                requesters.checker.check(token) { [self] verdict in
                    do throws(RESTError) {
                        let requester = try requesters.requester(verdict, exchange, parameters, isInQuery: isInQuery)
                        try admit(requester, exchange, verb, parameters, body.span)
                    } catch {
                        RESTAnswer.refuse(exchange, error)
                    }
                }
            }
        } catch {
            RESTAnswer.refuse(exchange, error)
        }
    }

    /// Handles a request whose sender is known, if App Check admits it.
    private func admit(
        _ requester: Requester, _ exchange: HTTPExchange, _ verb: RESTVerb, _ parameters: RESTParameters, _ body: Span<UInt8>
    ) throws(RESTError) {
        switch try apps.read(requester, exchange, parameters) {
        case .known(let requester): try call(exchange, verb, parameters, requester).handle(body)
        case .token(let token, let isInQuery):
            guard exchange.holdsMuch(body.count) else { return RESTAnswer.refuse(exchange, .tooMuchIsWritten) }
            let body = body.array()
            requesters.checker.checkApp(token) { [self] verdict in
                do throws(RESTError) {
                    let requester = try apps.admit(requester, verdict, exchange, isInQuery: isInQuery)
                    try call(exchange, verb, parameters, requester).handle(body.span)
                } catch {
                    RESTAnswer.refuse(exchange, error)
                }
            }
        }
    }

    private func call(_ exchange: HTTPExchange, _ verb: RESTVerb, _ parameters: RESTParameters, _ requester: Requester) -> RESTCall {
        RESTCall(exchange, verb, parameters, requester, namespaceName: namespaceName(exchange, parameters.namespace), front: self)
    }

    /// The namespace of a request: the parameter `ns`, otherwise the first label of the host name, otherwise the default.
    func namespaceName(_ exchange: HTTPExchange, _ parameter: String?) -> String {
        parameter?.lowercased() ?? NamespaceHosts().namespace(of: exchange.host) ?? database.defaultNamespace
    }

    // MARK: Unclaimed requests

    /// Answers an unclaimed request if it appears to be for the database, but lacks `.json`.
    ///
    /// - Returns: whether it was answered.
    public func refusesUnclaimed(_ exchange: HTTPExchange) -> Bool {
        guard let parameters = try? RESTParameters(exchange.query), parameters.namespace != nil else { return false }
        let text: StaticString = "append .json to your request URI to use the REST API.\n"
        exchange.respond(.notFound, body: Span(_unsafeElements: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))) {
            $0.field("Content-Type", "text/plain; charset=utf-8")
            $0.field("Access-Control-Allow-Origin", "*")
        }
        return true
    }

    /// The body for errors of the HTTP server itself to claimed requests.
    public func errorBody(status: HTTPStatus, message: StaticString) -> HTTPErrorBody {
        let text = status == .contentTooLarge ? RESTError.writeTooLarge.message : "\(message)"
        return HTTPErrorBody(
            contentType: "application/json; charset=utf-8", fields: [("Access-Control-Allow-Origin", "*"), ("Cache-Control", "no-cache")],
            body: RESTAnswer.body(of: text))
    }

    // MARK: Stopping

    /// Ends all event streams. Their clients reconnect, to this or another host. To be called before the server waits for requests that have
    /// started.
    public func stop() { streams.stop() }

    /// Ends all event streams. Their clients reconnect.
    public func endStreams() { streams.endAll() }
}
