import DequeModule
import EventLoop
import HearthBytes
import HTTP
import RealtimeDatabase

/// A live connection by polling (spec database 3.9): one request of the client always waits until there is something to send.
///
/// Browsers begin with it when a WebSocket has failed before, and change to a WebSocket when they have found that one works.
final class LivePoll: LiveTransport {
    /// The longest time that a request waits. Clients send the next one after 25 seconds.
    private static let holdMilliseconds: UInt64 = 30_000
    /// The time without a request after which the client is regarded as lost.
    private static let silenceMilliseconds: UInt64 = 60_000
    /// The bytes that may wait for the client before changes are held back.
    private static let queuedBytesMax = 256 * 1024
    /// The memory that is counted for a message that waits, beside its text.
    private static let messageBytes = 64
    /// The memory that is counted for a client that polls. It has no connection of its own, so descriptors do not limit the number of clients.
    static let ownBytes = 8 * 1024

    private let loop: EventLoop
    private let suffix: String
    private var connection: LiveConnection?
    private let didEnd: (LivePoll) -> Void
    private var assembler = LivePollAssembler(bytesMax: LiveSocket.messageBytesMax)
    /// Counts the memory of the client and its messages, and that of messages to it.
    private var received: MemoryCharge
    private var sent: MemoryCharge

    /// The request that waits.
    private var waiting: LivePollAnswer?
    private var messages: [[UInt8]] = []
    private var messagesBytes = 0
    private var number = 0
    private var isCongested = false
    private var isFlushDue = false
    /// The whole messages that arrived while the connection takes none.
    private var inbox = Deque<[UInt8]>()
    private var inboxBytes = 0
    private var isPaused = false
    private var isClosing = false
    private var isOver = false
    private lazy var timer = Timer(loop: loop) { [unowned self] in timeIsUp() }

    /// The WebSocket to which the client wants to change.
    private var link: LiveLink?
    /// Whether the client has sent its last message by polling.
    private var hasHeardAll = false
    /// Whether the host has sent its last message by polling.
    private var hasSaidAll = false
    /// Whether both have, and the client only has to be told that polling ends.
    private var isMoved = false

    init(
        _ loop: EventLoop, suffix: String, received: consuming MemoryCharge, sent: consuming MemoryCharge,
        didEnd: @escaping (LivePoll) -> Void
    ) {
        self.loop = loop
        self.suffix = suffix
        self.received = received
        self.sent = sent
        self.didEnd = didEnd
    }

    /// Opens the connection: `answer` is the first request's, which also delivers the first message.
    func open(_ connection: LiveConnection, password: String, _ answer: LivePollAnswer, begin: () -> Void) {
        self.connection = connection
        begin()
        var script = LivePollScript(suffix: suffix)
        script.start(connection.session.id, password)
        deliver(&script)
        if isClosing {
            script.close(after: nil)
            finish()
        } else {
            timer.start(afterMilliseconds: Self.silenceMilliseconds)
        }
        answer.send(script.text.array())
    }

    private var heldBytes: Int { Self.ownBytes + assembler.heldBytes + inboxBytes }

    // MARK: Requests of the client

    /// Handles a request. An older one that waits is answered at once.
    func take(_ segments: [LivePollSegment], _ answer: LivePollAnswer) {
        guard !isOver else { return answer.send(Self.ended(suffix)) }
        guard !isMoved else { return endPolling(answer) }
        if let other = waiting, other.serial > answer.serial {
            answer.send([])
        } else {
            release()
            waiting = answer
        }
        timer.start(afterMilliseconds: Self.holdMilliseconds)
        do throws(LiveMessage.Fault) {
            for segment in segments {
                guard received.grow(to: heldBytes + segment.letters.count) == .granted else {
                    fail(.shortage, LiveSocket.shortage)
                    break
                }
                try assembler.take(segment) { receive($0) }
                received.set(to: heldBytes)
            }
        } catch {
            fail(.mistake, error.reason)
        }
        flush()
    }

    /// Ends the connection, with a reason that the client logs.
    private func fail(_ ending: LiveEnding, _ reason: String) {
        connection?.note(ending, reason)
        messages.append(LivePush.control("e", reason))
        end()
    }

    /// The connection of a request was lost before its answer.
    func lose(_ serial: Int) {
        guard waiting?.serial == serial else { return }
        waiting = nil
        if !isOver { timer.start(afterMilliseconds: Self.silenceMilliseconds) }
    }

    /// The browser has left the page.
    func leave() {
        guard link == nil || !hasSaidAll else { return }
        end()
    }

    private func receive(_ message: [UInt8]) {
        guard isPaused else { return handle(message) }
        inbox.append(message)
        inboxBytes += message.count + Self.messageBytes
    }

    /// Handles the next message. The client's last one by polling is `n`; those by the socket follow it.
    private func handle(_ message: [UInt8]) {
        guard link != nil, Self.isControl(message, "n") else {
            connection?.receive(message.span)
            return
        }
        hasHeardAll = true
        link?.openInput()
        endIfMoved()
    }

    /// Whether a message is a control message of a kind.
    static func isControl(_ message: [UInt8], _ kind: String) -> Bool {
        guard message.count < 64, case .control(kind)? = try? LiveMessage(parsing: message.span) else { return false }
        return true
    }

    private func timeIsUp() {
        guard waiting != nil else {
            // The client has changed to the socket halfway, or is gone.
            if hasSaidAll, !isMoved { link?.close() }
            if isClosing || hasSaidAll { return finish() }
            connection?.note(.silence, LiveSocket.silence)
            return end()
        }
        release()
        timer.start(afterMilliseconds: Self.silenceMilliseconds)
    }

    /// Answers the request that waits, with nothing if nothing is to be sent.
    private func release() {
        guard let answer = waiting else { return }
        waiting = nil
        var script = LivePollScript(suffix: suffix)
        deliver(&script)
        answer.send(script.text.array())
    }

    /// The answer to a client that is not known.
    static func ended(_ suffix: String) -> [UInt8] {
        var script = LivePollScript(suffix: suffix)
        script.close(after: nil)
        return script.text.array()
    }

    // MARK: LiveTransport

    func send(_ message: Span<UInt8>) -> HTTPFlow {
        messages.append(message.array())
        messagesBytes += message.count
        sent.set(to: messagesBytes)
        flushSoon()
        isCongested = messagesBytes > Self.queuedBytesMax
        return isCongested ? .congested : .ready
    }

    func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        while !self.isPaused, !inbox.isEmpty {
            let message = inbox.removeFirst()
            inboxBytes -= message.count + Self.messageBytes
            handle(message)
        }
        received.set(to: heldBytes)
    }

    func admits(_ bytes: Int) -> Bool {
        guard sent.grow(to: messagesBytes + bytes) == .granted else { return false }
        sent.set(to: messagesBytes)
        return true
    }

    /// Ends the connection with the next answer.
    func close() {
        guard !isOver else { return }
        isClosing = true
        flushSoon()
    }

    private func flushSoon() {
        guard !isFlushDue, waiting != nil else { return }
        isFlushDue = true
        loop.endOfTurn { [self] in
            isFlushDue = false
            flush()
        }
    }

    /// Answers the request that waits, if there is something to say.
    private func flush() {
        guard let answer = waiting, !messages.isEmpty || isClosing else { return }
        waiting = nil
        var script = LivePollScript(suffix: suffix)
        deliver(&script)
        if isClosing { script.close(after: number > 0 ? number - 1 : nil) }
        if isClosing { finish() } else { timer.start(afterMilliseconds: Self.silenceMilliseconds) }
        answer.send(script.text.array())
        endIfMoved()
    }

    private func deliver(_ script: inout LivePollScript) {
        guard !messages.isEmpty else { return }
        script.deliver(messages, number: number)
        number += 1
        messages = []
        messagesBytes = 0
        sent.set(to: 0)
        guard isCongested else { return }
        isCongested = false
        loop.post { [connection = LoopBound(connection, loop: loop)] in connection.value?.didDrain() }
    }

    // MARK: The change to a WebSocket

    /// Handles a WebSocket of the client, which is used when the client has found that it works.
    func upgrade(_ link: LiveLink) {
        guard !isOver, !isClosing, self.link == nil else { return link.refuse() }
        self.link = link
        link.poll = self
        link.offer()
    }

    /// The client has found that the WebSocket works: everything that follows is sent there.
    func move() {
        guard let link, let connection, !hasSaidAll else { return }
        hasSaidAll = true
        messages.append(LivePush.endOfTransmission)
        connection.move(to: link)
        link.connection = connection
        if isPaused { link.setPaused(true) }
        flush()
        endIfMoved()
    }

    /// The WebSocket has closed.
    func linkDidClose() {
        guard !isMoved else { return finish() }
        guard hasSaidAll else {
            link = nil
            hasHeardAll = false
            return
        }
        end()
    }

    private func endIfMoved() {
        guard hasHeardAll, hasSaidAll, messages.isEmpty, !isMoved else { return }
        isMoved = true
        connection = nil
        if let answer = waiting { endPolling(answer) }
        waiting = nil
        // Requests that are under way get the same answer: an error would end the client's connection, if it arrived before the last message.
        timer.start(afterMilliseconds: Self.holdMilliseconds)
    }

    /// Ends polling when the client has got the last message.
    private func endPolling(_ answer: LivePollAnswer) {
        var script = LivePollScript(suffix: suffix)
        script.close(after: number - 1)
        answer.send(script.text.array())
    }

    // MARK: The end

    /// The client is gone, or has made a mistake.
    private func end() {
        isClosing = true
        if !hasSaidAll { link?.close() }
        let ended = connection
        connection = nil
        ended?.didClose()
        if waiting == nil { finish() } else { flushSoon() }
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        timer.close()
        let ended = connection
        connection = nil
        inbox = Deque()
        messages = []
        received.set(to: 0)
        sent.set(to: 0)
        waiting?.send(Self.ended(suffix))
        waiting = nil
        ended?.didClose()
        didEnd(self)
    }
}
