import HearthBytes
import EventLoop
import HTTP

/// The handler of the tests. Each case describes its path.
final class TestRoutes: HTTPHandler, HTTPBodyReceiver, HTTPExchangeObserver {
    private let loop: EventLoop
    private let log: EventLog
    private var held: [HTTPExchange] = []
    private var bigLeft = 0
    private var streamedBytes = 0
    var errorContent: HTTPErrorBody?

    init(loop: EventLoop, log: EventLog) {
        self.loop = loop
        self.log = log
    }

    func forget() { held = [] }

    func head(_ exchange: HTTPExchange) -> BodyPlan {
        exchange.observer = self
        log.add("head \(exchange.path.string())")
        switch exchange.path.string() {
        case "/tiny": return .collect(limit: 10)
        case "/count", "/patient": return stream(exchange)
        case "/refused":
            exchange.respond(.notFound, body: Array("nothing here".utf8).span)
            return .answered
        case "/unwanted":
            held.append(exchange)
            return .answered
        default: return .collect(limit: 1 << 20)
        }
    }

    private func stream(_ exchange: HTTPExchange) -> BodyPlan {
        streamedBytes = 0
        if exchange.path.equals("/patient") { pause(exchange) }
        return .stream(self)
    }

    func request(_ exchange: HTTPExchange, body: Span<UInt8>) {
        log.add("request \(exchange.path.string())")
        switch exchange.path.string() {
        case "/echo": exchange.respond(.ok, body: body) { $0.field("Content-Type", "application/octet-stream") }
        case "/info": exchange.respond(.ok, body: Array(Self.describe(exchange).utf8).span)
        case "/later": held.append(exchange)
        case "/nothing": exchange.respond(.noContent)
        case "/unmodified": exchange.respond(.notModified, body: Array("never sent".utf8).span)
        case "/pieces": sendPieces(exchange, contentLength: nil)
        case "/measured": sendPieces(exchange, contentLength: 11)
        case "/short": sendPieces(exchange, contentLength: 20)
        case "/big": sendBig(exchange)
        case "/injected":
            exchange.respond(.ok, body: Array("ok".utf8).span) { head in
                head.field("X-Text", "a\r\nX-Evil: 1\r\n\r\nbody")
                head.field("X-Bad Name", "b")
                head.field("Content-Length", "9999")
                head.field("Transfer-Encoding", "chunked")
            }
        case "/aborted":
            exchange.startResponse(.ok, contentLength: 100)
            exchange.write(Array("some".utf8).span)
            exchange.abort()
        default: respondFast(exchange)
        }
    }

    private func respondFast(_ exchange: HTTPExchange) {
        exchange.respond(
            prebuiltHead: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n", body: Array("hello".utf8).span)
    }

    static func describe(_ exchange: HTTPExchange) -> String {
        var text = "\(exchange.methodName.string()) \(exchange.path.string()) ? \(exchange.query.string()) @ \(exchange.host.string())"
        for index in 0..<exchange.headerCount {
            text += "\n\(exchange.headerName(at: index).string())=\(exchange.headerValue(at: index).string())"
        }
        return text
    }

    private func sendPieces(_ exchange: HTTPExchange, contentLength: Int?) {
        exchange.startResponse(.ok, contentLength: contentLength) { $0.field("Content-Type", "text/plain") }
        for piece in ["hello", " ", "world"] { exchange.write(Array(piece.utf8).span) }
        exchange.end()
    }

    // MARK: Answers that outlive the call

    /// Answers what `/later` and `/unwanted` left unanswered.
    func answerHeld(_ text: String) {
        let exchanges = held
        held = []
        for exchange in exchanges { exchange.respond(.ok, body: Array(text.utf8).span) }
    }

    /// 8 MiB, as fast as the client takes them.
    private func sendBig(_ exchange: HTTPExchange) {
        bigLeft = 8 << 20
        exchange.startResponse(.ok, contentLength: bigLeft)
        exchangeDidDrain(exchange)
    }

    func exchangeDidDrain(_ exchange: HTTPExchange) {
        let piece = [UInt8](repeating: UInt8(ascii: "b"), count: 16 * 1024)
        while bigLeft > 0 {
            let flow = exchange.write(piece.span)
            bigLeft -= piece.count
            if case .congested = flow {
                log.add("congested")
                return
            }
            if case .closed = flow { return }
        }
        exchange.end()
    }

    func exchangeDidClose(_ exchange: HTTPExchange) {
        log.add("gone \(exchange.path.string())")
        exchange.respond(.ok, body: Array("nobody hears this".utf8).span)
        exchange.end()
    }

    // MARK: Streamed bodies

    func exchange(_ exchange: HTTPExchange, didReceive bytes: Span<UInt8>) {
        streamedBytes += bytes.count
        if exchange.path.equals("/patient") { pause(exchange) }
    }

    private func pause(_ exchange: HTTPExchange) {
        exchange.pauseBody()
        log.add("paused")
        held.append(exchange)
    }

    /// Lets the body that `/patient` has stopped go on.
    func resumeHeld() {
        let exchanges = held
        held = []
        for exchange in exchanges { exchange.resumeBody() }
    }

    func exchangeDidReceiveAll(_ exchange: HTTPExchange) {
        log.add("received all")
        exchange.respond(.ok, body: Array("\(streamedBytes)".utf8).span)
    }

    func errorBody(status: HTTPStatus, message: StaticString, exchange: HTTPExchange?) -> HTTPErrorBody? {
        log.add("refused \(status.rawValue)")
        return errorContent
    }
}
