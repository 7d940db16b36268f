import CNGHTTP2
import EventLoop
import HearthBytes

/// One request of a connection, and its answer. Reused for other requests.
final class HTTP2Stream: ExchangeCarrier {
    /// Unowned without reference counting, for speed: the connection owns its streams, also those that are not in use.
    private unowned(unsafe) let connection: HTTP2Connection
    private(set) var id: Int32 = 0
    /// Its index in the connection's list.
    var index = 0
    /// The request; nil once its answer is complete.
    var exchange: HTTPExchange?
    /// Bytes of the answer that the client's windows have not admitted yet.
    var answer = ByteBuffer()
    /// Whether the head of the answer was passed on.
    var hasHead = false
    /// Whether all of the answer is in `answer`.
    var hasEnded = false
    /// Whether the end of the answer was passed on.
    var isAnswerSent = false
    /// Whether nghttp2 waits for more of the answer.
    var isDeferred = false
    /// Whether the whole request has arrived.
    var hasWholeRequest = false
    /// Whether the client has reset the stream.
    var isResetByClient = false
    /// Whether the handler has been called for the whole request.
    private var isPassedOn = false
    /// The time from which the rest of an answered request is awaited; 0 before that.
    private var lingersSince: UInt64 = 0
    /// Bytes of that rest.
    private var discardedBytes = 0
    private var isRequestEnded = false
    private var isDelivering = false
    private var wasCongested = false
    /// The time at which the body began or last made progress.
    private var bodySince: UInt64 = 0
    /// The bytes that were waiting when the client was last seen to read, and the time.
    private var sentBytes = 0
    private var sentBytesSeen = 0
    private var stalledSince: UInt64 = 0

    init(_ connection: HTTP2Connection) { self.connection = connection }

    /// Prepares for a request.
    func begin(_ id: Int32) {
        self.id = id
        answer.clear(keepingAtMost: 16 * 1024)
        hasHead = false
        hasEnded = false
        isAnswerSent = false
        isDeferred = false
        hasWholeRequest = false
        isResetByClient = false
        isPassedOn = false
        lingersSince = 0
        discardedBytes = 0
        isRequestEnded = false
        isDelivering = false
        wasCongested = false
        sentBytes = 0
        sentBytesSeen = 0
        stalledSince = connection.now
    }

    // MARK: The carrier of an exchange

    var server: HTTPServer { connection.server }
    var peerAddress: String { connection.peerAddress }
    var memoryShare: MemoryShare? { connection.memoryShare }
    var unsentBytes: Int { answer.count }

    var isCongested: Bool {
        guard answer.count > Self.highWatermark else { return false }
        wasCongested = true
        return true
    }

    /// The unsent bytes from which on a writer waits. It continues when a quarter is left.
    private static let highWatermark = 64 * 1024

    func reserve(_ bytes: Int) -> Bool { connection.reserve(bytes) }

    func sendHead(_ status: HTTPStatus, isWhole: Bool) {
        hasHead = true
        if isWhole { hasEnded = true }
        connection.submitHead(of: self, status, isWhole: isWhole && hasWholeRequest)
    }

    func sendBody(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        if answer.isEmpty { stalledSince = connection.now }
        answer.append(bytes)
        connection.addUnsent(bytes.count)
        resume()
    }

    func answerDidEnd(_ exchange: HTTPExchange, isWhole: Bool) {
        releaseExchange()
        guard isWhole else { return connection.reset(self, NGHTTP2_INTERNAL_ERROR) }
        hasEnded = true
        resume()
    }

    func abort(_ exchange: HTTPExchange) {
        releaseExchange()
        connection.reset(self, NGHTTP2_INTERNAL_ERROR)
    }

    /// Lets nghttp2 ask for the answer again.
    private func resume() {
        if isDeferred {
            isDeferred = false
            connection.resume(self)
        }
        connection.wantsFlush()
    }

    /// The end of the exchange, whose answer is complete.
    private func releaseExchange() {
        guard let exchange else { return }
        self.exchange = nil
        exchange.observer = nil
        exchange.detach()
        server.recycle(exchange)
    }

    /// Tells the observer that no client waits for the answer any more.
    func giveUp() {
        guard let exchange else { return }
        let observer = exchange.state == .finished ? nil : exchange.observer
        releaseExchange()
        observer?.exchangeDidClose(exchange)
    }

    // MARK: Sending

    /// `count` bytes of the answer were taken off.
    func didSend(_ count: Int) {
        sentBytes += count
        answer.consume(count)
        if wasCongested, answer.count <= Self.highWatermark / 4 {
            wasCongested = false
            connection.drained.append(self)
        }
    }

    /// Tells the observer that it may write again.
    func tellDrained() {
        if let exchange { exchange.observer?.exchangeDidDrain(exchange) }
    }

    // MARK: The request

    /// The head is complete.
    func start(_ head: inout HTTP2Head) {
        let server = server
        let exchange = server.takeExchange()
        exchange.carrier = self
        self.exchange = exchange
        if let refusal = head.load(into: &exchange.head, server.limits) { return refuse(refusal, knowsHead: false) }
        // A body of unknown length.
        if !hasWholeRequest, exchange.head.contentLength < 0 { exchange.head.isChunked = true }
        exchange.intake = BodyIntake(exchange.head, isComplete: hasWholeRequest)
        if let refusal = exchange.unmetRequirement { return refuse(refusal) }
        if connection.isOverfull { return refuse(.hostIsFull) }
        let plan = server.handler.head(exchange)
        guard self.exchange === exchange else { return }
        begin(plan, exchange)
    }

    private func begin(_ plan: BodyPlan, _ exchange: HTTPExchange) {
        exchange.setSink(plan, server.limits)
        restartBodyWindow(exchange)
        guard exchange.intake.hasBody else { return passOn(exchange) }
        if case .discard = exchange.intake.sink { return }
        if exchange.head.contentLength > exchange.intake.countMax { return refuse(.bodyTooLarge) }
        if exchange.intake.awaitsContinue { connection.submitContinue(of: self) }
        exchange.intake.awaitsContinue = false
        exchange.startInflating()
    }

    /// Takes a piece of the body.
    ///
    /// - Parameter isLast: whether the piece ends the body.
    func receive(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) {
        guard let exchange else { return discard(bytes.count) }
        switch exchange.intake.sink {
        case .undecided, .discard:
            // The window of the stream stays closed, so the client stops soon.
            exchange.intake.arrived += bytes.count
            return connection.consume(nil, bytes.count)
        case .collect:
            if isLast, exchange.intake.inflater == nil, exchange.body.isEmpty, exchange.head.contentLength == bytes.count {
                connection.consume(self, bytes.count)
                return lend(bytes, exchange)
            }
        case .stream:
            if exchange.intake.isPaused || isDelivering || !exchange.body.isEmpty { return park(bytes, exchange) }
        }
        let used = deliver(bytes, exchange)
        connection.consume(self, used)
        guard self.exchange === exchange, used < bytes.count else { return connection.consume(nil, bytes.count - used) }
        park(UnsafeBufferPointer(rebasing: bytes[used...]), exchange)
    }

    /// Reads a part of a request that was answered already. Some clients take an early reset for a failure and do not read the answer (curl 7.88), so
    /// that much is read as on a connection of HTTP/1.1.
    private func discard(_ count: Int) {
        discardedBytes += count
        connection.consume(nil, count)
        if isAnswerSent, discardedBytes > server.limits.discardedBytesMax { endRequest() }
    }

    /// The whole body is here: lends it to the handler in place.
    private func lend(_ bytes: UnsafeBufferPointer<UInt8>, _ exchange: HTTPExchange) {
        exchange.intake.framing = .framed(isComplete: true)
        hasWholeRequest = true
        isPassedOn = true
        server.handler.request(exchange, body: Span(_unsafeElements: bytes))
    }

    /// Keeps a piece that the receiver does not want yet. The stream's window bounds these.
    private func park(_ bytes: UnsafeBufferPointer<UInt8>, _ exchange: HTTPExchange) {
        connection.consume(nil, bytes.count)
        if let refusal = exchange.claimOrRefuse(exchange.body.count + bytes.count) { return refuse(refusal) }
        exchange.body.append(UnsafeRawBufferPointer(bytes))
    }

    /// Passes bytes on until the receiver pauses. Small pieces if they may inflate, so that a pause takes effect soon.
    ///
    /// - Returns: the number of bytes used.
    private func deliver(_ bytes: UnsafeBufferPointer<UInt8>, _ exchange: HTTPExchange) -> Int {
        isDelivering = true
        defer { isDelivering = false }
        var used = 0
        while used < bytes.count, self.exchange === exchange, used == 0 || !exchange.intake.isPaused {
            let end = exchange.intake.inflater == nil ? bytes.count : min(bytes.count, used + 4096)
            let refusal = exchange.deliver(UnsafeBufferPointer(rebasing: bytes[used..<end]))
            used = end
            guard self.exchange === exchange, let refusal else { continue }
            refuse(refusal)
        }
        return used
    }

    func resumeBody() {
        guard !isDelivering, let exchange else { return }
        while !exchange.body.isEmpty, !exchange.intake.isPaused {
            var parked = ByteBuffer()
            swap(&parked, &exchange.body)
            let used = parked.withUnsafeBytes { bytes in bytes.withMemoryRebound(to: UInt8.self) { deliver($0, exchange) } }
            guard self.exchange === exchange else { return }
            parked.consume(used)
            connection.consumeStream(self, used)
            if !parked.isEmpty { swap(&parked, &exchange.body) }
        }
        if hasWholeRequest, exchange.body.isEmpty { passOn(exchange) }
    }

    /// The client has sent all of the request.
    func didReceiveAll() {
        hasWholeRequest = true
        guard let exchange, !isDelivering else { return }
        if case .stream = exchange.intake.sink, !exchange.body.isEmpty { return }
        passOn(exchange)
    }

    private func passOn(_ exchange: HTTPExchange) {
        guard !isPassedOn else { return }
        isPassedOn = true
        exchange.intake.framing = .framed(isComplete: true)
        guard !exchange.isCutShort else { return refuse(.badCompression) }
        exchange.intake.inflater = nil
        exchange.finishBody(server.handler)
    }

    /// Refuses the request.
    ///
    /// - Parameter knowsHead: whether its head was understood.
    func refuse(_ refusal: HTTPRefusal, knowsHead: Bool = true) {
        guard let exchange else { return }
        guard exchange.state == .waiting else {
            // Part of an answer has been sent: only a reset tells that it is incomplete.
            giveUp()
            return connection.reset(self, NGHTTP2_INTERNAL_ERROR)
        }
        let observer = exchange.observer
        exchange.observer = nil
        let content = server.handler.errorBody(status: refusal.status, message: refusal.message, exchange: knowsHead ? exchange : nil)
        let body = content?.body ?? refusal.text
        exchange.respond(refusal.status, body: body.span) { refusal.write(content, to: $0) }
        observer?.exchangeDidClose(exchange)
    }

    // MARK: Deadlines

    private func restartBodyWindow(_ exchange: HTTPExchange) {
        exchange.intake.arrived = 0
        bodySince = connection.now
    }

    /// Checks deadlines.
    func check(_ now: UInt64) {
        if !answer.isEmpty { checkSending(now) }
        if isAnswerSent, !hasWholeRequest { checkRest(now) }
        guard let exchange, !hasWholeRequest else { return }
        let isLarge = exchange.charge.bytes > 64 * 1024
        let patience = server.limits.bodyTimeoutMilliseconds / (isLarge && server.memory.requests.isShort ? 6 : 1)
        guard now - min(now, bodySince) >= patience else { return }
        if isWaitedFor(exchange) || exchange.intake.arrived >= server.limits.bodyProgressBytesMin {
            restartBodyWindow(exchange)
        } else {
            refuse(.bodyTooSlow)
        }
    }

    private func checkRest(_ now: UInt64) {
        if lingersSince == 0 { lingersSince = max(1, now) }
        if now - min(now, lingersSince) >= server.lingerMilliseconds { endRequest() }
    }

    private func endRequest() {
        guard !isRequestEnded else { return }
        isRequestEnded = true
        connection.endRequest(of: self)
    }

    /// Whether the client may have to wait for this side before it can send more of the body.
    private func isWaitedFor(_ exchange: HTTPExchange) -> Bool {
        switch exchange.intake.sink {
        case .collect: false
        case .stream: exchange.intake.isPaused || !exchange.body.isEmpty
        case .undecided, .discard: true
        }
    }

    /// Gives up a client that opens no window for the answer.
    private func checkSending(_ now: UInt64) {
        if sentBytes != sentBytesSeen {
            sentBytesSeen = sentBytes
            stalledSince = now
        }
        let isShort = server.memory.answers.isShort || memoryShare?.isFull == true
        guard now - min(now, stalledSince) >= server.limits.writeTimeoutMilliseconds / (isShort ? 6 : 1) else { return }
        giveUp()
        connection.reset(self, NGHTTP2_CANCEL)
    }
}
