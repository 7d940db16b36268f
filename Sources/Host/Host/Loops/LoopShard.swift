import Administration
import AppCheck
import Authentication
import CallFrontEnd
import CLinux
import Configuration
import DatabaseAPI
import Deployment
import EventLoop
import FunctionDispatch
import Glibc
import HTTP
import Logging
import Logs
import Messaging
import RealtimeDatabase
import TaskQueues
import Telemetry

/// The parts of a host on one loop: its listener, its server and its router.
final class LoopShard: LoopFigureSource, @unchecked Sendable {
    // Unchecked: after the setup, everything is used on `loop` only, through `post`.
    let loop: EventLoop
    private let thread: LoopThread?
    let router: EndpointRouter
    private let admin: AdminAPI
    let server: HTTPServer
    /// Nil if HTTP/2 is turned off.
    private let http2: HTTP2Service?
    var listeners: [Listener] = []
    /// The listening sockets, which a host that takes over inherits. Made before the loop runs.
    var sockets: [ListeningSocket] = []
    /// During the handover: the number of connections that are still proxied, and the completion of the handover.
    var proxies = 0
    var isReleased = false
    var endIfReleased: (() -> Void)?
    private let log: Logger
    private var scarcityIsToldAgain: UInt64 = 0
    private(set) var port = 0
    /// The TLS context for new connections; nil without TLS.
    var tls: TLSContext?

    init(
        loop: EventLoop, number: Int, thread: LoopThread?, configuration: Configuration, adminToken: [UInt8], proxies: TrustedProxies,
        gate: TokenGate, memory: MemoryBudget, database: RealtimeDatabase, rulesPath: @escaping @Sendable () -> String?,
        databaseSettings: DatabaseFrontEndSettings, liveClients: LiveClients, messaging: MessagingService, authentication: AuthenticationService,
        appCheck: AppCheckService,
        metrics: MetricsPage, functions: FunctionAdministration.Reference, schedules: ScheduleAdministration,
        tasks: TaskAdministration, taskService: TaskService,
        builds: BuildLedger, logs: LogStore, log: Logger
    ) {
        self.loop = loop
        loop.sharesTurns = true
        self.thread = thread
        self.log = log
        let messagingFront = MessagingFrontEnd(service: messaging, loop: loop, proxies: proxies)
        let credentials = DatabaseCredentials(gate: gate, project: configuration.project, messaging: messagingFront, loop: loop, log: log)
        var databaseSettings = databaseSettings
        databaseSettings.tracing = databaseSettings.tracing?.on(loop: number)
        let front = DatabaseFrontEnd(database: database, loop: loop, credentials: credentials, settings: databaseSettings)
        admin = AdminAPI(
            loop: loop, project: configuration.project, developmentAccess: databaseSettings.developmentAccess, adminToken: adminToken,
            database: database, userEvents: authentication.accounts, rulesPath: rulesPath, functions: functions, schedules: schedules,
            tasks: tasks, builds: builds, logs: logs, log: log)
        let functionFront = FunctionFrontEnd(
            loop: loop, loopNumber: number, project: configuration.project, adminToken: adminToken,
            developmentAccess: databaseSettings.developmentAccess, proxies: proxies, gate: gate, tracing: databaseSettings.tracing,
            log: log)
        router = EndpointRouter(
            functions: functionFront, database: front, messaging: messagingFront,
            authentication: AuthenticationFrontEnd(service: authentication, loop: loop) { [project = configuration.project] token in
                messagingFront.mayAdministerUsers(token, project: project)
            },
            appCheck: AppCheckFrontEnd(service: appCheck, loop: loop) { [project = configuration.project] token in
                messagingFront.mayAdministerUsers(token, project: project)
            },
            tasks: TaskFrontEnd(
                service: taskService, loop: loop, adminToken: adminToken, developmentAccess: databaseSettings.developmentAccess
            ) { [project = configuration.project] token in
                messagingFront.mayAdministerEverything(token, project: project)
            }, admin: admin, metrics: metrics,
            liveClients: liveClients, bodyBytesMax: configuration.server.limits.bodyBytes, log: log)
        let limits = HTTPLimits(configuration.server, databaseBytesMax: database.limits.writeBytesMax)
        server = HTTPServer(loop: loop, limits: limits, memory: memory, proxies: proxies, handler: router)
        let settings = configuration.server.http2
        http2 = settings.isEnabled ? server.offerHTTP2(HTTP2Limits(settings)) : nil
    }

    /// Binds to a port. Connections wait in the kernel until ``startAccepting(_:)``.
    func listen(host: String, port: Int, reusePort: Bool) throws(LoopError) {
        let socket = try Self.socket(host: host, port: port, reusePort: reusePort)
        sockets.append(socket)
        self.port = socket.port
    }

    /// Waits a moment for an address that is in use: when a host is killed while it starts a program, the new process has the host's socket until it
    /// runs that program.
    private static func socket(host: String, port: Int, reusePort: Bool) throws(LoopError) -> ListeningSocket {
        for _ in 0..<20 {
            do throws(LoopError) {
                return try ListeningSocket.tcp(host: host, port: port, reusePort: reusePort)
            } catch {
                guard error.name == "EADDRINUSE" else { throw error }
                usleep(50_000)
            }
        }
        return try ListeningSocket.tcp(host: host, port: port, reusePort: reusePort)
    }

    /// Uses a duplicate of a socket that is already listening.
    func use(_ socket: ListeningSocket) throws(LoopError) {
        sockets.append(try ListeningSocket(descriptor: try socket.duplicate()))
        port = socket.port
    }

    /// Accepts connections.
    ///
    /// - Returns: the error of a socket that cannot be listened on.
    func startAccepting() async -> LoopError? {
        await loop.perform { [self] in
            do throws(LoopError) {
                for socket in sockets { try listen(on: socket) }
                return nil
            } catch {
                return error
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

    /// Logs at most one line in ten seconds, because refused clients try again.
    private func tellOfScarcity(_ reason: String) {
        guard loop.nowMilliseconds >= scarcityIsToldAgain else { return }
        scarcityIsToldAgain = loop.nowMilliseconds + 10_000
        log.error(
            "connections are refused; raise the hard limit of open files, such as LimitNOFILE, or lower the number of clients",
            metadata: ["reason": "\(reason)"])
    }

    /// Schedules its thread among the others of this machine (docs/decisions/scheduling.md).
    func use(_ scheduling: LoopScheduling) {
        loop.post {
            switch scheduling {
            case .first: _ = linux_run_soon(-10)
            case .soon: _ = linux_run_soon(0)
            case .inTurn: _ = linux_run_in_turn()
            }
        }
    }

    /// Sets the receiver of administrators' requests for the host as a whole.
    func use(_ control: any HostControl) {
        loop.post { [self] in admin.control = control }
    }

    /// Serves these functions from now on.
    ///
    /// - Parameter isReady: whether there are no others.
    func publish(_ functions: [RegisteredFunction], isReady: Bool) async {
        await withCheckedContinuation { continuation in
            loop.post { [self] in
                router.functions.registry.replaceAll(functions)
                router.isReady = isReady
                continuation.resume()
            }
        }
    }

    /// Reports the loop's figures, on the loop. To be called on another thread, so that the delay of the loop is measured.
    func tellFigures(_ tell: @escaping @Sendable (LoopFigures) -> Void) {
        let asked = EventLoop.monotonicNanoseconds()
        loop.post { [self] in
            let lag = EventLoop.monotonicNanoseconds() - asked
            tell(
                LoopFigures(
                    server: server.figures, http2: http2?.figures ?? HTTP2Figures(),
                    live: router.live.figures, connectionsOpen: server.connectionCount, lagNanoseconds: lag))
        }
    }

    /// Uses this TLS context for new connections.
    func use(_ tls: TLSContext) {
        loop.post { [self] in self.tls = tls }
    }

    /// Accepts no more connections; returns when the requests that have started are answered.
    func drain(withinMilliseconds: UInt64) async {
        await withCheckedContinuation { continuation in drain(withinMilliseconds: withinMilliseconds) { continuation.resume() } }
    }

    private func drain(withinMilliseconds: UInt64, completion: @escaping @Sendable () -> Void) {
        loop.post { [self] in
            router.isStopping = true
            router.database.stop()
            router.live.stop()
            router.messaging.stop()
            router.admin.stop()
            // Waits one more turn, so that connections that the kernel has accepted are taken before the listener is closed.
            loop.post { [self] in
                stopListening()
                server.drain(withinMilliseconds: withinMilliseconds, completion: completion)
            }
        }
    }

    /// Closes the listening sockets.
    private func stopListening() {
        for listener in listeners { listener.close() }
        listeners = []
        for socket in sockets { Glibc.close(socket.descriptor) }
        sockets = []
    }

    /// Waits for the end of the loop's thread, if it has a separate one.
    func join() { thread?.join() }
}
