import HearthBytes
import EventLoop
import Glibc

extension HTTPExchange {
    /// Whether an answer has begun, or none is possible because the client has left.
    public var isAnswered: Bool { state != .waiting }

    /// Whether the client is connected and the answer incomplete.
    public var isOpen: Bool { state != .finished }

    // MARK: Whole answers

    /// Answers with a whole body. `body` is not sent where HTTP forbids it (HEAD, 204, 304), but its length is stated for HEAD.
    ///
    /// - Parameter fields: adds header fields; the server sets `Date`, `Content-Length` and `Connection`.
    public func respond(_ status: HTTPStatus, body: Span<UInt8>, fields: (ResponseHead) -> Void = { _ in }) {
        guard state == .waiting else { return }
        guard let connection else { return carry(status, body: body, fields: fields) }
        writeStatusLine(status, connection)
        finish(connection, status.isBodyless ? nil : body.count, fields)
        if method != .head, !status.isBodyless { connection.stream.outbox.append(body) }
        end(connection)
    }

    /// Answers without a body.
    public func respond(_ status: HTTPStatus, fields: (ResponseHead) -> Void = { _ in }) {
        respond(status, body: Span(), fields: fields)
    }

    /// Answers a preflight request (Fetch standard, section 4.8): pages of every origin may use the resource. Only for resources whose rights depend
    /// on tokens, never on cookies or the address of the client.
    ///
    /// - Parameters:
    ///   - methods: the methods that pages may use.
    ///   - fieldNames: the header fields that pages may send, if the request names none.
    public func allowPreflight(_ status: HTTPStatus, methods: StaticString, fieldNames: StaticString? = nil) {
        respond(status) { fields in
            fields.field("Access-Control-Allow-Origin", "*")
            fields.field("Access-Control-Allow-Methods", methods)
            if let wanted = header("access-control-request-headers") {
                fields.field("Access-Control-Allow-Headers", wanted)
            } else if let fieldNames {
                fields.field("Access-Control-Allow-Headers", fieldNames)
            }
            fields.field("Access-Control-Max-Age", 3600)
            fields.field("Vary", "Access-Control-Request-Headers")
        }
    }

    /// Answers with a prepared head, which lacks only `Date`, `Content-Length` and `Connection`: the fastest way.
    ///
    /// - Parameters:
    ///   - prebuiltHead: status line and fields, each with CR LF, without the blank line. The status must allow a body.
    ///   - opening: sent before `body`, as a part of the body.
    ///   - closing: sent after it.
    public func respond(prebuiltHead: StaticString, opening: StaticString = "", body: Span<UInt8>, closing: StaticString = "") {
        guard state == .waiting else { return }
        guard let connection else {
            return carry(prebuiltHead.statusOfHead, prebuiltHead: prebuiltHead, opening: opening, body: body, closing: closing)
        }
        connection.server.figures.count(prebuiltHead: prebuiltHead)
        let isClosing = !connection.keepsAlive(after: self)
        let sendsKeepAlive = !isClosing && minorVersion == 0
        let date = connection.server.dateLine
        let headCount = prebuiltHead.utf8CodeUnitCount
        let wholeCount = opening.utf8CodeUnitCount + body.count + closing.utf8CodeUnitCount
        let hasBody = method != .head
        body.withUnsafeBufferPointer { body in
            connection.stream.outbox.appendUninitialized(minimum: headCount + DateLine.count + 96 + (hasBody ? wholeCount : 0)) { room in
                guard let base = room.baseAddress else { return 0 }
                var end = Self.put(prebuiltHead, base)
                memcpy(end, date, DateLine.count)
                end = Self.put("Content-Length: ", end + DateLine.count)
                end = Self.put(decimal: wholeCount, end)
                if isClosing { end = Self.put("\r\nConnection: close", end) }
                if sendsKeepAlive { end = Self.put("\r\nConnection: keep-alive", end) }
                end = Self.put("\r\n\r\n", end)
                guard hasBody else { return end - base }
                end = Self.put(opening, end)
                if let source = body.baseAddress { memcpy(end, source, body.count) }
                end = Self.put(closing, end + body.count)
                return end - base
            }
        }
        end(connection)
    }

    /// Answers with a prepared head, the fields that `fields` adds, and the server's own fields.
    public func respond(prebuiltHead: StaticString, body: Span<UInt8>, fields: (ResponseHead) -> Void) {
        guard state == .waiting else { return }
        guard let connection else { return carry(prebuiltHead.statusOfHead, prebuiltHead: prebuiltHead, body: body, fields: fields) }
        connection.server.figures.count(prebuiltHead: prebuiltHead)
        connection.stream.outbox.append(prebuiltHead)
        finish(connection, body.count, fields)
        if method != .head { connection.stream.outbox.append(body) }
        end(connection)
    }

    // MARK: Answers in pieces

    /// Begins an answer. Send its body with `write` and end it with `end()`.
    ///
    /// - Parameter contentLength: the length of the body if known. Otherwise the body is chunked, or for HTTP/1.0 delimited by the end of
    ///   the connection.
    public func startResponse(
        _ status: HTTPStatus, contentLength: Int? = nil, fields: (ResponseHead) -> Void = { _ in }
    ) {
        guard state == .waiting else { return }
        guard let connection else { return carryStart(status, contentLength: contentLength, fields: fields) }
        writeStatusLine(status, connection)
        start(connection, status.isBodyless ? nil : contentLength, isBodyless: status.isBodyless, fields)
    }

    /// Begins an answer with a prepared head, as in ``respond(prebuiltHead:body:)``.
    public func startResponse(
        prebuiltHead: StaticString, contentLength: Int? = nil, fields: (ResponseHead) -> Void = { _ in }
    ) {
        guard state == .waiting else { return }
        guard let connection else {
            return carryStart(prebuiltHead.statusOfHead, prebuiltHead: prebuiltHead, contentLength: contentLength, fields: fields)
        }
        connection.server.figures.count(prebuiltHead: prebuiltHead)
        connection.stream.outbox.append(prebuiltHead)
        start(connection, contentLength, isBodyless: false, fields)
    }

    /// Sends a piece of the body. The pieces of one turn of the loop are sent together.
    ///
    /// - Returns: whether to continue now. The piece is taken in any case, unless the client has left.
    @discardableResult
    public func write(_ bytes: Span<UInt8>) -> HTTPFlow {
        guard state != .finished, state != .waiting else { return .closed }
        guard let connection else { return carryPiece(bytes) }
        let stream = connection.stream
        switch state {
        case .fixed(let remaining):
            let count = min(bytes.count, remaining)
            state = .fixed(remaining: remaining - count)
            stream.outbox.append(bytes.extracting(first: count))
        case .chunked where bytes.count > 0:
            appendHex(bytes.count, to: connection)
            stream.outbox.append("\r\n")
            stream.outbox.append(bytes)
            stream.outbox.append("\r\n")
        case .untilClose: stream.outbox.append(bytes)
        case .chunked, .bodyless, .waiting, .finished: break
        }
        stream.queueFlush()
        return stream.isCongested ? .congested : .ready
    }

    /// Ends the answer. If it is shorter than its Content-Length, the connection is closed or the stream reset, so that the client can tell.
    public func end() {
        guard state != .finished, state != .waiting else { return }
        guard let connection else { return carryEnd() }
        switch state {
        case .chunked: connection.stream.outbox.append("0\r\n\r\n")
        case .fixed(let remaining) where remaining > 0: connection.closesAfterAnswer = true
        default: break
        }
        end(connection)
    }

    /// Closes the connection, or resets the stream of HTTP/2, because the answer cannot be completed: the client must not take the part it has
    /// for the whole.
    public func abort() {
        guard state != .finished else { return }
        observer = nil
        if let connection { connection.stream.close() } else { carrier?.abort(self) }
    }

    // MARK: Heads

    private func writeStatusLine(_ status: HTTPStatus, _ connection: HTTPConnection) {
        connection.server.figures.count(status)
        let stream = connection.stream
        stream.outbox.append("HTTP/1.1 ")
        stream.outbox.append(decimal: status.rawValue)
        stream.outbox.append(" ")
        stream.outbox.append(status.phrase)
        stream.outbox.append("\r\n")
    }

    private func start(
        _ connection: HTTPConnection, _ contentLength: Int?, isBodyless: Bool, _ fields: (ResponseHead) -> Void
    ) {
        if isBodyless || method == .head && contentLength != nil {
            finish(connection, contentLength, fields)
            state = .bodyless
        } else if let contentLength {
            finish(connection, contentLength, fields)
            state = .fixed(remaining: contentLength)
        } else if minorVersion == 0 {
            connection.closesAfterAnswer = true
            finish(connection, nil, fields)
            state = method == .head ? .bodyless : .untilClose
        } else {
            connection.stream.outbox.append("Transfer-Encoding: chunked\r\n")
            finish(connection, nil, fields)
            state = method == .head ? .bodyless : .chunked
        }
        connection.stream.queueFlush()
    }

    /// The server's own fields, the handler's, and the blank line.
    private func finish(_ connection: HTTPConnection, _ contentLength: Int?, _ fields: (ResponseHead) -> Void) {
        let stream = connection.stream
        let keepsAlive = connection.keepsAlive(after: self)
        stream.outbox.append(UnsafeRawBufferPointer(start: connection.server.dateLine, count: DateLine.count))
        if let contentLength {
            stream.outbox.append("Content-Length: ")
            stream.outbox.append(decimal: contentLength)
            stream.outbox.append("\r\n")
        }
        if !keepsAlive {
            stream.outbox.append("Connection: close\r\n")
        } else if minorVersion == 0 {
            stream.outbox.append("Connection: keep-alive\r\n")
        }
        withUnsafeMutablePointer(to: &stream.outbox) { fields(ResponseHead($0)) }
        stream.outbox.append("\r\n")
    }

    private func end(_ connection: HTTPConnection) {
        state = .finished
        connection.stream.queueFlush()
        connection.answerDidEnd(self)
    }

    private func appendHex(_ value: Int, to connection: HTTPConnection) {
        connection.stream.outbox.appendUninitialized(minimum: 16) { room in
            let digits = max(1, (64 - value.leadingZeroBitCount + 3) / 4)
            for index in 0..<digits {
                let digit = UInt8(truncatingIfNeeded: value >> (4 * (digits - 1 - index))) & 0xF
                room[index] = digit < 10 ? 48 + digit : 87 + digit
            }
            return digits
        }
    }

    @inline(__always)
    private static func put(_ text: StaticString, _ at: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        memcpy(at, text.utf8Start, text.utf8CodeUnitCount)
        return at + text.utf8CodeUnitCount
    }

    @inline(__always)
    private static func put(decimal value: Int, _ at: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        var digits = 1
        var bound = value
        while bound >= 10 {
            bound /= 10
            digits += 1
        }
        var rest = value
        for index in 0..<digits {
            at.storeBytes(of: UInt8(48 + rest % 10), toByteOffset: digits - 1 - index, as: UInt8.self)
            rest /= 10
        }
        return at + digits
    }
}
