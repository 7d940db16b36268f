import AdminProtocol
import Configuration
import EventLoop
import FunctionDispatch
import HearthBytes
import HTTP
import Logging
import Tokens

/// Takes the requests of one loop that are calls of functions: admits them and starts ``CallableCall`` or ``RequestCall``.
package final class FunctionFrontEnd {
    let loop: EventLoop
    /// Whether its loop is the dispatcher's.
    package let isHome: Bool
    let gate: TokenGate
    let log: Logger
    /// Whether the log takes debug lines, so that none is made in vain for a call.
    let logsEachCall: Bool
    /// The functions as this loop knows them.
    package let registry: FunctionRegistry
    /// The traces of the loop's requests.
    var traces = TraceSource()
    private var dice = TrafficDice()
    private var scratch = ByteBuffer()
    private let developmentAccess: DevelopmentAccess?
    private let adminToken: [UInt8]
    private let proxies: TrustedProxies

    /// - Parameters:
    ///   - isHome: whether `loop` is the dispatcher's.
    ///   - adminToken: what internal callers of functions may present.
    package init(
        loop: EventLoop, isHome: Bool, project: String, adminToken: [UInt8], developmentAccess: DevelopmentAccess?, proxies: TrustedProxies,
        gate: TokenGate, log: Logger
    ) {
        self.loop = loop
        self.isHome = isHome
        self.adminToken = adminToken
        self.developmentAccess = developmentAccess
        self.proxies = proxies
        self.gate = gate
        self.log = log
        logsEachCall = log.logLevel <= .debug
        registry = FunctionRegistry(project: project)
    }

    /// Answers a request with a function.
    ///
    /// - Parameter ownPathStart: where in the request's path the function's own part begins.
    package func call(_ function: RegisteredFunction, _ exchange: HTTPExchange, _ ownPathStart: Int, _ body: Span<UInt8>) {
        if function.alternativePercent > 0 {
            begin(dice.choose(function), exchange, ownPathStart, body)
        } else {
            begin(function, exchange, ownPathStart, body)
        }
    }

    private func begin(_ function: RegisteredFunction, _ exchange: HTTPExchange, _ ownPathStart: Int, _ body: Span<UInt8>) {
        guard PeerRules.admit(exchange, function, adminToken: adminToken, proxies: proxies) else {
            return exchange.respond(.forbidden, body: Array("this function is not open to you".utf8).span) { fields in
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

    /// The functions that the sender of a request may call: no page names another one.
    package func functions(openTo exchange: HTTPExchange) -> [RegisteredFunction] {
        registry.functions.filter { function in
            if case .event = function.trigger { return false }
            return PeerRules.admit(exchange, function, adminToken: adminToken, proxies: proxies)
        }
    }

    /// Why a token without a signature does not count in a request; nil where it does, and for every other token.
    func refusal(of token: TokenVerdict, in exchange: HTTPExchange) -> String? {
        // In production mode the gate has refused it.
        guard let developmentAccess, case .valid(let token, _) = token, token.isUnsigned else { return nil }
        return developmentAccess.refusal(of: exchange)
    }

    /// The body of a refusal by the server itself, in the form that clients of callables read.
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

    /// Lends an empty buffer for building an answer.
    package func withScratch(_ body: (inout ByteBuffer) -> Void) {
        var buffer = ByteBuffer()
        swap(&buffer, &scratch)
        body(&buffer)
        buffer.clear(keepingAtMost: 64 * 1024)
        swap(&buffer, &scratch)
    }
}
