import Accounts
import Administration
import AppCheck
import Authentication
import CallFrontEnd
import CLinux
import Configuration
import DatabaseAPI
import Deployment
import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionServices
import FunctionWorker
import Glibc
import HostCore
import HTTP
import Logging
import Logs
import Messaging
import RealtimeDatabase
import Schedules
import TaskQueues
import Tokens

/// A host: its loops with their servers, functions and workers.
///
/// Belongs to the home loop, which ``run()`` runs on the calling thread.
public final class HearthHost {
    let configuration: Configuration
    let options: HostOptions
    /// The program for workers and for a host that takes over.
    let executable: String
    let data: DataDirectory
    let home: EventLoop
    let dispatcher: Dispatcher
    private let memory: MemoryBudget
    let output: LogOutput
    private let logs: LogStore
    let log: Logger
    private(set) var shards: [LoopShard] = []
    private var watchers: [SignalWatcher] = []
    var certificates: CertificateWatcher?
    var life = HostLife()
    /// The reasons why deployed functions get no events.
    var eventProblems: [String] = []
    var drainTimer: Timer?
    var upgrade: HostUpgrade?
    private(set) var takeover: Takeover?
    var successorEnding: ChildProcess.Ending?
    private(set) lazy var restores = RestoreUploads(loop: home, data: data.path)
    private var onReady: (HostSummary) -> Void = { _ in }
    /// The reason why the host could not start.
    var startError: HostStartError?
    private let gate: TokenGate
    let accounts: AccountService
    private let authentication: AuthenticationService
    let appCheck: AppCheckService
    let database: DatabaseHost
    let messaging: MessagingService
    let delivery: TriggerDelivery
    /// The functions that sign-ins wait for.
    let blocking: BlockingFunctions
    let schedules: ScheduleHost
    let tasks: TaskHost
    let metrics: MetricsGatherer
    /// Nil unless telemetry is configured.
    let telemetry: TelemetryHost?
    let deployer: Deployer
    private let functionAdministration: FunctionAdministration
    var watchdog: Watchdog?
    private let builds = BuildLedger()
    private var watch: PluginWatch?

    /// Takes the data directory and the port. Connections wait until ``run(onReady:)`` knows what is deployed.
    ///
    /// - Parameter executable: this program, which is also started for workers.
    /// - Throws: `HostStartError` if either is not possible.
    public init(_ configuration: Configuration, options: HostOptions, executable: String) throws(HostStartError) {
        self.configuration = configuration
        self.options = options
        self.executable = executable
        try Self.raiseDescriptorLimit()
        data = try DataDirectory(path: options.dataDirectory)
        let deployed = DeployedFile(path: data.deployed)
        let state: DeployedState
        do throws(DeployedFileError) {
            state = try DeployedFile(path: options.takeover?.deployed ?? data.deployed).read()
        } catch {
            throw HostStartError(error.description)
        }
        logs = LogStore(directory: data.logs, limits: LogFiles.Limits(configuration.logging.store))
        do throws(LoopError) {
            output = try LogOutput(store: logs)
            // Threads are started now, so that nothing fails later because one cannot be started.
            try EventLoop.startThreadPools()
            home = try EventLoop()
        } catch {
            throw HostStartError("the host cannot start: \(error)")
        }
        let tellsInvocations = configuration.logging.invocations ?? (configuration.mode == .development && output.isTerminal)
        log = output.logger(level: Logger.Level(rawValue: configuration.logging.level.rawValue) ?? .notice)
        memory = MemoryBudget(bytesMax: configuration.server.memoryBytes ?? MemoryBudget.standardBytes)
        dispatcher = Dispatcher(
            loop: home, limits: PoolLimits(configuration), memory: memory, executable: WorkerProgram.path(executable: executable),
            dataDirectory: data.path, keepsPrewarmed: configuration.workers.prewarmed > 0,
            functionLog: FunctionLog(output: output, tellsInvocations: tellsInvocations), log: log)
        messaging = try MessagingService(
            configuration, directory: data.messages, adminToken: data.adminToken,
            developmentAccess: options.developmentAccess(for: configuration), isSuspended: options.takeover != nil, loop: home, log: log)
        let ownAccount: @Sendable (String) -> (id: String, publicKey: [UInt8])? = { [messaging, project = configuration.project] email in
            messaging.serviceAccountKey(of: email, project: project)
        }
        let reference = LoopBound(DeliveryReference(), loop: home)
        let announce: @Sendable (EventAnnouncement) -> Void = { [home] news in home.post { reference.value.delivery?.receive(news) } }
        blocking = BlockingFunctions(home: home)
        let appKeys = AppCheckService.ring(directory: data.users, log: log)
        let users = try AuthenticationHost(
            configuration, directory: data.users, adminToken: data.adminToken, ownAccount: ownAccount,
            developmentAccess: options.developmentAccess(for: configuration), isSuspended: options.takeover != nil, functions: blocking,
            appKeys: appKeys, loop: home, log: log, didRaiseEvents: announce)
        (accounts, authentication) = (users.accounts, users.service)
        gate = TokenGate(configuration, own: users.ownKeys, ownApps: appKeys, consumed: data.consumedTokens, loop: home, log: log)
        appCheck = try AppCheckService(
            configuration, directory: data.users, ring: appKeys, gate: gate, adminToken: data.adminToken, ownAccount: ownAccount,
            developmentAccess: options.developmentAccess(for: configuration), isSuspended: options.takeover != nil, loop: home, log: log)
        database = DatabaseHost(configuration, directory: data.databases, loop: home, log: log, didRaiseEvents: announce)
        schedules = try ScheduleHost(configuration, data, isSuspended: options.takeover != nil, loop: home, log: log, didRaiseEvents: announce)
        tasks = try TaskHost(configuration, data, isSuspended: options.takeover != nil, loop: home, log: log, didRaiseEvents: announce)
        delivery = schedules.delivery(configuration, database: database.database, accounts: accounts, tasks: tasks)
        reference.value.delivery = delivery
        metrics = MetricsGatherer(
            loop: home, dispatcher: dispatcher, delivery: delivery, database: database.database, messaging: messaging, output: output,
            memory: memory, userEvents: accounts.eventFigures, schedules: schedules.engine, tasks: tasks.engine,
            cache: dispatcher.services.cache(configuration, home))
        telemetry = try TelemetryHost(configuration, loop: home, dispatcher: dispatcher, metrics: metrics, log: log)
        let linkBase = dispatcher.services.registerServices(
            configuration, database: database.database, messaging: messaging, authentication: users.service, tasks: tasks.service, memory: memory,
            loop: home)
        deployer = Deployer(
            configuration, state: state, file: deployed, directories: .init(artifacts: data.artifacts, uploads: data.uploads),
            dispatcher: dispatcher, log: log)
        functionAdministration = FunctionAdministration(deployer)
        try makeShards()
        (deployer.address, linkBase.url) = ("\(address)", "\(address.url)")
        functionAdministration.base = "\(address.url)/\(configuration.project)"
        deployer.publish = { [unowned self] in await publish($0) }
    }

    private func makeShards() throws(HostStartError) {
        let settings = configuration.server
        var port = options.port ?? settings.port
        var databaseSettings = DatabaseFrontEndSettings()
        databaseSettings.isDevelopment = configuration.mode == .development
        databaseSettings.developmentAccess = options.developmentAccess(for: configuration)
        databaseSettings.enforcesAppCheck = configuration.database.enforceAppCheck
        databaseSettings.adminToken = data.adminToken
        let proxies = TrustedProxies(try NetworkRange.list(settings.trustedProxies, of: "server.trustedProxies"))
        databaseSettings.proxies = proxies
        databaseSettings.tracing = telemetry?.tracing
        let functions = FunctionAdministration.Reference(administration: LoopBound(functionAdministration, loop: home), home: home)
        let scheduleReference = ScheduleAdministration(schedules.engine, outbox: schedules.storage, home: home)
        let taskReference = TaskAdministration(tasks.engine, tasks.service, outbox: tasks.storage, home: home)
        let liveClients = LiveClients()
        for index in 0..<settings.loops {
            do throws(LoopError) {
                let thread = index == 0 ? nil : try LoopThread()
                let shard = LoopShard(
                    loop: thread?.loop ?? home, number: index, thread: thread, configuration: configuration,
                    adminToken: data.adminToken, proxies: proxies, gate: gate, memory: memory, database: database.database,
                    rulesPath: { [path = database.rulesPath] in path.value }, databaseSettings: databaseSettings, liveClients: liveClients,
                    messaging: messaging, authentication: authentication, appCheck: appCheck,
                    metrics: MetricsPage(loop: thread?.loop ?? home, gatherer: metrics, home: home, proxies: proxies), functions: functions,
                    schedules: scheduleReference, tasks: taskReference, taskService: tasks.service,
                    builds: builds, logs: logs, log: log)
                let own = ListeningSocket.share(of: options.takeover?.sockets ?? options.sockets, forLoop: index, of: settings.loops)
                for socket in own { try shard.use(socket) }
                if own.isEmpty { try shard.listen(host: options.host ?? settings.host, port: port, reusePort: settings.loops > 1) }
                port = shard.port
                shards.append(shard)
            } catch {
                throw HostStartError(Self.advice(error))
            }
        }
        // The shards have duplicates. A host that stops must not leave a socket on which nobody accepts.
        for socket in options.takeover?.sockets ?? options.sockets { close(socket.descriptor) }
        dispatcher.serve(on: shards.dropFirst().map(\.loop))
        metrics.use(shards)
        guard let tls = settings.tls else { return }
        certificates = CertificateWatcher(tls, offersHTTP2: settings.http2.isEnabled, shards: shards, loop: home, log: log)
        do throws(TLSError) {
            let context = try TLSContext(certificateFile: tls.certificate, keyFile: tls.key, offersHTTP2: settings.http2.isEnabled)
            for shard in shards { shard.tls = context }
        } catch {
            throw HostStartError("TLS cannot be served: \(error)")
        }
    }

    /// Checks that the secrets, keys and addresses of the configuration can be used, and that no other program uses the data directory or the
    /// address. Changes nothing.
    ///
    /// - Throws: `HostStartError` with the reason why the host would not start.
    public static func check(_ configuration: Configuration, options: HostOptions) throws(HostStartError) {
        try StartCheck.require(configuration)
        try DataDirectory.requireFree(options.dataDirectory)
        guard options.sockets.isEmpty else { return }
        let (host, port) = (options.host ?? configuration.server.host, options.port ?? configuration.server.port)
        do throws(LoopError) {
            let socket = try ListeningSocket.tcp(host: host, port: port)
            close(socket.descriptor)
        } catch {
            throw HostStartError(advice(error))
        }
    }

    static func advice(_ error: LoopError) -> String {
        switch error.name {
        case "EADDRINUSE": "\(error.subject) is in use by another program; choose another port with --port"
        case "EACCES": "\(error.subject) may not be listened on by this user; choose a port from 1024 on with --port"
        default: "the host cannot listen: \(error)"
        }
    }

    /// Serves until SIGINT or SIGTERM, then finishes the requests that have started.
    ///
    /// - Parameter onReady: called when functions can be called.
    /// - Throws: `HostStartError` if the files with token keys cannot be used.
    public func run(onReady: @escaping (HostSummary) -> Void) throws(HostStartError) {
        self.onReady = onReady
        // Writing to a closed connection or a file at the size limit must be an error of the call, not the end of the process.
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        for number in Self.endingSignals {
            do throws(LoopError) {
                watchers.append(try SignalWatcher(loop: home, signal: number) { [unowned self] in stop() })
            } catch {
                // A host that cannot be stopped must not run.
                throw HostStartError("the host cannot start: \(error)")
            }
        }
        watchForUpgrade()
        let control = HostOperations(self)
        for shard in shards {
            shard.use(control)
            shard.use(LoopScheduling(loops: shards.count))
        }
        for warning in configuration.warnings { log.warning("\(warning)") }
        if let warning = options.warning(for: configuration) { log.warning("\(warning)") }
        home.task { [self] in await start() }
        home.run()
        for shard in shards { shard.join() }
        output.flush()
        takeover = nil
        if let startError { throw startError }
    }

    /// The signals that the host handles. The program blocks them before it starts the first thread, so that none is lost when one process
    /// replaces another.
    public static let signals = endingSignals + [SIGUSR2]
    private static let endingSignals = [SIGINT, SIGTERM]

    /// Stops handling signals, because another program will run in this process.
    func stopTakingSignals() { watchers = [] }

    /// Handles SIGUSR2, by which a service manager that cannot run `hearth upgrade` requests an upgrade.
    private func watchForUpgrade() {
        do throws(LoopError) {
            takeover = try options.takeover.map { start throws(LoopError) in try Takeover(start, host: self) }
            watchers.append(try SignalWatcher(loop: home, signal: SIGUSR2) { [unowned self] in didAskForUpgrade() })
        } catch {
            log.error("the host cannot be upgraded", metadata: ["reason": "\(error)"])
            if options.takeover != nil { abandonTakeover() }
        }
    }

    // MARK: Starting

    /// Restores what is deployed, opens the databases, accepts connections, and deploys the plugins of `functions.json`.
    private func start() async {
        do throws(KeyFetchError) {
            try await loadKeys()
        } catch {
            startError = HostStartError("\(error)")
            return home.stop()
        }
        // The host before uses its files until it has ended.
        deployer.isSharing = takeover != nil
        await deployer.start()
        guard life.goesOn else { return }
        for problem in deployer.problems.values.map(\.description).sorted() { log.error("\(problem)") }
        if let takeover { return await takeover.prepare() }
        database.openStored()
        await messagingIsOpen()
        guard life.goesOn, await startAccepting(), await deployLocal() else { return }
        didLoad()
    }

    /// Reads the files with keys of tokens, beside the loop.
    private func loadKeys() async throws(KeyFetchError) {
        let task = Task { [gate] () -> Result<Void, KeyFetchError> in
            do throws(KeyFetchError) { return .success(try await gate.loadKeyFiles()) } catch { return .failure(error) }
        }
        return try await task.value.get()
    }

    /// Waits until the messaging service has tried to open its store.
    func messagingIsOpen() async {
        await withCheckedContinuation { continuation in messaging.whenOpen(on: home) { continuation.resume() } }
    }

    /// Deploys changes of the plugins that `functions.json` names. Plugins that are to be built in another configuration than before keep
    /// their deployed libraries until then.
    ///
    /// - Returns: false if the host has been stopped meanwhile.
    func deployLocal() async -> Bool {
        let kept = options.watch == nil ? [] : deployer.builtOtherwise(configuration)
        _ = await deployer.deployLocal(configuration, keeping: kept) { [log] in log.error("\($0)") }
        guard life.goesOn else { return false }
        await deployer.localIsKnown()
        for warning in configuration.warnings(forLoaded: functions.map(\.name)) { log.warning("\(warning)") }
        return life.goesOn
    }

    private func didLoad() {
        telemetry?.start()
        var summary = HostSummary(configuration, address: address, dataDirectory: data.path, functions: functions, refusals: refusals)
        summary.warning = options.warning(for: configuration)
        onReady(summary)
        tellReady()
        startWatching()
        // Releases the memory of code that has run and is unlikely to run again.
        linux_release_code()
    }

    func stopWatching() {
        watch?.stop()
        watch = nil
    }

    func startWatching() {
        guard let report = options.watch else { return }
        // The watch prints a line about each deployment, so the log line is not shown on a terminal.
        if isatty(STDOUT_FILENO) == 1 { deployer.localLog = output.logger(level: log.logLevel, isForTerminals: false) }
        watch = PluginWatch(
            configuration, deployer: deployer, useRules: { [database] in database.useRules($0) }, ledger: builds, loop: home, log: log,
            report: report)
        watch?.start()
    }

    /// Reports that functions can be called.
    func tellReady() {
        enter(.serving)
        options.serviceManager?.notify("READY=1", "STATUS=Serving \(functions.count) functions at \(address.url)")
        watchdog = options.serviceManager.flatMap { Watchdog($0, home: home, others: shards.dropFirst().map(\.loop)) }
    }

    private var address: HostAddress {
        let socket = options.takeover?.sockets.first ?? options.sockets.first
        let host = socket?.host ?? options.host ?? configuration.server.host
        return HostAddress(host: host, port: socket?.port ?? shards.first?.port ?? 0, isTLS: configuration.server.tls != nil)
    }

    // MARK: Life

    /// Changes the state of the host. An invalid transition is logged and ignored.
    func enter(_ state: HostLife.State) {
        do throws(HostLife.Refusal) {
            try life.enter(state)
        } catch {
            log.critical("\(error)")
        }
    }
}

/// A reference to the delivery, for parts that are created before it.
private final class DeliveryReference {
    weak var delivery: TriggerDelivery?
}
