import EventLoop
import HearthBytes
import HTTP
import RealtimeDatabase

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

    /// Starts a timer that calls `body` when the client's token expires; nil if it does not expire. The caller keeps the timer.
    ///
    /// - Throws: `RESTError` if the token has already expired.
    func expiryTimer(_ body: @escaping () -> Void) throws(RESTError) -> Timer? {
        guard let expires = requester.expires else { return nil }
        let left = expires * 1000 - UnixTime.milliseconds()
        guard left > 0 else { throw .expired }
        weak var own: Timer?
        let timer = Timer(loop: front.loop) {
            // A timer counts from the beginning of a turn, so it may end some milliseconds early, when requests with the token are still accepted.
            let left = expires * 1000 - UnixTime.milliseconds()
            if left > 0 { own?.start(afterMilliseconds: UInt64(left)) } else { body() }
        }
        own = timer
        timer.start(afterMilliseconds: UInt64(left))
        return timer
    }

    /// Whether the client's credential is still valid. The clock may have been set, or the service account deleted.
    func credentialHolds() -> Bool {
        if let expires = requester.expires, expires * 1000 <= UnixTime.milliseconds() { return false }
        // Tokens of users end only by their expiry.
        guard requester.isAdmin else { return true }
        do throws(RESTError) {
            guard case .known = try front.requesters.read(exchange, parameters) else { return false }
            return true
        } catch {
            return false
        }
    }

    /// Whether the client requests an event stream.
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
