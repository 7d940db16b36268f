import HearthBytes
import EventLoop

extension HTTPConnection {
    /// Whether another request may follow on this connection. Asked when the head of an answer is written, which says so.
    func keepsAlive(after exchange: HTTPExchange) -> Bool {
        let isBodyNoObstacle =
            phase != .body || exchange.intake.isDiscardable(upTo: server.limits.discardedBytesMax)
        let keeps = exchange.head.isKeepAlive && isBodyNoObstacle && !closesAfterAnswer && !server.isDraining
        closesAfterAnswer = !keeps
        return keeps
    }

    /// Answers that the request cannot be served, and closes.
    ///
    /// - Parameter exchange: the request, where its head was understood.
    func refuse(_ refusal: HTTPRefusal, _ exchange: HTTPExchange?) {
        closesAfterAnswer = true
        guard let exchange else {
            writeRefusal(refusal, nil)
            return beginClosing()
        }
        guard exchange.state == .waiting else {
            // Half an answer is out: only the cut says that it is not all of it.
            return exchange.state == .finished ? beginClosing() : stream.close()
        }
        writeRefusal(refusal, exchange)
        beginClosing()
    }

    private func writeRefusal(_ refusal: HTTPRefusal, _ exchange: HTTPExchange?) {
        let content = server.handler.errorBody(status: refusal.status, message: refusal.message, exchange: exchange)
        let body = content?.body ?? Self.text(of: refusal)
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
        let head = ResponseHead(stream)
        head.field("Content-Type", content?.contentType ?? "text/plain; charset=utf-8")
        for field in content?.fields ?? [] { head.field(field.name, field.value) }
        if let seconds = refusal.retryAfterSeconds { head.field("Retry-After", seconds) }
        if refusal.status == .unsupportedMediaType { head.field("Accept-Encoding", "gzip, deflate") }
        stream.outbox.append("\r\n")
        if exchange?.method != .head { stream.outbox.append(body) }
        stream.queueFlush()
    }

    private static func text(of refusal: HTTPRefusal) -> [UInt8] {
        Array("\(refusal.status.rawValue) \(refusal.status.phrase): \(refusal.message).\n".utf8)
    }
}
