import HearthBytes
import Configuration
import EventLoop
import HTTP
import HearthJSON
import Logging
import WorkerProtocol

/// A call of a plain HTTP function (spec functions 7): any method, any path, and the function makes the answer.
final class RequestCall: FunctionCall {
    private var hasStarted = false

    /// Checks the body where it says that it is JSON, and starts the call.
    func handle(_ body: Span<UInt8>) {
        let exchange = exchange
        if CORSHeaders.answerPreflight(exchange, function.options.cors, methods: "GET,HEAD,PUT,PATCH,POST,DELETE") { return }
        if body.count > 0, let type = exchange.header("content-type"), Self.isJSON(type), !Self.isDocument(body) {
            return answer(.badRequest, "the Content-Type says JSON, but the body is not a JSON object or array")
        }
        takesChunks = true
        begin(payload: body)
    }

    private static func isJSON(_ type: Span<UInt8>) -> Bool {
        let media = type.string().prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        return media == "application/json" || media == "application/cloudevents+json"
    }

    private static func isDocument(_ body: Span<UInt8>) -> Bool {
        guard let facts = try? JSONScan.validate(body, limits: CallableBody.limits) else { return false }
        return facts.kind == .object || facts.kind == .array
    }

    // MARK: The answer

    override func didAnswer(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        switch kind {
        case .response:
            guard let head = ResponseDescription(head) else { return answerNonsense("its answer's head is not as hearth.h says") }
            guard exchange.admits(answerOf: body.count) else {
                return answer(.tooManyRequests, CallableError.tooMuchUnread.message, retryAfterSeconds: 1)
            }
            exchange.respond(head.status, body: body) { write(head, to: $0) }
        case .end:
            guard hasStarted else { return answerNonsense("it ended an answer that it had not begun") }
            if body.count > 0 { exchange.write(body) }
            exchange.end()
        case .error: answer(CallableError(functionError: body))
        case .result: answerNonsense("it answered as a callable does")
        }
    }

    override func didStartResponse(head: Span<UInt8>) {
        guard !hasStarted, let head = ResponseDescription(head) else {
            return answerNonsense("it began an answer twice, or with a head that is not as hearth.h says")
        }
        hasStarted = true
        exchange.startResponse(head.status) { write(head, to: $0) }
    }

    override func didReceiveChunk(_ chunk: Span<UInt8>) {
        guard hasStarted else { return }
        send(chunk, size: chunk.count)
    }

    override func didFail(_ failure: InvocationFailure) {
        if hasStarted {
            // The client must not take what it has for the whole.
            exchange.abort()
        } else if failure == .workerEnded {
            answerInternal()
        } else {
            answer(failure.httpStatus, failure.message, retryAfterSeconds: failure.retryAfterSeconds)
        }
    }

    private func write(_ head: ResponseDescription, to fields: ResponseHead) {
        for (name, value) in head.headers { fields.field(name, value) }
        CORSHeaders.write(function.options.cors, for: exchange, to: fields)
    }

    private func answer(_ error: CallableError) {
        if hasStarted { return exchange.abort() }
        guard error.code != .internal else { return answerInternal() }
        router.withScratch { buffer in
            CallableAnswer.append(error: error, to: &buffer)
            exchange.respond(HTTPStatus(rawValue: error.code.httpStatus), body: buffer.bytes) { fields in
                fields.field("Content-Type", "application/json; charset=utf-8")
                CORSHeaders.write(function.options.cors, for: exchange, to: fields)
            }
        }
    }

    private func answerInternal() {
        exchange.respond(.internalServerError, body: Array("Internal Server Error".utf8).span) { fields in
            fields.field("Content-Type", "text/html; charset=utf-8")
            CORSHeaders.write(function.options.cors, for: exchange, to: fields)
        }
    }

    private func answer(_ status: HTTPStatus, _ message: String, retryAfterSeconds: Int? = nil) {
        exchange.respond(status, body: Array(message.utf8).span) { fields in
            fields.field("Content-Type", "text/plain; charset=utf-8")
            if let retryAfterSeconds { fields.field("Retry-After", retryAfterSeconds) }
            CORSHeaders.write(function.options.cors, for: exchange, to: fields)
        }
    }

    private func answerNonsense(_ reason: String) {
        router.log.error("the function's answer cannot be sent", metadata: ["function": "\(function.name)", "reason": "\(reason)"])
        if hasStarted { exchange.abort() } else { answerInternal() }
    }
}

/// `{"status": 200, "headers": [name, value, ...]}`, as a plugin begins an HTTP answer.
struct ResponseDescription {
    let status: HTTPStatus
    let headers: [(String, String)]

    /// The first digit of a head's status; 0 for what is no head.
    static func statusClass(_ bytes: Span<UInt8>) -> Int {
        let usual: StaticString = "{\"status\":"
        let size = usual.utf8CodeUnitCount
        if bytes.count > size + 2, bytes.extracting(0..<size).equals(usual), bytes[size] &- 0x32 < 4, bytes[size + 3] &- 0x30 > 9 {
            return Int(bytes[size] &- 0x30)
        }
        return ResponseDescription(bytes).map { $0.status.rawValue / 100 } ?? 0
    }

    /// - Returns: nil for anything else than that, and for a status that is no final one.
    init?(_ bytes: Span<UInt8>) {
        guard let object = (try? JSONValue(parsing: bytes))?.object else { return nil }
        // A number that is no status, or no number, is not the same as none.
        let status = object["status"].map { $0.int ?? 0 } ?? 200
        guard (200...599).contains(status) else { return nil }
        let words = object["headers"]?.array ?? []
        guard words.count % 2 == 0 else { return nil }
        var headers: [(String, String)] = []
        for index in stride(from: 0, to: words.count, by: 2) {
            guard let name = words[index].string, let value = words[index + 1].string else { return nil }
            headers.append((name, value))
        }
        self.status = HTTPStatus(rawValue: status)
        self.headers = headers
    }
}
