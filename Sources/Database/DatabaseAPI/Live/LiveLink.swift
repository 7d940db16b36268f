import DequeModule
import EventLoop
import HearthBytes
import HTTP

/// The WebSocket of a client that began with polling, at the loop of its connection. The socket may be on another loop (`LiveLinkSocket`).
final class LiveLink: LiveTransport {
    private static let inFlightMax = 256 * 1024

    private let socketLoop: EventLoop
    private let socket: LoopBound<LiveLinkSocket>
    /// The polling that is given up; nil after that.
    weak var poll: LivePoll?
    /// The connection, once the host sends by this link.
    var connection: LiveConnection?
    /// Messages that arrived before the last one by polling, or while the connection takes none. They are not acknowledged, so the socket takes only
    /// a few.
    private var early = Deque<[UInt8]>()
    private var isPaused = false
    private var isInputOpen = false
    private var isCongested = false
    private var inFlight = 0
    private var isClosed = false

    init(socketLoop: EventLoop, socket: LoopBound<LiveLinkSocket>) {
        self.socketLoop = socketLoop
        self.socket = socket
    }

    // MARK: The change

    /// Asks the client to use this link.
    func offer() { tell(LivePush.control("a")) }

    /// Tells the client to go on with polling.
    func refuse() {
        tell(LivePush.control("r", ""))
        close()
    }

    private func tell(_ message: [UInt8]) { _ = send(message.span) }

    /// The client has sent everything by polling that it sends there.
    func openInput() {
        isInputOpen = true
        takeEarly()
    }

    private func takeEarly() {
        while isInputOpen, !isPaused, connection != nil, let message = early.popFirst() { take(message) }
    }

    // MARK: The socket's events

    func receive(_ message: [UInt8]) {
        if connection == nil {
            let isPing = LivePoll.isControl(message, "p")
            if isPing || LivePoll.isControl(message, "a") {
                acknowledge(message.count)
                if isPing { tell(LivePush.pong) } else { poll?.move() }
                return
            }
        }
        guard early.count < 1024 else { return close() }
        early.append(message)
        takeEarly()
    }

    private func take(_ message: [UInt8]) {
        connection?.receive(message.span)
        acknowledge(message.count)
    }

    /// The socket is ended by the host.
    func willEnd(_ cause: WebSocketEnd) { connection?.note(cause) }

    func willEnd(_ ending: LiveEnding, _ reason: String) { connection?.note(ending, reason) }

    /// The socket has room again for so many bytes.
    func didSend(_ bytes: Int) {
        inFlight -= bytes
        guard isCongested, inFlight < Self.inFlightMax / 2 else { return }
        isCongested = false
        connection?.didDrain()
    }

    func didClose() {
        guard !isClosed else { return }
        isClosed = true
        let ended = connection
        connection = nil
        ended?.didClose()
        poll?.linkDidClose()
    }

    private func acknowledge(_ bytes: Int) {
        socketLoop.post { [socket] in socket.value.didTake(bytes) }
    }

    // MARK: LiveTransport

    func send(_ message: Span<UInt8>) -> HTTPFlow {
        guard !isClosed else { return .closed }
        inFlight += message.count
        let bytes = message.array()
        socketLoop.post { [socket] in socket.value.send(bytes) }
        isCongested = inFlight > Self.inFlightMax
        return isCongested ? .congested : .ready
    }

    func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        // Messages by polling come first.
        poll?.setPaused(isPaused)
        takeEarly()
        // It may be another one by now.
        let isPaused = self.isPaused
        socketLoop.post { [socket] in socket.value.setPaused(isPaused) }
    }

    func admits(_ bytes: Int) -> Bool { inFlight + bytes <= LiveSocket.messageBytesMax }

    func close() {
        socketLoop.post { [socket] in socket.value.close() }
    }
}

/// The WebSocket of a `LiveLink`, on the loop that accepted it.
final class LiveLinkSocket: WebSocketHandler {
    private static let inFlightMax = 256 * 1024

    private let loop: EventLoop
    private let homeLoop: EventLoop
    private var socket: WebSocket?
    private var assembler = LiveAssembler(bytesMax: LiveSocket.messageBytesMax)
    /// Counts the memory of the incomplete message.
    private var charge: MemoryCharge
    private var link: LoopBound<LiveLink>?
    /// The bytes of messages that the connection's loop has not taken yet.
    private var inFlight = 0
    /// The bytes that were sent since the socket was last congested, which are not reported yet.
    private var unreported = 0
    private var isPausedByConnection = false
    private let didEnd: (LiveLinkSocket) -> Void

    init(loop: EventLoop, homeLoop: EventLoop, charge: consuming MemoryCharge, didEnd: @escaping (LiveLinkSocket) -> Void) {
        self.loop = loop
        self.homeLoop = homeLoop
        self.charge = charge
        self.didEnd = didEnd
    }

    /// Upgrades the request's connection to a socket for a polling client.
    ///
    /// - Parameter change: called when the socket has opened, and when it has closed.
    static func open(_ exchange: HTTPExchange, loop: EventLoop, _ entry: LivePollTable.Entry, change: @escaping (LiveLinkSocket, Bool) -> Void) {
        let handler = LiveLinkSocket(loop: loop, homeLoop: entry.loop, charge: exchange.requestCharge()) { change($0, false) }
        guard let socket = exchange.openWebSocket(limits: LiveSocket.limits, handler: handler) else { return }
        change(handler, true)
        handler.begin(socket, entry.poll)
    }

    /// Upgrades the request's connection only to tell the client to go on with polling.
    static func refuse(_ exchange: HTTPExchange) {
        let host = exchange.host.string()
        let handler = RefusedLink()
        guard let socket = exchange.openWebSocket(limits: LiveSocket.limits, handler: handler) else { return }
        socket.send(text: LivePush.control("r", host).span)
        socket.close()
    }

    /// Connects the socket with the connection of a polling client.
    private func begin(_ socket: WebSocket, _ poll: LoopBound<LivePoll>) {
        self.socket = socket
        let link = LoopBound(LiveLink(socketLoop: loop, socket: LoopBound(self, loop: loop)), loop: homeLoop)
        self.link = link
        homeLoop.post { poll.value.upgrade(link.value) }
    }

    // MARK: Events of the connection

    func send(_ message: [UInt8]) {
        guard let socket else { return }
        var flow = HTTPFlow.ready
        LiveSegments.send(message.span) { flow = socket.send(text: $0) }
        unreported += message.count
        if flow != .congested { report() }
    }

    func didTake(_ bytes: Int) {
        inFlight -= bytes
        updatePause()
    }

    func setPaused(_ isPaused: Bool) {
        isPausedByConnection = isPaused
        updatePause()
    }

    func close() { socket?.close() }

    private func report() {
        let bytes = unreported
        unreported = 0
        homeLoop.post { [link] in link?.value.didSend(bytes) }
    }

    private func updatePause() {
        if isPausedByConnection || inFlight > Self.inFlightMax { socket?.pauseReading() } else { socket?.resumeReading() }
    }

    // MARK: WebSocketHandler

    func webSocket(_ socket: WebSocket, didReceiveText text: Span<UInt8>) {
        do throws(LiveMessage.Fault) {
            guard charge.grow(to: assembler.unfinishedBytes + text.count) == .granted else { return end(1013, .shortage, LiveSocket.shortage) }
            try assembler.take(text) { pass($0.array()) }
            charge.set(to: assembler.unfinishedBytes)
        } catch {
            end(1009, .mistake, error.reason)
        }
    }

    private func end(_ code: UInt16, _ ending: LiveEnding, _ reason: String) {
        tell { $0.willEnd(ending, reason) }
        socket?.end(code, reason)
    }

    private func tell(_ body: @escaping @Sendable (LiveLink) -> Void) {
        homeLoop.post { [link] in if let link = link?.value { body(link) } }
    }

    private func pass(_ message: [UInt8]) {
        inFlight += message.count
        updatePause()
        homeLoop.post { [link] in link?.value.receive(message) }
    }

    func webSocket(_ socket: WebSocket, didReceive bytes: Span<UInt8>) {
        tell { $0.willEnd(.mistake, LiveSocket.framesAreTexts) }
        socket.close(code: 1003, reason: LiveSocket.framesAreTexts)
    }

    func webSocketDidDrain(_ socket: WebSocket) { report() }

    func webSocket(_ socket: WebSocket, willEndBecauseOf cause: WebSocketEnd) { tell { $0.willEnd(cause) } }

    func webSocket(_ socket: WebSocket, didCloseWith code: UInt16) {
        self.socket = nil
        homeLoop.post { [link] in link?.value.didClose() }
        link = nil
        didEnd(self)
    }
}

/// A socket that is being closed.
private final class RefusedLink: WebSocketHandler {
    func webSocket(_ socket: WebSocket, didReceiveText text: Span<UInt8>) {}
    func webSocket(_ socket: WebSocket, didReceive bytes: Span<UInt8>) {}
    func webSocket(_ socket: WebSocket, didCloseWith code: UInt16) {}
}
