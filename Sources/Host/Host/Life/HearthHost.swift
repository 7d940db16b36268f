import Administration
import CallFrontEnd
import CLinux
import Configuration
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
import Tokens

/// The whole host: its loops, the servers on them, the functions and the workers.
///
/// Belongs to the home loop, which is the one that ``run()`` runs on the calling thread.
public final class HearthHost {
    private let configuration: Configuration
    let options: HostOptions
    /// The program that workers and a host that takes over run.
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
    private(set) var isStopping = false
    private var shardsLeft = 0
    /// Why functions that are there get no events.
    private var eventProblems: [String] = []
    var drainTimer: Timer?
    private(set) var isServing = false
    private var isEnding = false
    var upgrade: HostUpgrade?
    var isUpgradeAsked = false
    private(set) var takeover: Takeover?
    var successorEnding: ChildProcess.Ending?
    private(set) lazy var restores = RestoreUploads(loop: home, data: data.path)
    private var onReady: (HostSummary) -> Void = { _ in }
    /// Why the host could not start.
    var startError: HostStartError?
    private let gate: TokenGate
    let database: DatabaseHost
    let messaging: MessagingService
    let delivery: TriggerDelivery
    private let metrics: MetricsGatherer
    /// What changes the functions while the host runs.
    let deployer: Deployer
    private let functionAdministration: FunctionAdministration
    var watchdog: Watchdog?
    private let builds = BuildLedger()
    private var watch: PluginWatch?

    /// Takes the data directory and the port. Whoever connects waits until ``run(onReady:)`` knows what is deployed.
    ///
    /// - Parameter executable: this program, whose `worker` command is what workers run.
    /// - Throws: `HostStartError` when either cannot be had.
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
            // From here on nothing fails for want of a thread that works beside the loops.
            try EventLoop.startThreadPools()
            home = try EventLoop()
        } catch {
            throw HostStartError("the host cannot start: \(error)")
        }
        let tellsInvocations = configuration.logging.invocations ?? (configuration.mode == .development && output.isTerminal)
        let level = Logger.Level(rawValue: configuration.logging.level.rawValue) ?? .notice
        log = output.logger(level: level)
        memory = MemoryBudget(bytesMax: configuration.server.memoryBytes ?? MemoryBudget.standardBytes)
        dispatcher = Dispatcher(
            loop: home, limits: PoolLimits(configuration.workers), memory: memory, executable: WorkerProgram.path(executable: executable),
            dataDirectory: data.path, keepsPrewarmed: configuration.workers.prewarmed > 0,
            functionLog: FunctionLog(output: output, tellsInvocations: tellsInvocations), log: log)
        gate = TokenGate(configuration, consumed: data.consumedTokens, loop: home, log: log)
        // Databases announce events from their own threads, and the delivery asks databases for the rest.
        let reference = LoopBound(DeliveryReference(), loop: home)
        database = DatabaseHost(configuration, directory: data.databases, loop: home, log: log) { [home] announcement in
            home.post { reference.value.delivery?.receive(announcement) }
        }
        messaging = try MessagingService(
            configuration, directory: data.messages, adminToken: data.adminToken,
            developmentAccess: options.developmentAccess(for: configuration), isSuspended: options.takeover != nil, loop: home, log: log)
        delivery = TriggerDelivery(
            loop: home, settings: DeliverySettings(configuration.database.triggers), log: log
        ) { [database = database.database] name in database.outbox(of: name) }
        reference.value.delivery = delivery
        metrics = MetricsGatherer(
            loop: home, dispatcher: dispatcher, delivery: delivery, database: database.database, messaging: messaging, output: output,
            memory: memory)
        dispatcher.services.register(DatabaseService(database: database.database, memory: memory, loop: home))
        dispatcher.services.register(MessagingCalls(messaging: messaging, loop: home))
        deployer = Deployer(
            configuration, state: state, file: deployed, directories: .init(artifacts: data.artifacts, uploads: data.uploads),
            dispatcher: dispatcher, log: log)
        functionAdministration = FunctionAdministration(deployer)
        try makeShards()
        metrics.use(shards)
        deployer.address = "\(address)"
        functionAdministration.base = "\(address.url)/\(configuration.project)"
        deployer.publish = { [unowned self] in publish($0, completion: $1) }
    }

    private func makeShards() throws(HostStartError) {
        let settings = configuration.server
        var port = options.port ?? settings.port
        var databaseSettings = DatabaseFrontEndSettings()
        databaseSettings.isDevelopment = configuration.mode == .development
        databaseSettings.developmentAccess = options.developmentAccess(for: configuration)
        databaseSettings.adminToken = data.adminToken
        let proxies = TrustedProxies(try NetworkRange.list(settings.trustedProxies, of: "server.trustedProxies"))
        databaseSettings.proxies = proxies
        let functions = FunctionAdministration.Reference(administration: LoopBound(functionAdministration, loop: home), home: home)
        for index in 0..<settings.loops {
            do throws(LoopError) {
                let thread = index == 0 ? nil : try LoopThread()
                let shard = LoopShard(
                    loop: thread?.loop ?? home, thread: thread, configuration: configuration, adminToken: data.adminToken, proxies: proxies,
                    gate: gate, memory: memory, database: database.database, rulesPath: { [path = database.rulesPath] in path.value },
                    databaseSettings: databaseSettings, messaging: messaging,
                    metrics: MetricsPage(loop: thread?.loop ?? home, gatherer: metrics, home: home, proxies: proxies), functions: functions,
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
        guard let tls = settings.tls else { return }
        certificates = CertificateWatcher(tls, shards: shards, loop: home, log: log)
        do throws(TLSError) {
            let context = try TLSContext(certificateFile: tls.certificate, keyFile: tls.key)
            for shard in shards { shard.tls = context }
        } catch {
            throw HostStartError("TLS cannot be served: \(error)")
        }
    }

    static func advice(_ error: LoopError) -> String {
        switch error.name {
        case "EADDRINUSE": "\(error.subject) is in use by another program; choose another port with --port"
        case "EACCES": "\(error.subject) may not be listened on by this user; choose a port from 1024 on with --port"
        default: "the host cannot listen: \(error)"
        }
    }

    /// Serves until SIGINT or SIGTERM, then lets what has begun end.
    ///
    /// - Parameter onReady: called once functions can be reached.
    /// - Throws: `HostStartError` when the token keys' files cannot be used.
    public func run(onReady: @escaping (HostSummary) -> Void) throws(HostStartError) {
        self.onReady = onReady
        // A connection that is gone, or a file as large as the system allows, is an error of the call and not the end.
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
            shard.goFirst()
        }
        for warning in configuration.warnings { log.warning("\(warning)") }
        if let warning = options.warning(for: configuration) { log.warning("\(warning)") }
        let reference = LoopBound(self, loop: home)
        Task { [gate, home] in
            let result: Result<Void, KeyFetchError>
            do throws(KeyFetchError) { result = .success(try await gate.loadKeyFiles()) } catch { result = .failure(error) }
            home.post { reference.value.didLoadKeys(result) }
        }
        home.run()
        for shard in shards { shard.join() }
        output.flush()
        takeover = nil
        if let startError { throw startError }
    }

    /// Signals that the host takes from the kernel. Its program blocks them before it starts the first thread, so that none is lost while
    /// processes change.
    public static let signals = endingSignals + [SIGUSR2]
    private static let endingSignals = [SIGINT, SIGTERM]

    /// Leaves signals to what this process becomes.
    func stopTakingSignals() { watchers = [] }

    /// SIGUSR2 is what a service manager can send where it cannot run `hearth upgrade`.
    private func watchForUpgrade() {
        do throws(LoopError) {
            takeover = try options.takeover.map { start throws(LoopError) in try Takeover(start, host: self) }
            watchers.append(try SignalWatcher(loop: home, signal: SIGUSR2) { [unowned self] in didAskForUpgrade() })
        } catch {
            log.error("the host cannot be upgraded", metadata: ["reason": "\(error)"])
            if options.takeover != nil { abandonTakeover() }
        }
    }

    private func didLoadKeys(_ result: Result<Void, KeyFetchError>) {
        if case .failure(let error) = result {
            startError = HostStartError("\(error)")
            return home.stop()
        }
        // Until the host before is gone, it needs its files, too.
        deployer.isSharing = takeover != nil
        deployer.start { [self] in
            guard !isStopping else { return }
            for problem in deployer.problems.values.map(\.description).sorted() { log.error("\(problem)") }
            if let takeover { return takeover.prepare() }
            database.openStored()
            messaging.whenOpen(on: home) { [self] in
                guard !isStopping else { return }
                startAccepting { [self] in
                    deployLocal { [self] in didLoad() }
                }
            }
        }
    }

    /// Looks for what is new in the plugins that `functions.json` names. Those that are about to be built as another configuration than
    /// before are served as they were until then.
    func deployLocal(completion: @escaping () -> Void) {
        let kept = options.watch == nil ? [] : deployer.builtOtherwise(configuration)
        deployer.deployLocal(configuration, keeping: kept) { [log] in
            log.error("\($0)")
        } completion: { [self] _ in
            guard !isStopping else { return }
            deployer.isLocalKnown = true
            for warning in configuration.warnings(forLoaded: functions.map(\.name)) { log.warning("\(warning)") }
            completion()
        }
    }

    private func didLoad() {
        var summary = HostSummary(configuration, address: address, dataDirectory: data.path, functions: functions, refusals: refusals)
        summary.warning = options.warning(for: configuration)
        onReady(summary)
        tellReady()
        startWatching()
        // Most of the code that has run so far will not run again.
        linux_release_code()
    }

    func stopWatching() {
        watch?.stop()
        watch = nil
    }

    func startWatching() {
        guard let report = options.watch else { return }
        // One line a deployment: the watch tells the person at the terminal of it.
        if isatty(STDOUT_FILENO) == 1 { deployer.localLog = output.logger(level: log.logLevel, isForTerminals: false) }
        watch = PluginWatch(
            configuration, deployer: deployer, useRules: { [database] in database.useRules($0) }, ledger: builds, loop: home, log: log,
            report: report)
        watch?.start()
    }

    /// Lets the triggers and every loop know these functions, and nobody any others.
    private func publish(_ publication: Publication, completion: @escaping () -> Void) {
        let events = EventFunctions(publication)
        // Functions are published again and again; a reason is told when it is new.
        for problem in events.problems where !eventProblems.contains(problem) {
            log.error("a function is left out", metadata: ["reason": "\(problem)"])
        }
        eventProblems = events.problems
        // Who takes over serves what was served before, and looks for something new afterwards.
        let isReady = deployer.isLocalKnown || takeover != nil
        database.database.useTriggers(events.table, isComplete: isReady)
        delivery.publish(events.targets, waiting: events.waiting, isComplete: publication.isComplete)
        let countdown = LoopBound(Countdown(shards.count, completion: completion), loop: home)
        for shard in shards {
            shard.publish(publication.functions, isReady: isReady) { [home] in home.post { countdown.value.hit() } }
        }
    }

    /// What is served, in the order of names.
    var functions: [RegisteredFunction] { deployer.live.functions }

    /// Why something is left out.
    var refusals: [PluginRefusal] {
        deployer.leftOut.sorted { $0.key < $1.key }.flatMap(\.value) + deployer.problems.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Functions can be reached.
    func tellReady() {
        isServing = true
        options.serviceManager?.notify("READY=1", "STATUS=Serving \(functions.count) functions at \(address.url)")
        watchdog = options.serviceManager.flatMap { Watchdog($0, home: home, others: shards.dropFirst().map(\.loop)) }
    }

    private var address: HostAddress {
        let socket = options.takeover?.sockets.first ?? options.sockets.first
        let host = socket?.host ?? options.host ?? configuration.server.host
        return HostAddress(host: host, port: socket?.port ?? shards.first?.port ?? 0, isTLS: configuration.server.tls != nil)
    }

    // MARK: Stopping

    /// The first call drains, the second ends everything at once.
    func stop() {
        guard !isStopping else {
            dispatcher.killWorkerProcesses()
            _exit(1)
        }
        isStopping = true
        guard let upgrade else { return drain() }
        upgrade.cancel("the host stops") { [self] in drain() }
    }

    private func drain() {
        if standsIn, let upgrade, successorEnding == nil { kill(upgrade.pid, SIGTERM) }
        if standsIn, isEnding { return }
        stopWatching()
        deployer.stop()
        delivery.stop()
        database.database.refuseHeldWrites()
        log.notice("stopping: no new connections; requests that have started are answered")
        options.serviceManager?.notify("STOPPING=1", "STATUS=Stopping: requests that have started are answered")
        certificates = nil
        shardsLeft = shards.count
        let reference = LoopBound(self, loop: home)
        let milliseconds = UInt64(configuration.workers.drainSeconds * 1000)
        let home = home
        // What a function has not answered by then is answered for it, before its connection is cut.
        drainTimer = Timer(loop: home) { [unowned self] in dispatcher.giveUp() }
        drainTimer?.start(afterMilliseconds: milliseconds)
        for shard in shards {
            shard.drain(withinMilliseconds: milliseconds + 2000) {
                home.post { reference.value.shardDidDrain() }
            }
        }
    }

    private func shardDidDrain() {
        shardsLeft -= 1
        guard shardsLeft == 0 else { return }
        endServing()
    }

    /// Nobody waits for anything any more: ends the workers, the databases and the loop.
    func endServing() {
        guard !isEnding else { return }
        isEnding = true
        drainTimer = nil
        metrics.stop()
        dispatcher.stop { [self] in
            delivery.finish { [self] in
                database.stop()
                messaging.stop()
                if standsIn { becomeStandIn() }
                watchers = []
                watchdog = nil
                home.stop()
            }
        }
    }
}

/// What is made after those who need it.
private final class DeliveryReference {
    weak var delivery: TriggerDelivery?
}
