import Administration
import AppCheck
import Authentication
import CallFrontEnd
import Configuration
import DatabaseAPI
import EventLoop
import FunctionDispatch
import HearthBytes
import HearthJSON
import HTTP
import Logging
import Messaging
import RealtimeDatabase
import TaskQueues
import Tokens

/// Passes each request of a loop to its handler: a function, the database, messaging, the administration, or a page of the host.
final class EndpointRouter: HTTPHandler {
    /// Handles requests to functions.
    let functions: FunctionFrontEnd
    /// Handles requests to the database.
    let database: DatabaseFrontEnd
    /// Handles the live connections of the database.
    let live: LiveFrontEnd
    /// Handles requests to the messaging service.
    let messaging: MessagingFrontEnd
    /// Handles sign-in.
    let authentication: AuthenticationFrontEnd
    /// Exchanges proofs of apps for tokens.
    let appCheck: AppCheckFrontEnd
    /// Handles requests that enqueue tasks.
    let tasks: TaskFrontEnd
    /// Handles requests of administrators.
    let admin: AdminAPI
    private let metrics: MetricsPage
    let log: Logger
    private let bodyBytesMax: Int
    /// Whether functions can be called. Reported by `/_/ready`.
    var isReady = false
    /// Whether the host is stopping.
    var isStopping = false
    /// The result for the exchange that `head` was last called with. Usually `request` follows at once.
    private var lastExchange: ObjectIdentifier?
    private var lastOutcome = FunctionPath.Outcome.notFound

    init(
        functions: FunctionFrontEnd, database: DatabaseFrontEnd, messaging: MessagingFrontEnd, authentication: AuthenticationFrontEnd,
        appCheck: AppCheckFrontEnd, tasks: TaskFrontEnd, admin: AdminAPI, metrics: MetricsPage,
        liveClients: LiveClients, bodyBytesMax: Int, log: Logger
    ) {
        self.functions = functions
        self.database = database
        live = LiveFrontEnd(database, clients: liveClients, log: log)
        self.messaging = messaging
        self.authentication = authentication
        self.appCheck = appCheck
        self.tasks = tasks
        self.admin = admin
        self.metrics = metrics
        self.bodyBytesMax = bodyBytesMax
        self.log = log
    }

    // MARK: HTTPHandler

    func head(_ exchange: HTTPExchange) -> BodyPlan {
        let outcome = resolve(exchange)
        lastExchange = ObjectIdentifier(exchange)
        lastOutcome = outcome
        switch outcome {
        case .function(let function, _):
            // Starts a worker for a function without one while the body is arriving.
            if functions.loopNumber == 0, exchange.hasBody { function.pool.warmUp() }
            return .collect(limit: bodyBytesMax)
        case .database: return database.head(exchange)
        case .messaging: return messaging.head(exchange)
        case .unknownFunction where tasks.claims(exchange), .notFound where tasks.claims(exchange): return tasks.head(exchange)
        case .unknownFunction where appCheck.claims(exchange), .notFound where appCheck.claims(exchange): return appCheck.head(exchange)
        case .unknownFunction where authentication.claims(exchange), .notFound where authentication.claims(exchange):
            return authentication.head(exchange)
        case .unknownFunction, .notFound: return admin.claims(exchange) ? admin.head(exchange) : .collect(limit: 64 * 1024)
        }
    }

    func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        var outcome = FunctionPath.Outcome.notFound
        swap(&outcome, &lastOutcome)
        if lastExchange != ObjectIdentifier(exchange) { outcome = resolve(exchange) }
        lastExchange = nil
        switch outcome {
        case .function(let function, let ownPathStart): functions.call(function, exchange, ownPathStart, body)
        case .database: database.request(exchange, body: body)
        case .messaging: messaging.request(exchange, body: body)
        case .unknownFunction where tasks.claims(exchange), .notFound where tasks.claims(exchange): tasks.request(exchange, body: body)
        case .unknownFunction where appCheck.claims(exchange), .notFound where appCheck.claims(exchange): appCheck.request(exchange, body: body)
        case .unknownFunction where authentication.claims(exchange), .notFound where authentication.claims(exchange):
            authentication.request(exchange, body: body)
        case .unknownFunction(let region, let name): answerUnknown(exchange, region: region, name: name)
        case .notFound:
            if live.claims(exchange) { return live.request(exchange) }
            if admin.claims(exchange) { admin.request(exchange, body: body) } else { answerOwnPage(exchange) }
        }
    }

    /// Finds the handler. The path of a function may end in `.json` too; a request with the parameter `ns` is for the database.
    private func resolve(_ exchange: HTTPExchange) -> FunctionPath.Outcome {
        let outcome = FunctionPath.resolve(exchange.path, host: exchange.host, in: functions.registry)
        if case .function = outcome, exchange.query.isEmpty { return outcome }
        guard database.claims(exchange) else {
            if case .function = outcome { return outcome }
            // Both have paths below `/v1/projects`; the host of the request tells them apart.
            return messaging.claims(exchange) && !authentication.claims(exchange) ? .messaging : outcome
        }
        if case .function = outcome, !database.isNamed(in: exchange) { return outcome }
        return .database
    }

    // MARK: The host's own pages

    private func answerUnknown(_ exchange: HTTPExchange, region: String, name: String) {
        guard isReady else { return answerStarting(exchange) }
        // A page that calls a misspelt function must get 404, so its preflight must succeed.
        if CORSHeaders.answerPreflight(exchange, .reflect, methods: "GET,HEAD,PUT,PATCH,POST,DELETE") { return }
        let names = functions.functions(openTo: exchange).map { "\($0.region)-\($0.name)" }.sorted().joined(separator: ", ")
        answer(exchange, .notFound, "Function \(region)-\(name) does not exist, valid functions are: \(names)", reflectsOrigin: true)
    }

    private func answerOwnPage(_ exchange: HTTPExchange) {
        let path = exchange.path
        if path.equals("/_/health") { return answer(exchange, .ok, json: "{\"status\":\"ok\"}") }
        if path.equals("/_/ready") {
            let isServing = isReady && !isStopping
            return answer(
                exchange, isServing ? .ok : .serviceUnavailable, json: isServing ? "{\"status\":\"ready\"}" : "{\"status\":\"not ready\"}")
        }
        if path.equals("/_/metrics") { return metrics.answer(exchange, isAdministrator: admin.isAdministrator(exchange)) }
        guard isReady else { return answerStarting(exchange) }
        if explainsMissing(exchange) || database.refusesUnclaimed(exchange) { return }
        if path.equals("/backends"), exchange.method == .get { return answerBackends(exchange) }
        answerNotFound(exchange)
    }

    /// Answers while the functions are not known yet.
    private func answerStarting(_ exchange: HTTPExchange) {
        exchange.respond(.serviceUnavailable, body: Array("the host is starting; try again".utf8).span) { fields in
            fields.field("Content-Type", "text/plain; charset=utf-8")
            fields.field("Retry-After", 1)
            CORSHeaders.write(.reflect, for: exchange, to: fields)
        }
    }

    /// Answers web clients that look for the Firebase emulator (spec functions 10.3).
    private func answerBackends(_ exchange: HTTPExchange) {
        let backends = functions.functions(openTo: exchange).map { function in
            JSONValue.object([
                "functionTriggers": .array([
                    .object([
                        "name": .string(function.name), "entryPoint": .string(function.name), "region": .string(function.region),
                        "platform": .string(function.generation == 1 ? "gcfv1" : "gcfv2"),
                    ])
                ])
            ])
        }
        let body = JSONValue.object(["backends": .array(backends)]).serialized()
        exchange.respond(.ok, body: body.span) { fields in
            fields.field("Content-Type", "application/json; charset=utf-8")
            fields.field("Access-Control-Allow-Origin", "*")
        }
    }

    private func answer(_ exchange: HTTPExchange, _ status: HTTPStatus, _ text: String, reflectsOrigin: Bool = false) {
        exchange.respond(status, body: Array(text.utf8).span) { fields in
            fields.field("Content-Type", "text/plain; charset=utf-8")
            if reflectsOrigin { CORSHeaders.write(.reflect, for: exchange, to: fields) }
        }
    }

    private func answer(_ exchange: HTTPExchange, _ status: HTTPStatus, json: StaticString) {
        let bytes = Span(_unsafeElements: UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
        exchange.respond(status, body: bytes) { $0.field("Content-Type", "application/json; charset=utf-8") }
    }

    /// The body of an error of the HTTP server itself, in a form that the clients of the path can read.
    func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange?) -> HTTPErrorBody? {
        guard let exchange else { return nil }
        let outcome = resolve(exchange)
        if case .database = outcome { return database.errorBody(status: status, message: message) }
        if case .messaging = outcome { return messaging.errorBody(status: status, message: message, exchange: exchange) }
        if case .function = outcome {} else if tasks.claims(exchange) {
            return tasks.errorBody(status: status, message: message)
        } else if appCheck.claims(exchange) {
            return appCheck.errorBody(status: status, message: message)
        } else if authentication.claims(exchange) {
            return authentication.errorBody(status: status, message: message, exchange: exchange)
        }
        guard case .function(let function, _) = outcome, function.isCallable else { return nil }
        return FunctionFrontEnd.errorBody(status: status, message: message, exchange: exchange)
    }
}
