import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import RealtimeDatabase
import Telemetry
import Tree

extension RESTCall {
    /// Handles PUT, POST, PATCH and DELETE.
    func write(_ location: Location, _ body: Span<UInt8>) throws(RESTError) {
        guard parameters.filter == nil, !parameters.isShallow else {
            throw .badRequest("Queries and shallow are not supported with writes")
        }
        guard !parameters.disablesTriggers || requester.isAdmin else { throw .unauthorized }
        switch verb {
        case .get: return
        case .delete: return try delete(location)
        case .put: break
        case .post: try checkPost(location)
        case .patch:
            try checkPatch(location)
            // The official command line deletes a whole node in this way.
            if Self.isNull(body) { return try send(makeRequest(.set(location.path, Draft(.empty))), echo: Array("null".utf8)) }
        }
        guard body.count > 0 else { throw .noData }
        let form = ParsedBody.Form(verb, isPriority: location.isPriority)
        let limits = limits(body, above: location.path.count + (verb == .post ? 1 : 0))
        guard body.count > Self.smallBodyBytes else {
            let parsed: ParsedBody
            do throws(NodeError) { parsed = try ParsedBody(parsing: body, form, limits) } catch { throw refusal(error) }
            return try write(location, parsed, bytes: body.count, echo: echoesBody ? body.array() : [])
        }
        try parseElsewhere(body) { text in
            Result { () throws(NodeError) in try ParsedBody(parsing: text.span, form, limits) }
        } then: { [self] (parsed: Result<ParsedBody, NodeError>, text) throws(RESTError) in
            let body: ParsedBody
            do throws(NodeError) { body = try parsed.get() } catch { throw refusal(error) }
            try write(location, body, bytes: text.count, echo: echoesBody ? text : [])
        }
    }

    private func checkPost(_ location: Location) throws(RESTError) {
        let exchange = exchange
        guard exchange.header("if-match") == nil else { throw .badRequest("if-match is not supported with POST") }
        guard !location.isPriority else { throw .invalidPath }
        guard location.path.count < Path.depthMax else { throw .badRequest(PathError(kind: .tooDeep).message) }
    }

    private func checkPatch(_ location: Location) throws(RESTError) {
        let exchange = exchange
        guard exchange.header("if-match") == nil, !wantsETag else { throw .badRequest("if-match and ETags are not supported with PATCH") }
        guard !location.isPriority else { throw .invalidPath }
    }

    /// Whether the answer to a write repeats its body.
    private var echoesBody: Bool { verb != .post && parameters.print != .silent }

    private func write(_ location: Location, _ body: ParsedBody, bytes: Int, echo: [UInt8]) throws(RESTError) {
        switch body {
        case .value(let draft) where verb == .post:
            let name = front.settings.pushIDs.next()
            var request = makeRequest(.set(location.path.appending(name), draft), bytes: bytes)
            request.wantsETag = wantsETag
            try send(request, leaves: draft.leafCount, bytes: draft.leafBytes, echo: Array("{\"name\":\"\(name)\"}".utf8))
        case .value(let draft):
            var request = makeRequest(location.isPriority ? .setPriority(location.path, draft) : .set(location.path, draft), bytes: bytes)
            try makeConditional(&request, location)
            request.wantsValue = !draft.isResolved && !location.isPriority && parameters.print != .silent
            try send(request, leaves: draft.leafCount, bytes: draft.leafBytes, echo: echo)
        case .update(let update):
            let leaves = update.members.reduce(update.priorities.count) { $0 + $1.draft.leafCount }
            try send(makeRequest(.update(base: location.path, update), bytes: bytes), leaves: leaves, bytes: bytes, echo: echo)
        }
    }

    /// Parses a large body on another thread, then calls `completion` on the loop with the result and the text. The connection's next request
    /// waits for this one's answer.
    func parseElsewhere<Parsed: Sendable>(
        _ body: Span<UInt8>, _ parse: @escaping @Sendable ([UInt8]) -> Parsed, then completion: @escaping (Parsed, [UInt8]) throws(RESTError) -> Void
    ) throws(RESTError) {
        // The memory of the body is not valid after this returns.
        guard exchange.holdsMuch(body.count) else { throw .tooMuchIsWritten }
        let text = body.array()
        front.loop.compute { parse(text) } then: { [self] parsed in
            do throws(RESTError) { try completion(parsed, text) } catch { refuse(error) }
        }
    }

    private func delete(_ location: Location) throws(RESTError) {
        var request = makeRequest(location.isPriority ? .setPriority(location.path, Draft(.empty)) : .set(location.path, Draft(.empty)))
        try makeConditional(&request, location)
        try send(request, echo: Array("null".utf8))
    }

    // MARK: Requests

    private func makeRequest(_ operation: WriteRequest.Operation, bytes: Int = 0) -> WriteRequest {
        var request = WriteRequest(operation, principal: requester.principal, origin: requester.origin)
        request.raisesTriggers = !parameters.disablesTriggers
        request.trace = front.traces.next(for: exchange)
        request.profiledAs = verb == .patch ? .restUpdate : .restWrite
        request.bytes = bytes
        return request
    }

    private func makeConditional(_ request: inout WriteRequest, _ location: Location) throws(RESTError) {
        let exchange = exchange
        request.wantsETag = wantsETag
        if let expected = exchange.header("if-match") {
            let cancellation = Cancellation()
            request.ifMatch = Self.etag(expected)
            request.client = front.settings.proxies.customer(of: exchange)
            request.cancellation = cancellation
            exchange.observer = cancellation
        }
        guard !location.isPriority || request.ifMatch == nil && !request.wantsETag else {
            throw .badRequest("if-match and ETags are not supported with priorities")
        }
    }

    /// 503 for a body with too many values if memory is short, otherwise 400.
    private func refusal(_ error: NodeError) -> RESTError {
        let isShort = error.kind == .tooManyNodes && exchange.isShortOfRoom
        return isShort ? .tooMuchIsWritten : .badRequest(error.message)
    }

    /// The size up to which bodies are parsed on the loop. They cannot have more values than allowed.
    static let smallBodyBytes = 128 * 1024

    private func limits(_ body: Span<UInt8>, above depth: Int) -> DraftLimits {
        var limits = DraftLimits()
        if body.count > Self.smallBodyBytes {
            limits.nodesMax = max(exchange.room(mayExceed: requester.isAdmin), 0) / Node.leafOverheadBytes
        }
        limits.stringBytesMax = front.database.limits.stringBytesMax
        limits.depthAbove = depth
        return limits
    }

    private static func isNull(_ body: Span<UInt8>) -> Bool {
        var start = 0
        var end = body.count
        while start < end, body[start] <= 0x20 { start += 1 }
        while end > start, body[end - 1] <= 0x20 { end -= 1 }
        return body.extracting(start..<end).equals("null")
    }

    // MARK: Sending

    private func send(_ request: WriteRequest, leaves: Int = 0, bytes: Int = 0, echo: [UInt8]) throws(RESTError) {
        // Reserved until the write is answered, even if the client does not wait for it.
        guard exchange.holdsMuch(echo.count + bytes + leaves * Node.leafOverheadBytes) else { throw .tooMuchIsWritten }
        // For a write within the smallest limit, the applicable limit need not be known.
        guard !WriteSizeLimit.tiny.allows(leaves: leaves, bytes: bytes) else { return try send(request, echo) }
        if let limit = parameters.writeSizeLimit {
            guard limit.allows(leaves: leaves, bytes: bytes) else { throw .writeTooLarge }
            return try send(request, echo)
        }
        try setting(WriteSizeLimit.settingName) { [self] value in
            let own = value.flatMap { WriteSizeLimit(rawValue: String(decoding: $0, as: UTF8.self)) }
            guard (own ?? .standard).allows(leaves: leaves, bytes: bytes) else { return refuse(.writeTooLarge) }
            do throws(RESTError) { try send(request, echo) } catch { refuse(error) }
        }
    }

    private func send(_ request: WriteRequest, _ echo: [UInt8]) throws(RESTError) {
        let start = EventLoop.monotonicNanoseconds()
        do throws(DatabaseError) {
            try front.database.write(request, to: namespaceName, isKnown: mayBeAbsent, on: front.loop) { [self] outcome in
                if let trace = request.trace, trace.isSampled { record(trace, outcome, since: start) }
                switch outcome {
                case .committed(let receipt): answer(receipt, echo: echo)
                case .conflict(let value, let etag): answerConflict(json: value.span, etag: etag)
                case .refused(let error): refuse(RESTError(error))
                }
            }
        } catch {
            throw RESTError(error)
        }
    }

    @inline(never)
    private func record(_ trace: TraceContext, _ outcome: WriteOutcome, since start: UInt64) {
        let status =
            switch outcome {
            case .committed: 200
            case .conflict: 412
            case .refused(let error): RESTError(error).status.rawValue
            }
        front.settings.tracing?.record(
            trace, name: "\(exchange.method) database", kind: .server, nanoseconds: EventLoop.monotonicNanoseconds() &- start,
            attributes: [
                ("http.request.method", .text("\(exchange.method)")), ("http.response.status_code", .integer(Int(status))),
                ("db.namespace", .text(namespaceName)),
            ], failure: status >= 500 ? "\(status)" : nil)
    }

    private func answer(_ receipt: WriteReceipt, echo: [UInt8]) {
        guard parameters.print == .pretty || receipt.value != nil else { return answer(json: echo.span, etag: receipt.etag) }
        let isPretty = parameters.print == .pretty
        guard echo.count > Self.smallBodyBytes else {
            return answer(json: Self.text(of: receipt.value, echo, isPretty: isPretty).span, etag: receipt.etag)
        }
        front.loop.compute {
            Self.text(of: receipt.value, echo, isPretty: isPretty)
        } then: { [self] text in
            answer(json: text.span, etag: receipt.etag)
        }
    }

    /// The JSON of a written value: `value` if the server has resolved a part of it, otherwise the body.
    private static func text(of value: Node?, _ body: [UInt8], isPretty: Bool) -> [UInt8] {
        var text = ByteBuffer()
        if let value {
            value.write(to: &text, form: .value)
        } else {
            text.append(body)
        }
        guard isPretty, let value = try? JSONValue(parsing: text.bytes) else { return text.array() }
        var pretty = ByteBuffer()
        PrettyJSON.append(value, to: &pretty)
        return pretty.array()
    }
}

/// The parsed body of a write.
enum ParsedBody: Sendable {
    case value(Draft)
    case update(UpdateDraft)

    /// The kind of a body.
    enum Form {
        case value, priority, update

        init(_ verb: RESTVerb, isPriority: Bool) {
            self = if verb == .patch { .update } else if isPriority { .priority } else { .value }
        }
    }

    init(parsing text: Span<UInt8>, _ form: Form, _ limits: DraftLimits) throws(NodeError) {
        self = switch form {
        case .value: .value(try Draft(parsing: text, limits: limits))
        case .priority: .value(try Draft(parsingPriority: text))
        case .update: .update(try UpdateDraft(parsing: text, limits: limits))
        }
    }
}
