import HearthBytes
public import EventLoop
public import HTTP

/// The database as HTTP sees it: the REST interface of one loop (spec database 2).
///
/// Give it the requests that it claims. It answers each of them, at once or when the database has.
public final class DatabaseFrontEnd {
    let database: RealtimeDatabase
    let loop: EventLoop
    let settings: DatabaseFrontEndSettings
    let streams: EventStreams
    let requesters: RequesterReader
    private let hosts = NamespaceHosts()
    private lazy var bodies = BodyBudget(bytesMax: database.limits.bodyBytesInFlightMax) { [unowned self] in request($0, body: $1) }
    /// The traces that writes are parts of.
    var traces = TraceSource()

    /// A front end for `loop`, on which everything here is called.
    ///
    /// - Parameter credentials: verifies the tokens that are neither the administrator's nor missing.
    public init(database: RealtimeDatabase, loop: EventLoop, credentials: any CredentialChecker, settings: DatabaseFrontEndSettings) {
        self.database = database
        self.loop = loop
        self.settings = settings
        streams = EventStreams(loop: loop, settings: settings, countMax: database.limits.streamsMax)
        requesters = RequesterReader(adminToken: settings.adminToken, developmentAccess: settings.developmentAccess, checker: credentials)
    }

    // MARK: Requests

    /// Whether a request is one to the database: its path ends in `.json`.
    public func claims(_ exchange: HTTPExchange) -> Bool { RESTTarget.claims(exchange.path) }

    /// Whether a request says in its query which database it is for.
    public func isNamed(in exchange: HTTPExchange) -> Bool { (try? RESTParameters(exchange.query))?.namespace != nil }

    /// What becomes of the body of a request that is claimed.
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

    /// Answers a request that is claimed.
    public func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        if exchange.method == .options { return RESTAnswer.allowPreflight(exchange) }
        do throws(RESTError) {
            let parameters = try RESTParameters(exchange.query)
            let verb = try RESTVerb(exchange, parameter: parameters.methodOverride)
            switch try requesters.read(exchange, parameters) {
            case .known(let requester): try call(exchange, verb, parameters, requester).handle(body)
            case .token(let token): verify(token, exchange, verb, parameters, body)
            }
        } catch {
            RESTAnswer.refuse(exchange, error)
        }
    }

    private func verify(_ token: [UInt8], _ exchange: HTTPExchange, _ verb: RESTVerb, _ parameters: RESTParameters, _ body: Span<UInt8>) {
        // The body's bytes are gone once this returns.
        guard exchange.holdsMuch(body.count) else { return RESTAnswer.refuse(exchange, .tooMuchIsWritten) }
        let body = body.array()
        requesters.checker.check(token) { [self] verdict in
            do throws(RESTError) {
                let requester = try requesters.requester(verdict, exchange, parameters)
                try call(exchange, verb, parameters, requester).handle(body.span)
            } catch {
                RESTAnswer.refuse(exchange, error)
            }
        }
    }

    private func call(_ exchange: HTTPExchange, _ verb: RESTVerb, _ parameters: RESTParameters, _ requester: Requester) -> RESTCall {
        let name = parameters.namespace?.lowercased() ?? hosts.namespace(of: exchange.host) ?? database.defaultNamespace
        return RESTCall(exchange, verb, parameters, requester, namespaceName: name, front: self)
    }

    // MARK: What is not claimed

    /// Answers a request that nobody claims, if it looks like one to the database that lacks its `.json`.
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

    /// What to say when the server itself refuses a request that is claimed.
    public func errorBody(status: HTTPStatus, message: StaticString) -> HTTPErrorBody {
        let text = status == .contentTooLarge ? RESTError.writeTooLarge.message : "\(message)"
        return HTTPErrorBody(
            contentType: "application/json; charset=utf-8", fields: [("Access-Control-Allow-Origin", "*"), ("Cache-Control", "no-cache")],
            body: RESTAnswer.body(of: text))
    }

    // MARK: Stopping

    /// Ends every event stream: their clients connect again, here or elsewhere. Called before the server waits for what has
    /// begun.
    public func stop() { streams.stop() }

    /// Ends every event stream; their clients will come again.
    public func endStreams() { streams.endAll() }
}
