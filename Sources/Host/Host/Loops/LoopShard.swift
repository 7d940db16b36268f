import Administration
import CallFrontEnd
import CLinux
import Configuration
import Deployment
import EventLoop
import FunctionDispatch
import Glibc
import HTTP
import Logging
import Logs
import Messaging
import RealtimeDatabase

/// One loop's share of the host: its listener, its server and its router.
final class LoopShard: LoopFigureSource, @unchecked Sendable {
    // Unchecked: after it has been set up, everything is used on `loop` only, by way of `post`.
    let loop: EventLoop
    private let thread: LoopThread?
    let router: Router
    private let admin: AdminAPI
    let server: HTTPServer
    var listeners: [Listener] = []
    /// What it listens on, for whoever takes over; made before the loop's first turn.
    var sockets: [ListeningSocket] = []
    /// While its connections are given away: those of which it still carries the bytes, and who waits for the end.
    var proxies = 0
    var isReleased = false
    var endIfReleased: (() -> Void)?
    private let log: Logger
    private var scarcityIsToldAgain: UInt64 = 0
    private(set) var port = 0
    /// Where connections speak TLS.
    var tls: TLSContext?

    init(
        loop: EventLoop, thread: LoopThread?, configuration: Configuration, adminToken: [UInt8], proxies: TrustedProxies, gate: TokenGate,
        memory: MemoryBudget, database: RealtimeDatabase, rulesPath: @escaping @Sendable () -> String?, databaseSettings: DatabaseFrontEndSettings,
        messaging: MessagingService, metrics: MetricsPage, functions: FunctionAdministration.Reference, builds: BuildLedger, logs: LogStore,
        log: Logger
    ) {
        self.loop = loop
        self.thread = thread
        self.log = log
        let messagingFront = MessagingFrontEnd(service: messaging, loop: loop, proxies: proxies)
        let credentials = DatabaseCredentials(gate: gate, project: configuration.project, messaging: messagingFront, loop: loop, log: log)
        let front = DatabaseFrontEnd(database: database, loop: loop, credentials: credentials, settings: databaseSettings)
        admin = AdminAPI(
            loop: loop, project: configuration.project, developmentAccess: databaseSettings.developmentAccess, adminToken: adminToken,
            database: database, rulesPath: rulesPath, functions: functions, builds: builds, logs: logs)
        let functionFront = FunctionFrontEnd(
            loop: loop, isHome: thread == nil, project: configuration.project, adminToken: adminToken,
            developmentAccess: databaseSettings.developmentAccess, proxies: proxies, gate: gate, log: log)
        router = Router(
            functions: functionFront, database: front, messaging: messagingFront, admin: admin, metrics: metrics,
            bodyBytesMax: configuration.server.limits.bodyBytes, log: log)
        let limits = HTTPLimits(configuration.server, databaseBytesMax: database.limits.writeBytesMax)
        server = HTTPServer(loop: loop, limits: limits, memory: memory, proxies: proxies, handler: router)
    }

    /// Takes a port. Connections wait in the kernel until ``startAccepting(_:)``.
    func listen(host: String, port: Int, reusePort: Bool) throws(LoopError) {
        let socket = try ListeningSocket.tcp(host: host, port: port, reusePort: reusePort)
        sockets.append(socket)
        self.port = socket.port
    }

    /// Takes a share in a socket that listens already.
    func use(_ socket: ListeningSocket) throws(LoopError) {
        sockets.append(try ListeningSocket(descriptor: try socket.duplicate()))
        port = socket.port
    }

    /// Accepts connections from now on.
    ///
    /// - Parameter completion: hears, on any thread, why not where a socket cannot be listened on.
    func startAccepting(_ completion: @escaping @Sendable (LoopError?) -> Void) {
        loop.post { [self] in
            do throws(LoopError) {
                for socket in sockets { try listen(on: socket) }
                completion(nil)
            } catch {
                completion(error)
            }
        }
    }

    private func listen(on socket: ListeningSocket) throws(LoopError) {
        let descriptor = try socket.duplicate()
        add(try Listener(loop: loop, adopting: descriptor, name: socket.name) { [unowned self] in accept($0) })
    }

    private func add(_ listener: Listener) {
        listener.failed = { [unowned self] in tellOfScarcity("\($0)") }
        listeners.append(listener)
    }

    private func accept(_ stream: Stream) {
        if stream.isSurplus { tellOfScarcity("the limit of open files is nearly reached") }
        server.accept(stream, tls: tls)
    }

    /// At most one line in ten seconds: whoever is refused comes again and again.
    private func tellOfScarcity(_ reason: String) {
        guard loop.nowMilliseconds >= scarcityIsToldAgain else { return }
        scarcityIsToldAgain = loop.nowMilliseconds + 10_000
        log.error(
            "connections are refused; raise the hard limit of open files, such as LimitNOFILE, or lower the number of clients",
            metadata: ["reason": "\(reason)"])
    }

    /// Lets its thread go before workers, builds and whatever else computes on this machine (docs/decisions/scheduling.md).
    func goFirst() {
        loop.post { _ = linux_run_soon(-10) }
    }

    /// Lets administrators act on the host as a whole.
    func use(_ control: any HostControl) {
        loop.post { [self] in admin.control = control }
    }

    /// Serves these functions from now on.
    ///
    /// - Parameters:
    ///   - isReady: whether there are no others.
    ///   - completion: called on this loop once it does.
    func publish(_ functions: [RegisteredFunction], isReady: Bool, completion: @escaping @Sendable () -> Void) {
        loop.post { [self] in
            router.functions.registry.replaceAll(functions)
            router.isReady = isReady
            completion()
        }
    }

    /// Tells its figures, on its own loop. Called on a thread that is not the loop's, so that it is seen how long the loop takes.
    func tellFigures(_ tell: @escaping @Sendable (LoopFigures) -> Void) {
        let asked = EventLoop.monotonicNanoseconds()
        loop.post { [self] in
            let lag = EventLoop.monotonicNanoseconds() - asked
            tell(LoopFigures(server: server.figures, connectionsOpen: server.connectionCount, lagNanoseconds: lag))
        }
    }

    /// Speaks TLS with this certificate from the next connection on.
    func use(_ tls: TLSContext) {
        loop.post { [self] in self.tls = tls }
    }

    /// Accepts nothing more and waits until what has begun is answered.
    func drain(withinMilliseconds: UInt64, completion: @escaping @Sendable () -> Void) {
        loop.post { [self] in
            router.isStopping = true
            router.database.stop()
            router.messaging.stop()
            router.admin.stop()
            // One more turn: connections that the kernel has accepted for us are taken before the listener closes.
            loop.post { [self] in
                stopListening()
                server.drain(withinMilliseconds: withinMilliseconds, completion: completion)
            }
        }
    }

    /// Closes what is listened on.
    private func stopListening() {
        for listener in listeners { listener.close() }
        listeners = []
        for socket in sockets { Glibc.close(socket.descriptor) }
        sockets = []
    }

    /// Ends the loop's thread, where it has one of its own.
    func join() { thread?.join() }
}
