import EventLoop
import HearthBytes
import HearthJSON
import HTTP
import Logs

/// The answer to a client that follows the log: first stored lines, page by page, then new ones. A client that is slower than the log gets the
/// number of lines that it has missed. Belongs to the loop of its connection.
final class LogStream: HTTPExchangeObserver {
    private let query: LogQuery
    private let exchange: HTTPExchange
    private let store: LogStore
    private let loop: EventLoop
    private var mailbox: LogMailbox?
    private var heartbeat: Timer?
    /// The last line that was sent or filtered out.
    private var through: Int64 = 0
    private var phase = Phase.reading
    private var isCongested = false
    /// Called once, when the client has left.
    var onEnd: () -> Void = {}

    private enum Phase {
        /// A page is being read.
        case reading
        /// More pages have to be read when the client can take more.
        case behind
        /// New lines are sent.
        case live
    }

    /// The interval of heartbeats, which are empty lines.
    private static let heartbeatMilliseconds: UInt64 = 20_000

    init(_ query: LogQuery, _ exchange: HTTPExchange, _ store: LogStore, _ loop: EventLoop) {
        self.query = query
        self.exchange = exchange
        self.store = store
        self.loop = loop
    }

    /// - Returns: false if too many clients follow the log; then nothing is answered.
    func begin() -> Bool {
        let reference = LoopBound(WeakStream(self), loop: loop)
        let mailbox = LogMailbox(query.filter) { [loop] in loop.post { reference.value.stream?.drain() } }
        // The mailbox is opened before the first page is read, so that no line is missed.
        guard store.follow(mailbox) else { return false }
        self.mailbox = mailbox
        // Newer lines arrive through the mailbox, so pages must not skip them.
        let newest = store.lastID
        exchange.observer = self
        exchange.startResponse(.ok) { fields in
            LogAdministration.writeFields(to: fields)
            fields.field("X-Accel-Buffering", "no")
        }
        let heartbeat = Timer(loop: loop) { [unowned self] in beat() }
        heartbeat.start(afterMilliseconds: Self.heartbeatMilliseconds, repeatMilliseconds: Self.heartbeatMilliseconds)
        self.heartbeat = heartbeat
        read(after: query.after, through: newest)
        return true
    }

    /// Ends the answer.
    func end() {
        stop()
        exchange.end()
    }

    private func stop() {
        heartbeat?.close()
        heartbeat = nil
        if let mailbox { store.unfollow(mailbox) }
        mailbox = nil
    }

    private func beat() {
        if !isCongested { send(Array("\n".utf8).span) }
    }

    // MARK: Stored lines

    private func read(after: Int64?, through end: Int64 = .max) {
        phase = .reading
        loop.task { [weak self, query, store, loop] in
            let page = await LogAdministration.read(query, after: after, through: end, store, on: loop)
            self?.didRead(page)
        }
    }

    private func didRead(_ page: LogPage) {
        guard mailbox != nil else { return }
        send(page.lines.span)
        through = max(through, page.through)
        phase = page.hasMore ? .behind : .live
        goOn()
    }

    private func goOn() {
        guard mailbox != nil, !isCongested else { return }
        switch phase {
        case .reading: break
        case .behind: read(after: through)
        case .live: drain()
        }
    }

    // MARK: New lines

    fileprivate func drain() {
        guard case .live = phase, !isCongested, let mailbox else { return }
        let (lines, dropped) = mailbox.take()
        // Skips lines that were already read from the store.
        var start = 0
        LogScan.forEachRange(lines.span) { range in
            if range.lowerBound == start, let id = LogScan.id(lines.span.extracting(range)), id <= through { start = range.upperBound + 1 }
        }
        send(lines.span.extracting(start..<lines.count))
        guard dropped > 0 else { return }
        var notice = ByteBuffer()
        notice.append("{")
        LogLine(
            severity: .warning, label: "hearth", message: "\(dropped) lines are missing here: they came faster than they were read",
            entries: [("dropped", .int(Int64(dropped)))]
        ).appendMembers(time: WallClock.now(), to: &notice)
        send(notice.bytes)
    }

    private func send(_ bytes: Span<UInt8>) {
        guard bytes.count > 0 else { return }
        if exchange.write(bytes) == .congested { isCongested = true }
    }

    func exchangeDidDrain(_ exchange: HTTPExchange) {
        isCongested = false
        goOn()
    }

    func exchangeDidClose(_ exchange: HTTPExchange) {
        stop()
        onEnd()
    }
}

/// A weak reference to the stream, for messages to its loop.
private struct WeakStream {
    weak var stream: LogStream?

    init(_ stream: LogStream) { self.stream = stream }
}
