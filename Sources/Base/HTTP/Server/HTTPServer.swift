import HearthBytes
import EventLoop

/// An HTTP/1.1 server on one loop: speaks the protocol on connections that it is given, and asks a handler for answers.
///
/// Confined to its loop's thread. It listens to nothing itself: give each connection of a `Listener` to `accept`.
public final class HTTPServer {
    /// The loop that it and all of its connections belong to.
    public let loop: EventLoop
    /// What it holds its clients to.
    public let limits: HTTPLimits
    /// The memory budget for requests and answers.
    public let memory: MemoryBudget
    /// The proxies that are believed where they name a client.
    public let proxies: TrustedProxies

    /// Whether `drain` was called.
    public private(set) var isDraining = false

    /// What it has done so far.
    public internal(set) var figures = HTTPServerFigures()

    let handler: any HTTPHandler
    let parser = HeadParser()

    private var date = DateLine()
    var connections: [HTTPConnection] = []
    /// Whether no request is begun.
    var isHolding = false
    /// Who gets connections that are between requests, once they are given away.
    var receiver: ((ReleasedConnection) -> Void)?
    private var freeExchanges: [HTTPExchange] = []
    private var timer: Timer?
    private var drainEndsAt: UInt64 = 0
    var whenDrained: (() -> Void)?

    /// A server without connections.
    ///
    /// - Parameter handler: kept alive by the server.
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

    /// How many connections are open, those that are being refused included.
    public var connectionCount: Int { connections.count }

    // MARK: Connections

    /// Serves requests on `stream`, which nobody has read from yet.
    ///
    /// - Parameter tls: speaks TLS on it where given.
    public func accept(_ stream: Stream, tls: TLSContext? = nil) {
        figures.connectionsAccepted &+= 1
        let surplus = connections.count - limits.connectionsMax
        // Refusing politely costs a connection too, for a moment: with very many at once there is no time for it.
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

    /// Lets requests that have begun be answered, and closes every connection after its answer. Idle ones are closed almost
    /// at once: a request that is already on its way to us is still read and answered.
    ///
    /// - Parameters:
    ///   - withinMilliseconds: what is still open then is cut off.
    ///   - completion: called once, when no connection is left.
    public func drain(withinMilliseconds: UInt64, completion: @escaping () -> Void) {
        isDraining = true
        whenDrained = completion
        drainEndsAt = loop.nowMilliseconds + withinMilliseconds
        if connections.isEmpty { loop.endOfTurn { [self] in reportDrained() } } else { startTimer() }
    }

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

    /// One timer looks after all connections: thousands of timers would cost more than this walk.
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

    /// The `Date` line of now, `DateLine.count` bytes.
    var dateLine: UnsafePointer<UInt8> { date.current(nowMilliseconds: loop.nowMilliseconds) }

    // MARK: Exchanges

    /// An exchange that nobody else holds.
    func takeExchange() -> HTTPExchange {
        while var free = freeExchanges.popLast() {
            if isKnownUniquelyReferenced(&free) {
                free.reset()
                return free
            }
        }
        return HTTPExchange()
    }

    /// Takes an exchange back for another request. Whoever still holds it keeps it for itself: see `takeExchange`.
    func recycle(_ exchange: HTTPExchange) {
        // What grew large is not kept, so that a flood of such requests leaves nothing behind.
        let isSmall = exchange.charge.bytes == 0 && exchange.head.count <= 4096 && exchange.head.fieldCount <= 128 && exchange.body.count <= 16 * 1024
        if freeExchanges.count < 256, isSmall { freeExchanges.append(exchange) }
    }
}
