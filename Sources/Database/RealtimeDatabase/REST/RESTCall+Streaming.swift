import HearthBytes
import EventLoop
import HTTP

extension RESTCall {
    /// Answers with an event stream.
    func stream(_ request: ReadRequest) throws(RESTError) {
        switch request.kind {
        case .value, .query: break
        case .shallow, .priority: throw .badRequest("Only values and queries can be streamed")
        }
        guard parameters.callback == nil, parameters.download == nil, parameters.timeoutMilliseconds == nil else {
            throw .badRequest("callback, download and timeout are not supported with event streams")
        }
        try EventStreamClient(self, request).open(try found())
    }

    /// Calls `body` when the sender's token ends, if it does; the caller keeps the timer.
    ///
    /// - Throws: `RESTError` where it has ended already.
    func expiryTimer(_ body: @escaping () -> Void) throws(RESTError) -> Timer? {
        guard let expires = requester.expires else { return nil }
        let left = expires * 1000 - UnixTime.milliseconds()
        guard left > 0 else { throw .expired }
        let timer = Timer(loop: front.loop, body)
        timer.start(afterMilliseconds: UInt64(left))
        return timer
    }

    /// Whether the sender's credential is worth what it was when the request came: clocks are set, and service accounts are deleted.
    func credentialHolds() -> Bool {
        if let expires = requester.expires, expires * 1000 <= UnixTime.milliseconds() { return false }
        // Tokens of users end by their time alone.
        guard requester.isAdmin else { return true }
        do throws(RESTError) {
            guard case .known = try front.requesters.read(exchange, parameters) else { return false }
            return true
        } catch {
            return false
        }
    }

    /// Whether the sender asks for a stream.
    var wantsStream: Bool {
        let exchange = exchange
        guard exchange.method == .get, let accept = exchange.header("accept") else { return false }
        let wanted: StaticString = "text/event-stream"
        guard accept.count >= wanted.utf8CodeUnitCount else { return false }
        for start in 0...accept.count - wanted.utf8CodeUnitCount {
            if accept.extracting(start..<start + wanted.utf8CodeUnitCount).equalsIgnoringCase(lowercase: wanted) { return true }
        }
        return false
    }
}
