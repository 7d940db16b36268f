import HearthBytes
import EventLoop

/// Carries a request and its answer on a connection with several requests at a time. An exchange of HTTP/1.1 has its own connection instead.
protocol ExchangeCarrier: AnyObject {
    /// The server of the connection.
    var server: HTTPServer { get }
    /// The client's address and port.
    var peerAddress: String { get }
    /// The client's share of the memory budget; nil for a trusted proxy's connection.
    var memoryShare: MemoryShare? { get }
    /// Bytes of the answer that wait for the client.
    var unsentBytes: Int { get }
    /// Whether a writer should wait until the exchange's observer is notified.
    var isCongested: Bool { get }
    /// Whether `bytes` more may wait for the client.
    func reserve(_ bytes: Int) -> Bool
    /// Sends a head with the fields in ``HTTPServer/fieldLines``.
    ///
    /// - Parameter isWhole: whether the answer has no body.
    func sendHead(_ status: HTTPStatus, isWhole: Bool)
    /// Sends a piece of the body.
    func sendBody(_ bytes: Span<UInt8>)
    /// The answer is complete.
    ///
    /// - Parameter isWhole: false if the body is shorter than its declared length.
    func answerDidEnd(_ exchange: HTTPExchange, isWhole: Bool)
    /// Ends the exchange so that the client cannot take a part of the answer for the whole.
    func abort(_ exchange: HTTPExchange)
    /// The receiver of a streamed body can take more.
    func resumeBody()
}

/// The answers of exchanges with a carrier.
extension HTTPExchange {
    /// Answers with a whole body.
    func carry(
        _ status: HTTPStatus, prebuiltHead: StaticString? = nil, opening: StaticString = "", body: Span<UInt8>, closing: StaticString = "",
        fields: (ResponseHead) -> Void = { _ in }
    ) {
        guard let carrier else { return }
        let count = opening.utf8CodeUnitCount + body.count + closing.utf8CodeUnitCount
        let hasBody = count > 0 && method != .head && !status.isBodyless
        writeFields(carrier.server, prebuiltHead, contentLength: status.isBodyless ? nil : count, fields)
        carrier.server.figures.count(status)
        state = .finished
        carrier.sendHead(status, isWhole: !hasBody)
        if hasBody {
            carrier.sendBody(opening.bytes)
            carrier.sendBody(body)
            carrier.sendBody(closing.bytes)
        }
        carrier.answerDidEnd(self, isWhole: true)
    }

    /// Begins an answer in pieces.
    func carryStart(
        _ status: HTTPStatus, prebuiltHead: StaticString? = nil, contentLength: Int?, fields: (ResponseHead) -> Void = { _ in }
    ) {
        guard let carrier else { return }
        let isBodyless = status.isBodyless || method == .head
        writeFields(carrier.server, prebuiltHead, contentLength: status.isBodyless ? nil : contentLength, fields)
        carrier.server.figures.count(status)
        state = isBodyless ? .bodyless : contentLength.map { .fixed(remaining: $0) } ?? .chunked
        carrier.sendHead(status, isWhole: isBodyless)
    }

    /// Sends a piece of the body.
    func carryPiece(_ bytes: Span<UInt8>) -> HTTPFlow {
        guard let carrier else { return .closed }
        switch state {
        case .fixed(let remaining):
            let count = min(bytes.count, remaining)
            state = .fixed(remaining: remaining - count)
            carrier.sendBody(bytes.extracting(first: count))
        case .chunked: carrier.sendBody(bytes)
        case .untilClose, .bodyless, .waiting, .finished: break
        }
        return carrier.isCongested ? .congested : .ready
    }

    /// Ends an answer in pieces.
    func carryEnd() {
        guard let carrier else { return }
        var isWhole = true
        if case .fixed(let remaining) = state { isWhole = remaining == 0 }
        state = .finished
        carrier.answerDidEnd(self, isWhole: isWhole)
    }

    /// Gathers the fields of the head in the server's buffer: the server's own, those of the prepared head, and those of the handler.
    private func writeFields(
        _ server: HTTPServer, _ prebuiltHead: StaticString?, contentLength: Int?, _ fields: (ResponseHead) -> Void
    ) {
        server.fieldLines.clear(keepingAtMost: 16 * 1024)
        if let prebuiltHead { server.fieldLines.append(prebuiltHead.afterFirstLine) }
        server.fieldLines.append(UnsafeRawBufferPointer(start: server.dateLine, count: DateLine.count))
        if let contentLength {
            server.fieldLines.append("Content-Length: ")
            server.fieldLines.append(decimal: contentLength)
            server.fieldLines.append("\r\n")
        }
        withUnsafeMutablePointer(to: &server.fieldLines) { fields(ResponseHead($0)) }
    }
}

extension StaticString {
    /// The bytes of the text.
    fileprivate var bytes: Span<UInt8> {
        @_lifetime(immortal)
        get { unsafe _overrideLifetime(Span(_unsafeElements: UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)), copying: ()) }
    }

    /// The lines after the status line of a prepared head.
    fileprivate var afterFirstLine: UnsafeRawBufferPointer {
        var start = 0
        while start < utf8CodeUnitCount, utf8Start[start] != 0x0A { start += 1 }
        return UnsafeRawBufferPointer(start: utf8Start + start + 1, count: max(0, utf8CodeUnitCount - start - 1))
    }

    /// The status of a prepared head, such as `HTTP/1.1 200 OK`.
    var statusOfHead: HTTPStatus {
        HTTPStatus(rawValue: (9..<12).reduce(0) { $0 * 10 + Int(utf8Start[$1] &- 48) })
    }
}
