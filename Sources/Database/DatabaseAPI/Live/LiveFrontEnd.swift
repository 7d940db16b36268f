import EventLoop
import HearthBytes
public import HTTP
public import Logging
import RealtimeDatabase

/// The live interface of the database: the connections of one loop that client SDKs keep open (spec database 3).
public final class LiveFrontEnd {
    private let front: DatabaseFrontEnd
    /// The clients of all loops.
    private let clients: LiveClients
    private let record: LiveRecord
    private var links: [ObjectIdentifier: LiveLinkSocket] = [:]
    private var connections: [DisconnectSession: LiveConnection] = [:]
    private var isStopped = false
    private lazy var checks = Timer(loop: front.loop) { [unowned self] in
        for connection in Array(connections.values) { connection.check() }
    }
    private static let checkMilliseconds: UInt64 = 30_000

    /// A front end for the loop of `front`, with which it shares settings and listeners.
    ///
    /// - Parameter clients: the table that the front ends of all loops share.
    public init(_ front: DatabaseFrontEnd, clients: LiveClients, log: Logger) {
        self.front = front
        record = LiveRecord(log: log)
        self.clients = clients
    }

    /// The figures of the connections.
    public var figures: LiveFigures {
        var figures = LiveFigures()
        for connection in connections.values { figures.add(connection) }
        figures.mistakes = record.mistakes
        return figures
    }

    /// Whether a request belongs to a live connection.
    public func claims(_ exchange: HTTPExchange) -> Bool { exchange.path.equals("/.ws") || exchange.path.equals("/.lp") }

    /// Answers a claimed request.
    public func request(_ exchange: HTTPExchange) {
        if exchange.path.equals("/.lp") { return poll(exchange) }
        do throws(RESTError) {
            if let id = try RESTParameters.text(of: "s", in: exchange.query) { return upgrade(exchange, id) }
            let opening = try opening(exchange)
            let connection = LiveSocket.open(exchange) { makeConnection(opening, exchange, $0) }
            if let connection { begin(connection, opening) }
        } catch {
            RESTAnswer.refuse(exchange, error)
        }
    }

    // MARK: Opening

    /// The facts of the request that opens a connection.
    private struct Opening {
        var namespaceName: String
        var host: [UInt8]
        /// The session that the client has lost.
        var last: DisconnectSession?
        /// The App Check token; nil if there is none, or if none is required.
        var appToken: [UInt8]?
    }

    private func opening(_ exchange: HTTPExchange) throws(RESTError) -> Opening {
        guard !isStopped else { throw RESTError(DatabaseError.stopping) }
        let parameters = try RESTParameters(exchange.query)
        let last = try RESTParameters.text(of: "ls", in: exchange.query)
        return Opening(
            namespaceName: front.namespaceName(exchange, parameters.namespace), host: exchange.host.array(),
            last: last.flatMap { DisconnectSession(id: $0) }, appToken: front.apps.token(exchange, parameters)?.text)
    }

    private func makeConnection(_ opening: Opening, _ exchange: HTTPExchange, _ transport: any LiveTransport) -> LiveConnection {
        LiveConnection(
            front, opening.namespaceName, client: front.settings.proxies.customer(of: exchange),
            credentials: LiveCredentials(front.requesters, exchange), received: exchange.requestCharge(), charge: exchange.answerCharge(),
            transport: transport, record: record
        ) { [weak self] in self?.forget($0) }
    }

    private func begin(_ connection: LiveConnection, _ opening: Opening) {
        if connections.isEmpty { checks.start(afterMilliseconds: Self.checkMilliseconds, repeatMilliseconds: Self.checkMilliseconds) }
        connections[connection.session] = connection
        clients.add(connection.session, at: LiveClients.Place(loop: front.loop, front: LoopBound(self, loop: front.loop)))
        do throws(DatabaseError) {
            _ = try front.database.find(opening.namespaceName, isKnown: true)
        } catch where error.kind == .unknownNamespace {
            // Clients do not connect again after this message.
            connection.note(.unknownNamespace, error.message)
            connection.push(LivePush.control("s", error.message))
            return connection.close()
        } catch {}
        connection.begin(host: opening.host.span, last: opening.last, of: clients, appToken: opening.appToken)
    }

    // MARK: Polling

    private func poll(_ exchange: HTTPExchange) {
        do throws(LivePollRequest.Fault) {
            switch try LivePollRequest(exchange.query) {
            case .start(let suffix): try start(exchange, suffix)
            case .poll(let id, let password, let serial, let segments):
                let entry = try entry(id, password)
                exchange.observer = LivePollWatch(entry, serial: serial)
                let answer = LivePollAnswer(exchange, serial: serial, loop: front.loop)
                entry.loop.post { entry.poll.value.take(segments, answer) }
            case .frame(let id, let password):
                _ = try entry(id, password)
                LivePollAnswer.sendFrame(exchange, id, password)
            case .leave(let id, let password):
                let entry = try entry(id, password)
                entry.loop.post { entry.poll.value.leave() }
                exchange.respond(.noContent) { LivePollAnswer.writeFields(to: $0) }
            }
        } catch {
            exchange.respond(error.isUnknown ? .notFound : .badRequest, body: Array((error.reason + "\n").utf8).span) { fields in
                fields.field("Content-Type", "text/plain; charset=utf-8")
                LivePollAnswer.writeFields(to: fields)
            }
        }
    }

    private func entry(_ id: String, _ password: [UInt8]) throws(LivePollRequest.Fault) -> LivePollTable.Entry {
        guard let entry = clients.polls.find(id, password: password) else { throw .unknown }
        return entry
    }

    private func start(_ exchange: HTTPExchange, _ suffix: String) throws(LivePollRequest.Fault) {
        let opening: Opening
        do throws(RESTError) { opening = try self.opening(exchange) } catch { return RESTAnswer.refuse(exchange, error) }
        var received = exchange.requestCharge()
        guard received.grow(to: LivePoll.ownBytes) == .granted else { return RESTAnswer.refuse(exchange, .tooMuchIsWritten) }
        let polls = clients.polls
        var id = ""
        let poll = LivePoll(front.loop, suffix: suffix, received: received, sent: exchange.answerCharge()) { _ in polls.remove(id) }
        let connection = makeConnection(opening, exchange, poll)
        id = connection.session.id
        let password = DisconnectSession.secret()
        polls.add(id, LivePollTable.Entry(password: Array(password.utf8), loop: front.loop, poll: LoopBound(poll, loop: front.loop)))
        poll.open(connection, password: password, LivePollAnswer(exchange, serial: 0, loop: front.loop)) { begin(connection, opening) }
    }

    /// Opens a WebSocket to which a polling client wants to change.
    private func upgrade(_ exchange: HTTPExchange, _ id: String) {
        guard !isStopped else { return RESTAnswer.refuse(exchange, RESTError(DatabaseError.stopping)) }
        guard let entry = clients.polls.find(id) else {
            // The client goes on with polling, if it is still there, or connects anew.
            return LiveLinkSocket.refuse(exchange)
        }
        LiveLinkSocket.open(exchange, loop: front.loop, entry) { [weak self] socket, isOpen in
            self?.links[ObjectIdentifier(socket)] = isOpen ? socket : nil
        }
    }

    private func forget(_ connection: LiveConnection) {
        connections[connection.session] = nil
        clients.remove(connection.session)
        if connections.isEmpty { checks.stop() }
    }

    /// Ends the connection of a session, and calls `completion` when all requests that it has received are complete.
    func end(_ session: DisconnectSession, completion: @escaping () -> Void) {
        if let connection = connections[session] { connection.end(completion) } else { completion() }
    }

    /// Ends all connections, and opens no more. The clients reconnect.
    public func stop() {
        isStopped = true
        endAll()
    }

    /// Ends all connections. The clients reconnect.
    public func endAll() {
        for connection in Array(connections.values) { connection.close() }
        for link in Array(links.values) { link.close() }
    }
}
