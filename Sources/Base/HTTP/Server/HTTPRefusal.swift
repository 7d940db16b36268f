import HearthBytes
import EventLoop

/// A refusal before, or instead of, the handler: the status and one sentence for the client.
struct HTTPRefusal: Error, Sendable {
    let status: HTTPStatus
    let message: StaticString
    /// The time after which the same request may be served, if it may.
    let retryAfterSeconds: Int?

    init(_ status: HTTPStatus, _ message: StaticString, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }

    static func badRequest(_ message: StaticString) -> HTTPRefusal { HTTPRefusal(.badRequest, message) }

    static let headTooLarge = HTTPRefusal(.headerFieldsTooLarge, "the request head is too large")
    static let tooManyFields = HTTPRefusal(.headerFieldsTooLarge, "there are too many header fields")
    static let targetTooLong = HTTPRefusal(.uriTooLong, "the request target is too long")
    static let bodyTooLarge = HTTPRefusal(.contentTooLarge, "the request body is too large")
    static let headTooSlow = HTTPRefusal(.requestTimeout, "the request head took too long")
    static let bodyTooSlow = HTTPRefusal(.requestTimeout, "the request body took too long")
    static let unknownCoding = HTTPRefusal(.unsupportedMediaType, "the content coding is not supported")
    static let badCompression = HTTPRefusal(.badRequest, "the compressed body is damaged")
    static let unknownExpectation = HTTPRefusal(.expectationFailed, "the expectation cannot be met")
    static let plainToTLS = HTTPRefusal(.badRequest, "this port speaks TLS only; use https:// in the address")
    static let hostIsFull = HTTPRefusal(
        .serviceUnavailable, "too much is being sent to this host at this moment; nothing was done, try again", retryAfterSeconds: 1)
    static let clientIsFull = HTTPRefusal(
        .tooManyRequests, "this client sends too much at the same time; nothing was done, try again", retryAfterSeconds: 1)
    static let tooManyConnections = HTTPRefusal(.serviceUnavailable, "too many connections are open")
    static let noDescriptors = HTTPRefusal(.serviceUnavailable, "the host has no file descriptor left for another connection; try again")
}

extension HTTPRefusal {
    /// The body for clients of paths that have no other form of errors.
    var text: [UInt8] { Array("\(status.rawValue) \(status.phrase): \(message).\n".utf8) }

    /// Adds the fields of the answer.
    func write(_ content: HTTPErrorBody?, to head: ResponseHead) {
        head.field("Content-Type", content?.contentType ?? "text/plain; charset=utf-8")
        for field in content?.fields ?? [] { head.field(field.name, field.value) }
        if let retryAfterSeconds { head.field("Retry-After", retryAfterSeconds) }
        if status == .unsupportedMediaType { head.field("Accept-Encoding", "gzip, deflate") }
    }
}

extension HTTPConnection {
    /// Whether another request may follow on this connection. Evaluated when the head of an answer is written, which states it.
    func keepsAlive(after exchange: HTTPExchange) -> Bool {
        let isBodyNoObstacle =
            phase != .body || exchange.intake.isDiscardable(upTo: server.limits.discardedBytesMax)
        let keeps = exchange.head.isKeepAlive && isBodyNoObstacle && !closesAfterAnswer && !server.isDraining
        closesAfterAnswer = !keeps
        return keeps
    }

    /// Refuses a request, and closes the connection.
    ///
    /// - Parameter exchange: the request, if its head was understood.
    func refuse(_ refusal: HTTPRefusal, _ exchange: HTTPExchange?) {
        closesAfterAnswer = true
        guard let exchange else {
            writeRefusal(refusal, nil)
            return beginClosing()
        }
        guard exchange.state == .waiting else {
            // Part of an answer has been sent: only an abrupt close tells that it is incomplete.
            return exchange.state == .finished ? beginClosing() : stream.close()
        }
        writeRefusal(refusal, exchange)
        beginClosing()
    }

    private func writeRefusal(_ refusal: HTTPRefusal, _ exchange: HTTPExchange?) {
        let content = server.handler.errorBody(status: refusal.status, message: refusal.message, exchange: exchange)
        let body = content?.body ?? refusal.text
        server.figures.count(refusal.status)
        stream.outbox.append("HTTP/1.1 ")
        stream.outbox.append(decimal: refusal.status.rawValue)
        stream.outbox.append(" ")
        stream.outbox.append(refusal.status.phrase)
        stream.outbox.append("\r\n")
        stream.outbox.append(UnsafeRawBufferPointer(start: server.dateLine, count: DateLine.count))
        stream.outbox.append("Connection: close\r\nContent-Length: ")
        stream.outbox.append(decimal: body.count)
        stream.outbox.append("\r\n")
        withUnsafeMutablePointer(to: &stream.outbox) { refusal.write(content, to: ResponseHead($0)) }
        stream.outbox.append("\r\n")
        if exchange?.method != .head { stream.outbox.append(body) }
        stream.queueFlush()
    }
}
