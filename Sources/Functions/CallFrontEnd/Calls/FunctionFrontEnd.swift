import AdminProtocol
import Configuration
import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP
import Logging
import Telemetry
import Tokens

/// Handles the requests of one loop that call functions: checks who may call, and starts a ``CallableCall`` or ``RequestCall``.
package final class FunctionFrontEnd {
    let loop: EventLoop
    /// The index of the loop in the host; 0 is the dispatcher's.
    package let loopNumber: Int
    let gate: TokenGate
    let log: Logger
    /// Whether debug lines are logged. Tested before a line for each call is made.
    let logsEachCall: Bool
    /// The functions of this loop's router.
    package let registry: FunctionRegistry
    /// The trace contexts of the loop's requests.
    var traces: TraceSource
    private var dice = TrafficDice()
    private var scratch = ByteBuffer()
    private let developmentAccess: DevelopmentAccess?
    private let adminToken: [UInt8]
    private let proxies: TrustedProxies

    /// - Parameters:
    ///   - loopNumber: the index of `loop` in the host; 0 is the dispatcher's.
    ///   - adminToken: the bearer token that may call functions which are not public.
    package init(
        loop: EventLoop, loopNumber: Int, project: String, adminToken: [UInt8], developmentAccess: DevelopmentAccess?, proxies: TrustedProxies,
        gate: TokenGate, tracing: Tracing?, log: Logger
    ) {
        self.loop = loop
        traces = tracing?.makeSource() ?? TraceSource()
        self.loopNumber = loopNumber
        self.adminToken = adminToken
        self.developmentAccess = developmentAccess
        self.proxies = proxies
        self.gate = gate
        self.log = log
        logsEachCall = log.logLevel <= .debug
        registry = FunctionRegistry(project: project)
    }

    /// Calls a function for a request.
    ///
    /// - Parameter ownPathStart: the index in the request's path where the function's own part begins.
    package func call(_ function: RegisteredFunction, _ exchange: HTTPExchange, _ ownPathStart: Int, _ body: Span<UInt8>) {
        if function.alternativePercent > 0 {
            begin(dice.choose(function), exchange, ownPathStart, body)
        } else {
            begin(function, exchange, ownPathStart, body)
        }
    }

    private func begin(_ function: RegisteredFunction, _ exchange: HTTPExchange, _ ownPathStart: Int, _ body: Span<UInt8>) {
        guard PeerRules.admit(exchange, function, adminToken: adminToken, proxies: proxies) else {
            return exchange.respond(.forbidden, body: Array("you are not allowed to call this function".utf8).span) { fields in
                fields.field("Content-Type", "text/plain; charset=utf-8")
                CORSHeaders.write(.reflect, for: exchange, to: fields)
            }
        }
        if function.isCallable {
            CallableCall(function: function, exchange: exchange, ownPathStart: ownPathStart, frontEnd: self).handle(body)
        } else {
            RequestCall(function: function, exchange: exchange, ownPathStart: ownPathStart, frontEnd: self).handle(body)
        }
    }

    /// The functions that the sender of a request may call. Pages and error messages list no others.
    package func functions(openTo exchange: HTTPExchange) -> [RegisteredFunction] {
        registry.functions.filter { function in
            guard function.trigger.isForRequests else { return false }
            return PeerRules.admit(exchange, function, adminToken: adminToken, proxies: proxies)
        }
    }

    /// The reason why an unsigned token is not accepted in a request; nil if it is, and for every other token.
    func refusal(of token: TokenVerdict, in exchange: HTTPExchange) -> String? {
        // In production mode the gate refuses all unsigned tokens.
        guard let developmentAccess, case .valid(let token) = token, token.isUnsigned else { return nil }
        return developmentAccess.refusal(of: exchange)
    }

    /// The body of an error of the HTTP server itself, in the form that clients of callables can read.
    package static func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange) -> HTTPErrorBody {
        let error: CallableError =
            switch status {
            case .tooManyRequests: CallableError(code: .resourceExhausted, message: "\(message)")
            case .serviceUnavailable: CallableError(code: .unavailable, message: "\(message)")
            default: .badRequest("\(message)")
            }
        var body = ByteBuffer()
        CallableAnswer.append(error: error, to: &body)
        var fields: [(name: String, value: String)] = [("Vary", "Origin")]
        if let origin = exchange.header("origin") { fields.append(("Access-Control-Allow-Origin", origin.string())) }
        return HTTPErrorBody(contentType: "application/json; charset=utf-8", fields: fields, body: body.array())
    }

    /// Lends an empty buffer, reused between calls, to build an answer in.
    package func withScratch(_ body: (inout ByteBuffer) -> Void) {
        var buffer = ByteBuffer()
        swap(&buffer, &scratch)
        body(&buffer)
        buffer.clear(keepingAtMost: 64 * 1024)
        swap(&buffer, &scratch)
    }
}
