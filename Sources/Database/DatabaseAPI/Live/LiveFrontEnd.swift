import EventLoop
import HearthBytes
public import HTTP
import RealtimeDatabase

/// The live interface of the database: the connections of one loop that client SDKs keep open (spec database 3).
public final class LiveFrontEnd {
    private let front: DatabaseFrontEnd
    private var connections: [ObjectIdentifier: LiveConnection] = [:]
    private var isStopped = false
    private lazy var checks = Timer(loop: front.loop) { [unowned self] in
        for connection in Array(connections.values) { connection.check() }
    }
    private static let checkMilliseconds: UInt64 = 30_000

    /// A front end for the loop of `front`, with which it shares settings and listeners.
    public init(_ front: DatabaseFrontEnd) { self.front = front }

    /// Whether a request opens a live connection.
    public func claims(_ exchange: HTTPExchange) -> Bool { exchange.path.equals("/.ws") }

    /// The number of open connections.
    public var count: Int { connections.count }

    /// Answers a claimed request.
    public func request(_ exchange: HTTPExchange) {
        guard !isStopped else { return RESTAnswer.refuse(exchange, RESTError(DatabaseError.stopping)) }
        let parameters: RESTParameters
        let last: String?
        do throws(RESTError) {
            parameters = try RESTParameters(exchange.query)
            last = try RESTParameters.text(of: "ls", in: exchange.query)
        } catch {
            return RESTAnswer.refuse(exchange, error)
        }
        let name = front.namespaceName(exchange, parameters.namespace)
        let host = exchange.host.array()
        let client = front.settings.proxies.customer(of: exchange)
        let credentials = LiveCredentials(front.requesters, exchange)
        let opened = LiveSocket.open(exchange) { transport in
            LiveConnection(front, name, client: client, credentials: credentials, charge: exchange.answerCharge(), transport: transport) {
                [weak self] in self?.forget($0)
            }
        }
        guard let opened else { return }
        if connections.isEmpty { checks.start(afterMilliseconds: Self.checkMilliseconds, repeatMilliseconds: Self.checkMilliseconds) }
        connections[ObjectIdentifier(opened)] = opened
        do throws(DatabaseError) {
            _ = try front.database.find(name, isKnown: true)
        } catch where error.kind == .unknownNamespace {
            // Clients do not connect again after this message.
            opened.push(LivePush.control("s", error.message))
            return opened.close()
        } catch {}
        opened.begin(host: host.span, last: last.flatMap { DisconnectSession(id: $0) })
    }

    private func forget(_ connection: LiveConnection) {
        connections[ObjectIdentifier(connection)] = nil
        if connections.isEmpty { checks.stop() }
    }

    /// Ends all connections, and opens no more. The clients reconnect.
    public func stop() {
        isStopped = true
        endAll()
    }

    /// Ends all connections. The clients reconnect.
    public func endAll() {
        for connection in Array(connections.values) { connection.close() }
    }
}
