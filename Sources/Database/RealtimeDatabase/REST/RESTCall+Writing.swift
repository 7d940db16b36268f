import HearthBytes
import HTTP
import HearthJSON
import Tree

extension RESTCall {
    /// PUT, POST, PATCH and DELETE.
    func write(_ location: Location, _ body: Span<UInt8>) throws(RESTError) {
        guard parameters.filter == nil, !parameters.isShallow else {
            throw .badRequest("Queries and shallow are not supported with writes")
        }
        guard !parameters.disablesTriggers || requester.isAdmin else { throw .unauthorized }
        switch verb {
        case .put: try put(location, body)
        case .post: try post(location, body)
        case .patch: try patch(location, body)
        case .delete: try delete(location)
        case .get: return
        }
    }

    private func put(_ location: Location, _ body: Span<UInt8>) throws(RESTError) {
        let draft = try draft(body, above: location.path.count, isPriority: location.isPriority)
        var request = makeRequest(location.isPriority ? .setPriority(location.path, draft) : .set(location.path, draft), bytes: body.count)
        try makeConditional(&request, location)
        request.wantsValue = !draft.isResolved && !location.isPriority && parameters.print != .silent
        try send(request, leaves: draft.leafCount, bytes: draft.leafBytes, echo: parameters.print == .silent ? [] : body.array())
    }

    private func post(_ location: Location, _ body: Span<UInt8>) throws(RESTError) {
        let exchange = exchange
        guard exchange.header("if-match") == nil else { throw .badRequest("if-match is not supported with POST") }
        guard !location.isPriority else { throw .invalidPath }
        guard location.path.count < Path.depthMax else { throw .badRequest(PathError(kind: .tooDeep).message) }
        let draft = try draft(body, above: location.path.count + 1)
        let name = front.settings.pushIDs.next()
        var request = makeRequest(.set(location.path.appending(name), draft), bytes: body.count)
        request.wantsETag = wantsETag
        try send(request, leaves: draft.leafCount, bytes: draft.leafBytes, echo: Array("{\"name\":\"\(name)\"}".utf8))
    }

    private func patch(_ location: Location, _ body: Span<UInt8>) throws(RESTError) {
        let exchange = exchange
        guard exchange.header("if-match") == nil, !wantsETag else { throw .badRequest("if-match and ETags are not supported with PATCH") }
        guard !location.isPriority else { throw .invalidPath }
        // The official command line deletes a whole node this way.
        if Self.isNull(body) {
            return try send(makeRequest(.set(location.path, Draft(.empty))), echo: Array("null".utf8))
        }
        guard body.count > 0 else { throw .noData }
        let update: UpdateDraft
        do throws(NodeError) {
            update = try UpdateDraft(parsing: body, limits: limits(body, above: location.path.count))
        } catch {
            throw refusal(error)
        }
        let leaves = update.members.reduce(update.priorities.count) { $0 + $1.draft.leafCount }
        try send(makeRequest(.update(base: location.path, update), bytes: body.count), leaves: leaves, bytes: body.count, echo: body.array())
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

    private func draft(_ body: Span<UInt8>, above depth: Int, isPriority: Bool = false) throws(RESTError) -> Draft {
        guard body.count > 0 else { throw .noData }
        do throws(NodeError) {
            return isPriority ? try Draft(parsingPriority: body) : try Draft(parsing: body, limits: limits(body, above: depth))
        } catch {
            throw refusal(error)
        }
    }

    /// 503 for a body with too many values while memory is short, else 400.
    private func refusal(_ error: NodeError) -> RESTError {
        let isShort = error.kind == .tooManyNodes && exchange.isShortOfRoom
        return isShort ? .tooMuchIsWritten : .badRequest(error.message)
    }

    /// Bodies up to here have no more values than anybody may send.
    private static let smallBodyBytes = 128 * 1024

    private func limits(_ body: Span<UInt8>, above depth: Int) -> DraftLimits {
        var limits = DraftLimits()
        if body.count > Self.smallBodyBytes {
            limits.nodesMax = max(exchange.room(mayExceed: requester.isAdmin), 0) / Draft.leafOverheadBytes
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
        // Until the write is answered, also where its sender does not wait for that.
        guard exchange.holdsMuch(echo.count + bytes + leaves * Draft.leafOverheadBytes) else { throw .tooMuchIsWritten }
        // What the smallest limit allows needs no look at which one it is.
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
        do throws(DatabaseError) {
            try front.database.write(request, to: namespaceName, isKnown: mayBeAbsent, on: front.loop) { [self] outcome in
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

    private func answer(_ receipt: WriteReceipt, echo: [UInt8]) {
        guard parameters.print == .pretty || receipt.value != nil else { return answer(json: echo.span, etag: receipt.etag) }
        var text = ByteBuffer()
        if let value = receipt.value {
            value.write(to: &text, form: .value)
        } else {
            text.append(echo)
        }
        guard parameters.print == .pretty, let value = try? JSONValue(parsing: text.bytes) else {
            return answer(json: text.bytes, etag: receipt.etag)
        }
        var pretty = ByteBuffer()
        PrettyJSON.append(value, to: &pretty)
        answer(json: pretty.bytes, etag: receipt.etag)
    }
}
