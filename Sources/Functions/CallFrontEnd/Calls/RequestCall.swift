import AdminProtocol
import Configuration
import EventLoop
import FunctionDispatch
import HearthBytes
import HearthJSON
import HTTP
import Logging
import WorkerProtocol

/// A call of a plain HTTP function (spec functions 7): any method, any path, and the function writes the whole answer.
final class RequestCall: FunctionCall {
    private var hasStarted = false

    /// Checks that a body with a JSON Content-Type is JSON, and starts the call.
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
        guard let facts = try? JSONScan.validate(body, limits: CallableLimits.json) else { return false }
        return facts.kind == .object || facts.kind == .array
    }

    // MARK: The answer

    override func didAnswer(_ kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {
        switch kind {
        case .response:
            guard !hasStarted else { return answerNonsense("it answered as a whole after it had begun an answer") }
            guard let head = ResponseDescription(head) else { return answerNonsense("the answer's head does not follow hearth.h") }
            guard exchange.admits(answerOf: body.count) else {
                return answer(.tooManyRequests, CallableError.tooMuchUnread.message, retryAfterSeconds: 1)
            }
            exchange.respond(head.status, body: body) { write(head, to: $0) }
        case .end:
            guard hasStarted else { return answerNonsense("it ended an answer that it had not begun") }
            if body.count > 0 { exchange.write(body) }
            exchange.end()
        case .error: answer(CallableError(functionError: body))
        case .result: answerNonsense("a plain HTTP function answered with the result of a callable")
        }
    }

    override func didStartResponse(head: Span<UInt8>) {
        guard !hasStarted, let head = ResponseDescription(head) else {
            return answerNonsense("it began an answer twice, or with a head that does not follow hearth.h")
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
            // The client must not take the part that it has for the whole answer.
            exchange.abort()
        } else if failure == .workerEnded {
            answerInternal()
        } else if case .crashed(let crash) = failure {
            answer(failure.httpStatus, crash.text)
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
        frontEnd.withScratch { buffer in
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
        frontEnd.log.error("the function's answer cannot be sent", metadata: ["function": "\(function.name)", "reason": "\(reason)"])
        if hasStarted { exchange.abort() } else { answerInternal() }
    }
}
