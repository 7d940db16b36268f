import AdminProtocol
import Configuration
import EventLoop
import FunctionDispatch
import HearthBytes
import HearthJSON
import HTTP
import Logging
import Tokens
import WorkerProtocol

/// A call of a callable function (spec functions 1 to 6). Makes its checks in the order that the specification gives.
final class CallableCall: FunctionCall {
    private var idToken = TokenVerdict.missing
    private var appCheck = TokenVerdict.missing
    private var alreadyConsumed: Bool?
    /// Whether the call is delayed until the App Check token has been marked as consumed.
    private var isConsuming = false
    private var stream: EventStream?

    /// Whether the client asks for server-sent events. As in Firebase, only this exact value of `Accept` does: no list, no parameters.
    private let wantsStream: Bool

    override init(function: RegisteredFunction, exchange: HTTPExchange, ownPathStart: Int, frontEnd: FunctionFrontEnd) {
        wantsStream = exchange.header("accept")?.equals("text/event-stream") ?? false
        super.init(function: function, exchange: exchange, ownPathStart: ownPathStart, frontEnd: frontEnd)
    }

    /// Checks the request and starts it.
    func handle(_ body: Span<UInt8>) {
        if wantsStream, function.generation == 2 {
            takesChunks = true
            stream = EventStream(self)
        }
        let exchange = exchange
        if CORSHeaders.answerPreflight(exchange, function.options.cors, methods: "POST") { return }
        guard exchange.method == .post, let type = exchange.header("content-type"), CallableBody.accepts(contentType: type),
            let parsed = CallableBody(body)
        else { return answer(.badRequest(reasonForRefusal(body))) }
        guard !parsed.hasTooManyValues else { return answer(.tooManyValues) }
        let authorization = exchange.header("authorization")
        let appCheckHeader = exchange.header("x-firebase-appcheck")
        if authorization == nil, appCheckHeader == nil, parsed.unwrapped == nil {
            return admit(.missing, .missing, body.extracting(parsed.data))
        }
        let credentials = frontEnd.gate.credentials(authorization: authorization, appCheck: appCheckHeader)
        if credentials.areKnown, let idToken = credentials.idToken.verdict, let appCheck = credentials.appCheck.verdict {
            if let unwrapped = parsed.unwrapped {
                admit(idToken, appCheck, unwrapped.span)
            } else {
                admit(idToken, appCheck, body.extracting(parsed.data))
            }
            return
        }
        // The bytes of the body are valid only until this function returns.
        guard body.count <= 4096 || exchange.hold(bytes: body.count) else { return didFail(.memoryIsFull) }
        let data = parsed.unwrapped ?? body.extracting(parsed.data).array()
        let reference = LoopBound(self, loop: frontEnd.loop)
        frontEnd.gate.verify(credentials, on: frontEnd.loop) {
            reference.value.admit($0, $1, data.span)
            if !reference.value.isConsuming { reference.value.exchange.endHolding() }
        }
    }

    private func admit(_ idToken: TokenVerdict, _ appCheck: TokenVerdict, _ data: Span<UInt8>) {
        let misuse = (unsignedMisuse(idToken), unsignedMisuse(appCheck))
        self.idToken = misuse.0.map { .invalid(reason: $0) } ?? idToken
        self.appCheck = misuse.1.map { .invalid(reason: $0) } ?? appCheck
        if let (answered, reason) = refusal() {
            var error = answered
            // The client gets this reason, unlike all others: its author has to correct the use of development mode.
            if let text = misuse.0 ?? misuse.1 { error.message = text }
            frontEnd.log.warning(
                "Callable request verification failed",
                metadata: [
                    "function": "\(function.name)", "app": "\(self.appCheck.name)", "auth": "\(self.idToken.name)", "reason": "\(reason)",
                ])
            return answer(error)
        }
        if frontEnd.logsEachCall {
            frontEnd.log.debug(
                "Callable request verification passed",
                metadata: ["function": "\(function.name)", "app": "\(self.appCheck.name)", "auth": "\(self.idToken.name)"])
        }
        if wantsStream, function.generation == 1 {
            return answer(CallableError(code: .invalidArgument, message: "Unsupported Accept header 'text/event-stream'"))
        }
        if function.options.consumeAppCheckToken, case .valid(let token) = self.appCheck {
            // The bytes of the payload are valid only until this function returns.
            guard data.count <= 4096 || exchange.hold(bytes: data.count) else { return didFail(.memoryIsFull) }
            isConsuming = true
            let data = data.array()
            let reference = LoopBound(self, loop: frontEnd.loop)
            return frontEnd.gate.consume(token, on: frontEnd.loop) {
                reference.value.didConsume($0, data)
                reference.value.exchange.endHolding()
            }
        }
        invoke(data)
    }

    private func unsignedMisuse(_ token: TokenVerdict) -> String? {
        frontEnd.refusal(of: token, in: exchange).map { "A token without a signature \($0)." }
    }

    private func didConsume(_ use: ConsumedTokens.Use, _ data: [UInt8]) {
        guard use != .unknown else {
            return answer(CallableError(code: .unavailable, message: "The App Check token cannot be checked now. Try again."), retryAfterSeconds: 1)
        }
        alreadyConsumed = use == .repeated
        invoke(data.span)
    }

    private func invoke(_ data: Span<UInt8>) {
        begin(payload: data)
        stream?.startHeartbeats()
    }

    /// Explains why a request is not a callable request, and says what is expected.
    private func reasonForRefusal(_ body: Span<UInt8>) -> String {
        let exchange = exchange
        guard exchange.method == .post else { return "the method is not POST; a callable function is called with POST" }
        if let type = exchange.header("content-type") {
            if CallableBody.accepts(contentType: type) { return CallableBody.problem(body) }
            return "the Content-Type is \(type.string().prefix(100)); a callable function takes application/json in UTF-8"
        }
        return "the Content-Type header is missing; a callable function takes application/json"
    }

    /// The answer to a call that is refused because of its tokens, and the reason for the log; nil if the tokens suffice.
    private func refusal() -> (answer: CallableError, reason: String)? {
        if case .invalid(let reason) = idToken { return (.unauthenticated, reason) }
        guard function.options.enforceAppCheck else { return nil }
        switch appCheck {
        case .valid: return nil
        case .invalid(let reason): return (.unauthenticated, "App Check: \(reason)")
        case .missing: return (.unauthenticated, "the function has enforceAppCheck, and the call has no X-Firebase-AppCheck header")
        }
    }

    // MARK: The context

    override func writeCaller(into buffer: inout ByteBuffer) {
        if case .valid(let token) = idToken {
            buffer.append(",\"auth\":{\"uid\":")
            buffer.append(jsonString: token.subject)
            write(token, subjectKey: "uid", into: &buffer)
        }
        if case .valid(let token) = appCheck {
            buffer.append(",\"app\":{\"appId\":")
            buffer.append(jsonString: token.subject)
            if let alreadyConsumed { buffer.append(alreadyConsumed ? ",\"alreadyConsumed\":true" : ",\"alreadyConsumed\":false") }
            write(token, subjectKey: "app_id", into: &buffer)
        }
        let exchange = exchange
        if let id = exchange.header("firebase-instance-id-token"), id.count > 0 {
            buffer.append(",\"instanceIdToken\":")
            buffer.append(jsonString: id)
        }
        if takesChunks { buffer.append(",\"acceptsStreaming\":true") }
    }

    /// Writes the claims, with the subject also under `subjectKey` as handlers expect it, and the text of the token.
    private func write(_ token: VerifiedToken, subjectKey: StaticString, into buffer: inout ByteBuffer) {
        buffer.append(",\"token\":")
        let claims = token.claims
        // The payload of a verified token is an object with members, so a further member can be inserted before its last brace.
        if let brace = claims.lastIndex(of: UInt8(ascii: "}")) {
            buffer.append(claims.span.extracting(0..<brace))
            buffer.append(",\"")
            buffer.append(subjectKey)
            buffer.append("\":")
            buffer.append(jsonString: token.subject)
            buffer.append(UInt8(ascii: "}"))
        } else {
            buffer.append("{}")
        }
        // A verified token has no character that needs an escape (RFC 7515 section 7.1).
        buffer.append(",\"rawToken\":\"")
        buffer.append(token.text.span)
        buffer.append("\"}")
    }

    // MARK: The answer

    override func didAnswer(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        switch kind {
        case .result: answerResult(body)
        case .error: answer(CallableError(functionError: body))
        case .response, .end: answerNonsense("a callable answered with the response of a plain HTTP function")
        }
    }

    override func didReceiveChunk(_ chunk: Span<UInt8>) {
        guard let stream else { return }
        frontEnd.withScratch { buffer in
            if CallableAnswer.append("message", chunk, to: &buffer) {
                stream.send(buffer.bytes, size: chunk.count)
            } else {
                frontEnd.log.error("dropped a chunk of the function's stream: it is not JSON", metadata: ["function": "\(function.name)"])
            }
        }
    }

    override func didFail(_ failure: InvocationFailure) {
        answer(CallableError(failure), retryAfterSeconds: failure.retryAfterSeconds)
    }

    /// The head of an answer to a client that is not a browser.
    private static let plainHead: StaticString = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nVary: Origin\r\n"

    private func answerResult(_ value: Span<UInt8>) {
        let exchange = exchange
        // The usual answer is copied once: into the connection's outbox.
        if stream == nil, function.options.cors == .reflect, exchange.header("origin") == nil, CallableAnswer.isPlain(value) {
            guard exchange.admits(answerOf: value.count) else { return answer(.tooMuchUnread, retryAfterSeconds: 1) }
            return exchange.respond(prebuiltHead: Self.plainHead, opening: "{\"result\":", body: value, closing: "}")
        }
        frontEnd.withScratch { buffer in
            guard CallableAnswer.append("result", value, to: &buffer) else { return answerNonsense("its result is not JSON") }
            if let stream {
                stream.finish(buffer.bytes)
            } else if !exchange.admits(answerOf: buffer.count) {
                answer(.tooMuchUnread, retryAfterSeconds: 1)
            } else {
                respond(.ok, buffer.bytes)
            }
        }
    }

    private func answerNonsense(_ reason: String) {
        frontEnd.log.error("the function's answer cannot be sent", metadata: ["function": "\(function.name)", "reason": "\(reason)"])
        answer(.internal)
    }

    private func answer(_ error: CallableError, retryAfterSeconds: Int? = nil) {
        if let reason = error.reason {
            frontEnd.log.debug("refused a malformed call", metadata: ["function": "\(function.name)", "reason": "\(reason)"])
        }
        frontEnd.withScratch { buffer in
            CallableAnswer.append(error: error, to: &buffer)
            if let stream {
                stream.finish(buffer.bytes)
            } else {
                respond(HTTPStatus(rawValue: error.code.httpStatus), buffer.bytes, retryAfterSeconds: retryAfterSeconds, reason: error.reason)
            }
        }
    }

    private func respond(_ status: HTTPStatus, _ body: Span<UInt8>, retryAfterSeconds: Int? = nil, reason: String? = nil) {
        exchange.respond(status, body: body) { fields in
            fields.field("Content-Type", "application/json; charset=utf-8")
            // The reason may quote arbitrary bytes of the request.
            if let reason {
                fields.field("X-Hearth-Reason", String(reason.unicodeScalars.map { (32..<127).contains($0.value) ? Character($0) : "?" }))
            }
            if let retryAfterSeconds { fields.field("Retry-After", retryAfterSeconds) }
            CORSHeaders.write(function.options.cors, for: exchange, to: fields)
        }
    }

    override func exchangeDidClose(_ exchange: HTTPExchange) {
        stream?.stop()
        super.exchangeDidClose(exchange)
    }
}
