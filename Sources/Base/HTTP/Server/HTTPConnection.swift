import HearthBytes
import EventLoop

/// One client's connection: requests and answers, one after the other.
///
/// Bytes that cannot be used yet (part of a head, requests behind the current one) wait in `backlog`. An idle connection has neither a
/// backlog nor an exchange.
final class HTTPConnection: StreamHandler {
    enum Phase {
        /// The client has not yet shown which protocol it speaks.
        case fresh
        /// Between requests.
        case idle
        /// A head has begun to arrive.
        case head
        /// The head is complete, the body is not.
        case body
        /// The request is complete, its answer is not.
        case answering
        /// The connection has changed to another protocol.
        case upgraded
        /// The last answer has been queued; further input is discarded.
        case closing
        case closed
    }

    let stream: Stream
    let server: HTTPServer
    /// Its index in the server's list.
    var index = 0
    var phase: Phase
    var exchange: HTTPExchange?
    /// The protocol that took the connection over; nil for HTTP.
    private(set) var upgraded: (any UpgradedProtocol)?
    var backlog = ByteBuffer()
    var scan = HeadScan()
    var hasSkippedBlankLine = false
    var closesAfterAnswer = false
    /// Whether reading is suspended because another process may take the connection over.
    var isHeld = false

    /// The client's address and port, looked up once.
    private(set) lazy var peerAddress = stream.peerAddress
    /// The client's share of the memory budget; nil for a trusted proxy's connection, which carries requests of many clients.
    private(set) lazy var memoryShare: MemoryShare? = {
        let peer = NetworkAddress(endpoint: peerAddress) ?? .unspecified
        return server.proxies.isTrusted(peer) ? nil : server.memory.share(ofClient: peer.customer)
    }()
    /// Counts received bytes that cannot be processed yet.
    private var waitingCharge = MemoryCharge()

    /// The time at which the phase began, or at which a body last made progress.
    private var phaseSince: UInt64
    private var closesAt: UInt64 = 0
    private var hasAnswered = false
    private var isAdvancing = false
    private var peerHasEnded = false
    private var pendingSeen = 0
    private var stalledSince: UInt64 = 0

    init(_ stream: Stream, _ server: HTTPServer) {
        self.stream = stream
        self.server = server
        phase = server.alternative == nil ? .idle : .fresh
        phaseSince = stream.loop.nowMilliseconds
        stream.yielding = .asNewcomer
    }

    // MARK: Stream events

    func stream(_ stream: Stream, didRead bytes: Span<UInt8>) {
        if stream.yielding == .asNewcomer { stream.yielding = .never }
        guard backlog.isEmpty else {
            backlog.append(bytes)
            return processBacklog()
        }
        bytes.withUnsafeBufferPointer { bytes in
            let used = work(through: bytes)
            if used < bytes.count, phase != .closed {
                backlog.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[used...]))
                updateReading()
            }
        }
        if upgraded != nil { countWaiting() }
    }

    func streamWillFlush(_ stream: Stream) -> Bool { upgraded?.fillOutbox() ?? false }

    func memory(for stream: Stream) -> MemoryCharge { MemoryCharge(server.memory.answers, memoryShare) }

    func streamDidEnd(_ stream: Stream) {
        peerHasEnded = true
        if phase == .closing {
            closeWhenFlushed()
        } else {
            // A client that has stopped sending has left, as HTTP clients do: cancel its request.
            beginClosing()
        }
    }

    func streamDidDrain(_ stream: Stream) {
        if let exchange { exchange.observer?.exchangeDidDrain(exchange) }
        upgraded?.didDrain()
        processBacklog()
    }

    func streamDidReceivePlaintext(_ stream: Stream) { refuse(.plainToTLS, nil) }

    func stream(_ stream: Stream, didFail error: LoopError) {}

    func streamDidClose(_ stream: Stream) {
        phase = .closed
        backlog.clear(keepingAtMost: 0)
        waitingCharge.set(to: 0)
        giveUpExchange()
        endUpgrade()
        server.didClose(self)
    }

    // MARK: Processing input

    /// Processes as much of the backlog as possible.
    func processBacklog() {
        guard !isAdvancing, phase != .closed else { return }
        if !backlog.isEmpty {
            var work = ByteBuffer()
            swap(&work, &backlog)
            let used = work.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: UInt8.self) { self.work(through: $0) }
            }
            work.consume(used)
            if !work.isEmpty, phase != .closed { swap(&work, &backlog) }
        }
        updateReading()
    }

    /// Processes `input` and returns the number of bytes used. Answers that are given at once are queued meanwhile and sent together.
    private func work(through input: UnsafeBufferPointer<UInt8>) -> Int {
        isAdvancing = true
        defer { isAdvancing = false }
        var used = 0
        while true {
            let rest = UnsafeBufferPointer(rebasing: input[used...])
            switch phase {
            case .fresh:
                guard !isHeld, !rest.isEmpty, chooseProtocol(rest) else { return used }
            case .idle, .head:
                if isHeld { return used }
                // Start no further request of a client that does not read its answers.
                guard !rest.isEmpty, !stream.isCongested(beyond: answerBytesMax), let count = readHead(rest) else { return used }
                used += count
            case .body:
                guard !rest.isEmpty, let exchange, !exchange.intake.isPaused else { return used }
                used += readBody(rest, exchange)
            case .answering:
                return used
            case .upgraded:
                guard let upgraded else { return input.count }
                // A peer that sends and does not read would make answers pile up: read on only when it has read them.
                guard !rest.isEmpty, !stream.isCongested, !upgraded.isPaused else { return used }
                upgraded.receive(rest)
                return input.count
            case .closing:
                phaseSince = stream.loop.nowMilliseconds
                return input.count
            case .closed:
                return input.count
            }
        }
    }

    /// Decides from the first bytes, or by what was agreed on for TLS, which protocol the client speaks.
    ///
    /// - Returns: false if more bytes are needed.
    private func chooseProtocol(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        phase = .idle
        guard let alternative = server.alternative else { return true }
        if stream.isTLS {
            guard stream.hasAgreedOnHTTP2 else { return true }
        } else {
            let preface = alternative.preface
            for index in 0..<min(bytes.count, preface.utf8CodeUnitCount) where bytes[index] != preface.utf8Start[index] { return true }
            guard bytes.count >= preface.utf8CodeUnitCount else {
                phase = .fresh
                return false
            }
        }
        phase = .upgraded
        upgraded = alternative.start(on: self)
        return true
    }

    /// Bytes that the client may leave unread before it gets no more; 0 while the budget for answers is exhausted.
    private var answerBytesMax: Int { server.memory.answers.isFull ? 0 : stream.highWatermark }

    /// Resumes reading while there is room for input, also during an answer: reading is how a lost client is noticed.
    private func updateReading() {
        countWaiting()
        if isHeld { return stream.pauseReading() }
        // A head has to be whole to be used; data after a request can wait with the client.
        let room =
            phase == .head || phase == .fresh
            ? max(server.limits.headBytesMax, server.limits.pipelinedBytesMax)
            : server.memory.requests.isFull ? 0 : server.limits.pipelinedBytesMax
        if phase == .closing || backlog.count <= room {
            stream.resumeReading()
        } else {
            stream.pauseReading()
        }
    }

    private func countWaiting() {
        let count = backlog.count + (upgraded?.unfinishedBytes ?? 0)
        guard count > 4096 || waitingCharge.bytes != 0 else { return }
        if !waitingCharge.isBound { waitingCharge = MemoryCharge(server.memory.requests, memoryShare) }
        guard upgraded != nil else { return waitingCharge.set(to: count) }
        if waitingCharge.grow(to: count) != .granted { upgraded?.giveUp() } else { waitingCharge.set(to: count) }
    }

    /// The receiver of a streamed body can take more.
    func resumeBody() { processBacklog() }

    // MARK: Ends

    /// The answer of `exchange` is complete.
    func answerDidEnd(_ exchange: HTTPExchange) {
        if phase == .body, !exchange.intake.isComplete {
            guard !closesAfterAnswer else { return beginClosing() }
            exchange.intake.sink = .discard
            exchange.intake.inflater = nil
            exchange.intake.isPaused = false
            exchange.dropBody()
            processBacklog()
        } else {
            endRequest()
        }
    }

    /// Request and answer are complete: continue with the next request, or close.
    func endRequest() {
        guard let exchange else { return }
        self.exchange = nil
        exchange.observer = nil
        exchange.detach()
        server.recycle(exchange)
        guard !closesAfterAnswer else { return beginClosing() }
        phase = .idle
        hasAnswered = true
        phaseSince = stream.loop.nowMilliseconds
        if server.isHolding {
            holdIfIdle()
            stream.loop.endOfTurn { [self] in releaseIfIdle() }
        }
        if !isAdvancing { processBacklog() }
    }

    /// Sends queued bytes, then ends the connection. Input is read and discarded for a while: closing at once would make the kernel reset
    /// the connection, and the client would lose the last answer.
    func beginClosing() {
        guard phase != .closing, phase != .closed else { return }
        phase = .closing
        phaseSince = stream.loop.nowMilliseconds
        closesAt = phaseSince + 15 * server.limits.lingerMilliseconds
        backlog.clear(keepingAtMost: 0)
        waitingCharge.set(to: 0)
        giveUpExchange()
        endUpgrade()
        stream.finish()
        if peerHasEnded { closeWhenFlushed() } else { updateReading() }
    }

    private func closeWhenFlushed() {
        stream.loop.endOfTurn { [self] in
            if phase == .closing, stream.pendingBytes == 0 { stream.close() }
        }
    }

    /// Tells the observer of the request that no client waits for the answer any more.
    private func giveUpExchange() {
        guard let exchange else { return }
        self.exchange = nil
        let observer = exchange.state == .finished ? nil : exchange.observer
        exchange.observer = nil
        exchange.detach()
        observer?.exchangeDidClose(exchange)
        server.recycle(exchange)
    }

    // MARK: Upgrades

    /// Hands the connection over to another protocol. The request has been answered.
    func upgrade(to next: any UpgradedProtocol) {
        guard let exchange else { return }
        self.exchange = nil
        exchange.observer = nil
        exchange.detach()
        server.recycle(exchange)
        upgraded = next
        phase = .upgraded
        if !isAdvancing { processBacklog() }
    }

    private func endUpgrade() {
        let ended = upgraded
        upgraded = nil
        ended?.connectionDidEnd()
    }

    // MARK: Deadlines

    /// The first bytes of a head have arrived.
    func headBegan() {
        phase = .head
        phaseSince = stream.loop.nowMilliseconds
    }

    /// The body has begun or made progress.
    func restartBodyWindow(_ exchange: HTTPExchange) {
        exchange.intake.arrived = 0
        phaseSince = stream.loop.nowMilliseconds
    }

    /// Checks deadlines. Called from time to time by the server.
    func checkDeadlines(_ now: UInt64) {
        let pending = stream.pendingBytes
        if checkWriting(now, pending == 0 ? 0 : stream.unsentBytes) { return }
        if isHeld { return releaseIfIdle() }
        let limits = server.limits
        let elapsed = now - min(now, phaseSince)
        switch phase {
        case .idle:
            let patience = hasAnswered ? limits.idleTimeoutMilliseconds : limits.headTimeoutMilliseconds
            if pending == 0, elapsed >= (server.isDraining ? min(patience, Self.drainingIdleMilliseconds) : patience) { beginClosing() }
        case .fresh where backlog.isEmpty:
            if elapsed >= limits.headTimeoutMilliseconds || server.isDraining && elapsed >= Self.drainingIdleMilliseconds { beginClosing() }
        case .fresh, .head:
            if elapsed >= limits.headTimeoutMilliseconds { refuse(.headTooSlow, nil) }
        case .body:
            if elapsed >= bodyPatience { checkBody() }
        case .closing:
            if pending == 0, peerHasEnded || elapsed >= server.lingerMilliseconds || now >= closesAt { stream.close() }
        case .upgraded: upgraded?.check(now)
        case .answering, .closed: break
        }
    }

    /// The body timeout; a sixth of it for large bodies while memory is short.
    private var bodyPatience: UInt64 {
        let holdsMuch = (exchange?.charge.bytes ?? 0) > 64 * 1024
        return server.limits.bodyTimeoutMilliseconds / (holdsMuch && server.memory.requests.isShort ? 6 : 1)
    }

    /// While the server drains, a connection that was silent for this long has no request in flight.
    private static let drainingIdleMilliseconds: UInt64 = 20

    private func checkBody() {
        guard let exchange else { return }
        let isWaitingForUs = exchange.intake.isPaused || !backlog.isEmpty
        if isWaitingForUs || exchange.intake.arrived >= server.limits.bodyProgressBytesMin {
            restartBodyWindow(exchange)
        } else {
            refuse(.bodyTooSlow, exchange)
        }
    }

    /// - Returns: true if the client has read nothing for too long and was disconnected.
    private func checkWriting(_ now: UInt64, _ pending: Int) -> Bool {
        defer { pendingSeen = pending }
        if pending == 0 || pending < pendingSeen || pendingSeen == 0 {
            stalledSince = now
            return false
        }
        let isShort = server.memory.answers.isShort || memoryShare?.isFull == true
        guard now - stalledSince >= server.limits.writeTimeoutMilliseconds / (isShort ? 6 : 1) else { return false }
        stream.close()
        return true
    }
}
