import HearthBytes
import EventLoop

/// An HTTP/1.1 server on one loop: serves connections and asks a handler for answers.
///
/// Confined to its loop's thread. It does not listen: pass each connection of a `Listener` to `accept`.
public final class HTTPServer {
    /// The loop of the server and all of its connections.
    public let loop: EventLoop
    /// The limits for clients.
    public let limits: HTTPLimits
    /// The memory budget for requests and answers.
    public let memory: MemoryBudget
    /// The proxies whose statements about clients are trusted.
    public let proxies: TrustedProxies

    /// Whether `drain` was called.
    public private(set) var isDraining = false

    /// Counters of the server.
    public internal(set) var figures = HTTPServerFigures()

    let handler: any HTTPHandler
    let parser = HeadParser()
    /// Compression for the WebSockets among the connections.
    private(set) lazy var compression = SharedCompression(loop: loop)

    /// Speaks another protocol with clients that ask for it; nil for HTTP/1.1 only.
    var alternative: (any AlternativeProtocol)?
    /// The fields of a head that a carrier is about to send.
    var fieldLines = ByteBuffer()

    private var date = DateLine()
    var connections: [HTTPConnection] = []
    /// Whether no request may start.
    var isHolding = false
    /// Receives connections between requests when they are released.
    var receiver: ((ReleasedConnection) -> Void)?
    private var freeExchanges: [HTTPExchange] = []
    private var timer: Timer?
    private var drainEndsAt: UInt64 = 0
    var whenDrained: (() -> Void)?

    /// A server without connections.
    ///
    /// - Parameter handler: retained by the server.
    public init(
        loop: EventLoop, limits: HTTPLimits = HTTPLimits(), memory: MemoryBudget = MemoryBudget(bytesMax: .max),
        proxies: TrustedProxies = TrustedProxies(), handler: any HTTPHandler
    ) {
        self.loop = loop
        self.limits = limits
        self.memory = memory
        self.proxies = proxies
        self.handler = handler
    }

    /// The number of open connections, including those being refused.
    public var connectionCount: Int { connections.count }

    // MARK: Connections

    /// Serves requests on `stream`, from which nothing has been read.
    ///
    /// - Parameter tls: enables TLS if given.
    public func accept(_ stream: Stream, tls: TLSContext? = nil) {
        figures.connectionsAccepted &+= 1
        let surplus = connections.count - limits.connectionsMax
        // An orderly refusal takes a connection for a moment; with very many at once, close without one.
        guard surplus < 64 + limits.connectionsMax / 16, !stream.isToBeClosed else { return stream.close() }
        if let tls {
            do { try stream.startTLS(tls) } catch { return stream.close() }
        }
        let connection = HTTPConnection(stream, self)
        connection.index = connections.count
        connections.append(connection)
        stream.handler = connection
        if connections.count == 1 { startTimer() }
        if isHolding { connection.holdIfIdle() } else { stream.startReading() }
        if surplus >= 0 || stream.isSurplus { connection.refuse(stream.isSurplus ? .noDescriptors : .tooManyConnections, nil) }
    }

    func didClose(_ connection: HTTPConnection) {
        let last = connections.removeLast()
        if last !== connection {
            last.index = connection.index
            connections[connection.index] = last
        }
        guard connections.isEmpty else { return }
        timer?.stop()
        reportDrained()
    }

    // MARK: Draining

    /// Finishes: requests that have started are answered, and each connection closes after its answer. Idle connections close almost at
    /// once; a request in flight is still read and answered.
    ///
    /// - Parameters:
    ///   - withinMilliseconds: the time after which open connections are cut off.
    ///   - completion: called once, when no connection is left.
    public func drain(withinMilliseconds: UInt64, completion: @escaping () -> Void) {
        isDraining = true
        whenDrained = completion
        drainEndsAt = loop.nowMilliseconds + withinMilliseconds
        if connections.isEmpty { loop.endOfTurn { [self] in reportDrained() } } else { startTimer() }
    }

    /// Whether the server ends, or another process continues: connections that have nothing left to say must not delay that.
    var isEnding: Bool { isDraining || isHolding }

    /// How long a client may be silent at the end of its connection while the server ends.
    static let endingPatienceMilliseconds: UInt64 = 1_000

    /// How long a client may be silent at the end of its connection, or go on with a request that was answered.
    var lingerMilliseconds: UInt64 { isEnding ? min(limits.lingerMilliseconds, Self.endingPatienceMilliseconds) : limits.lingerMilliseconds }

    func reportDrained() {
        guard isDraining || receiver != nil, connections.isEmpty, let completion = whenDrained else { return }
        whenDrained = nil
        completion()
    }

    // MARK: Time

    func startTimer() {
        let timer = self.timer ?? Timer(loop: loop) { [unowned self] in tick() }
        self.timer = timer
        let milliseconds = isDraining || receiver != nil ? min(limits.tickMilliseconds, 20) : limits.tickMilliseconds
        timer.start(afterMilliseconds: milliseconds, repeatMilliseconds: milliseconds)
    }

    /// One timer for all connections: thousands of timers would cost more than this loop.
    private func tick() {
        let now = loop.nowMilliseconds
        let isOver = isDraining && now >= drainEndsAt
        var index = connections.count - 1
        while index >= 0 {
            if index < connections.count {
                let connection = connections[index]
                if isOver { connection.stream.close() } else { connection.checkDeadlines(now) }
            }
            index -= 1
        }
    }

    /// The current `Date` line, `DateLine.count` bytes.
    var dateLine: UnsafePointer<UInt8> { date.current(nowMilliseconds: loop.nowMilliseconds) }

    // MARK: Exchanges

    /// An unused exchange.
    func takeExchange() -> HTTPExchange {
        while var free = freeExchanges.popLast() {
            if isKnownUniquelyReferenced(&free) {
                free.reset()
                return free
            }
        }
        return HTTPExchange()
    }

    /// Takes an exchange back for reuse. An exchange that is still referenced is not reused: see `takeExchange`.
    func recycle(_ exchange: HTTPExchange) {
        // Large buffers are not kept, so that a flood of such requests leaves no memory behind.
        let isSmall = exchange.charge.bytes == 0 && exchange.head.count <= 4096 && exchange.head.fieldCount <= 128 && exchange.body.count <= 16 * 1024
        if freeExchanges.count < 256, isSmall { freeExchanges.append(exchange) }
    }
}
