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

    /// Starts a timer that calls `body` when a token of the client expires; nil if none does. The caller keeps the timer.
    ///
    /// - Throws: `RESTError` if a token has already expired.
    func expiryTimer(_ body: @escaping () -> Void) throws(RESTError) -> Timer? {
        if let error = requester.expiry(at: UnixTime.milliseconds()) { throw error }
        return requester.firstExpiry.map { Timer.atExpiry($0, loop: front.loop, body) }
    }

    /// Whether the client's credential is still valid. The clock may have been set, or the service account deleted.
    func credentialHolds() -> Bool {
        guard requester.expiry(at: UnixTime.milliseconds()) == nil else { return false }
        // Tokens of users end only by their expiry.
        guard requester.isAdmin else { return true }
        do throws(RESTError) {
            guard case .known = try front.requesters.read(exchange, parameters) else { return false }
            return true
        } catch {
            return false
        }
    }

    /// The text with which a stream ends because of its credential.
    var endOfCredential: String { (requester.expiry(at: UnixTime.milliseconds()) ?? .expired).message }

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

extension Timer {
    /// Starts a timer that calls `body` when a token expires. The caller keeps the timer.
    ///
    /// - Parameter seconds: since 1970.
    static func atExpiry(_ seconds: Int64, loop: EventLoop, _ body: @escaping () -> Void) -> Timer {
        weak var own: Timer?
        let timer = Timer(loop: loop) {
            // A timer counts from the beginning of a turn, so it may end some milliseconds early, when the token is still accepted.
            let left = seconds * 1000 - UnixTime.milliseconds()
            if left > 0 { own?.start(afterMilliseconds: UInt64(left)) } else { body() }
        }
        own = timer
        timer.start(afterMilliseconds: UInt64(max(seconds * 1000 - UnixTime.milliseconds(), 0)))
        return timer
    }
}
