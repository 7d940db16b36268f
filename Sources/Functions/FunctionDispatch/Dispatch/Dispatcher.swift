import EventLoop
import Files
import FunctionWorker
import Glibc
import HTTP
import Logging
import Telemetry

/// Runs invocations: owns the pools, the worker processes and the deadlines. Belongs to the host's home loop. Further loops start invocations
/// on workers that have room (``LoopDispatch``), and send all others here.
package final class Dispatcher {
    package let loop: EventLoop
    let limits: PoolLimits
    /// The memory budget for clients and plugins.
    let memory: MemoryBudget
    package let services = ServiceBroker()
    let functionLog: FunctionLog
    let log: Logger
    private(set) lazy var crashLog = CrashLog(loop: loop, functionLog: functionLog, executable: launch.executable)
    /// Nil if none are kept.
    let coreDumps: CoreDumps?
    private(set) lazy var launcher = WorkerLauncher(dispatcher: self, launch: launch, keepsPrewarmed: keepsPrewarmed)
    private(set) lazy var deadlines = DeadlineWatch(loop: loop) { [unowned self] in expire(now: $0) }
    /// Schedules the checks of workers' event loops.
    private(set) lazy var lifeWatch = DeadlineWatch(loop: loop) { [unowned self] in lookForLife(now: $0) }
    /// Whether such checks are scheduled, for other loops.
    let life = LifeSignal()
    /// The parts on further loops of the host, in the order of the loops.
    private(set) var loops: [LoopDispatch] = []
    private var launch: WorkerLaunch
    private let keepsPrewarmed: Bool

    private struct PoolKey: Hashable {
        var hash: String
        var settings: PoolSettings
    }

    /// The source of trace contexts for invocations that the host itself begins, mainly for events.
    package var traces = TraceSource()
    /// Records spans of invocations and of service calls; nil if none are recorded. Set before the first function is registered.
    package var tracing: Tracing? {
        didSet {
            if let tracing { traces = tracing.makeSource() }
            services.tracing = tracing
        }
    }
    /// The metrics of all functions.
    package var figures = FunctionFigureBook()
    private var figuresOfPlugins: [String: PluginFigures] = [:]

    private var pools: [PoolKey: WorkerPool] = [:]
    /// Pools of former versions, until the calls that have reached them have ended.
    private var retired: [ObjectIdentifier: WorkerPool] = [:]
    private var functionNames: [String: [String]] = [:]
    package let workersDirectory: String
    private var shrinkTimer: Timer?
    private var quota: FolderQuota?
    private var systemFiles: SystemFileWatch?
    private var stopCompletion: (() -> Void)?
    private var stopTimer: Timer?

    /// - Parameters:
    ///   - executable: the program whose command `worker` is started for each worker.
    ///   - dataDirectory: the folder with the working directories of workers.
    package init(
        loop: EventLoop, limits: PoolLimits, memory: MemoryBudget, executable: String, dataDirectory: String, keepsPrewarmed: Bool,
        functionLog: FunctionLog, log: Logger
    ) {
        self.loop = loop
        self.limits = limits
        self.memory = memory
        self.functionLog = functionLog
        self.log = log
        workersDirectory = "\(dataDirectory)/workers"
        mkdir(workersDirectory, 0o700)
        coreDumps = limits.coreDumps.map { [workersDirectory] in
            CoreDumps(loop: loop, folders: workersDirectory, directory: "\(dataDirectory)/cores", limits: $0, log: log)
        }
        let hostPID = getpid()
        let groups = ControlGroups.detect(hostPID: hostPID)
        groups.removeAbandoned(hasOwn: false)
        self.keepsPrewarmed = keepsPrewarmed
        var variables = WorkerLaunchVariables(
            hostPID: hostPID, openFiles: limits.openFiles, tasks: limits.tasks, folderBytes: limits.folderBytes,
            landlockVersion: WorkerSandbox.version, groups: groups)
        variables.coreBytes = limits.coreDumps?.bytesMax ?? 0
        launch = WorkerLaunch(executable: executable, variables: variables, directory: workersDirectory)
        Self.tell(variables, isSandboxed: limits.isSandboxed, log)
        let shrinkTimer = Timer(loop: loop) { [unowned self] in shrink() }
        let interval = min(max(limits.idleMilliseconds / 4, 50), 10_000)
        shrinkTimer.start(afterMilliseconds: interval, repeatMilliseconds: interval)
        self.shrinkTimer = shrinkTimer
        if limits.isSandboxed { watchWorkers() }
    }

    /// Adds further loops that may start invocations. Call it before the first pool is made.
    package func serve(on further: [EventLoop]) {
        let count = min(further.count, WorkerPage.lanesMax - 1)
        loops = further.prefix(count).enumerated().map { LoopDispatch(loop: $1, number: $0 + 1, dispatcher: self) }
        launch.variables.lanes = count + 1
        figures.laneCount = count + 1
    }

    /// Removes control groups of earlier hosts that ended without removing them.
    package func removeAbandonedGroups() {
        EventLoop.offload { [groups = launch.variables.groups] in groups.removeAbandoned(hasOwn: true) }
    }

    /// Starts the watches for sandboxed workers: folder sizes and system files.
    private func watchWorkers() {
        quota = FolderQuota(loop: loop, bytesMax: limits.folderBytes + (limits.coreDumps?.bytesMax ?? 0)) { [unowned self] in
            let isolated = Dictionary(grouping: allPools.filter { $0.settings.isIsolated && !$0.workers.isEmpty }) { $0.artifact.folder }
            return isolated.map { .init(folder: "\(workersDirectory)/\($0.key)", workers: $0.value.flatMap { $0.workers.map(\.pid) }) }
        } exceeded: { [unowned self] in
            emptyFolder($0)
        }
        do throws(LoopError) {
            systemFiles = try SystemFileWatch(loop: loop) { [unowned self] in
                log.notice("a setting of the system was replaced: replacing the workers, which can read only the former one")
                for pool in pools.values { pool.replaceWorkers() }
            }
        } catch {
            log.notice("settings of the system are not watched: running workers do not notice changes", metadata: ["reason": "\(error)"])
        }
    }

    /// Ends the workers whose folder is too large, and replaces the folder by an empty one.
    private func emptyFolder(_ folder: String) {
        let reason = "its folder holds more than \(limits.folderBytes) bytes (workers.folderBytes), and is emptied"
        for pool in allPools where folder == "\(workersDirectory)/\(pool.artifact.folder)" { pool.killWorkers(reason: reason) }
        // Renamed first, so that no worker finds it. If the host ends now, the next start removes the leftovers.
        let former = "\(workersDirectory)/.full-\(loop.nowNanoseconds)"
        guard rename(folder, former) == 0 else { return }
        mkdir(folder, 0o700)
        loop.offload { FileTree.remove(former) } then: {}
    }

    /// Logs how workers are limited on this machine, and which limits are missing.
    private static func tell(_ variables: WorkerLaunchVariables, isSandboxed: Bool, _ log: Logger) {
        let groups = variables.groups
        log.info("workers are limited", metadata: ["by": "\(groups.description)"])
        var missing = isSandboxed ? WorkerSandbox.missing(version: variables.landlockVersion) : []
        if groups.folders[.memory] == nil { missing.append("each process of a worker may take the memory that the worker may take") }
        if groups.folders[.tasks] == nil { missing.append("the processes of one worker are not counted on their own") }
        if !isSandboxed { missing.append("`workers.sandbox` is false: workers may do everything that the host's user may") }
        guard !missing.isEmpty else { return }
        let level: Logger.Level = variables.landlockVersion == 0 || !isSandboxed ? .warning : .notice
        log.log(level: level, "workers are confined less than they could be", metadata: ["because": "\(missing.joined(separator: "; "))"])
    }

    /// The pool for functions of `artifact` with these settings. Created at first use.
    package func pool(for artifact: Artifact, settings: PoolSettings) -> WorkerPool {
        // A plugin inside the host is loaded only once, even if the settings change.
        if !settings.isIsolated, let pool = pools.values.first(where: { $0.artifact.hash == artifact.hash && !$0.settings.isIsolated }) {
            return pool
        }
        let key = PoolKey(hash: artifact.hash, settings: settings)
        if let pool = pools[key] { return pool }
        if let pool = retired.values.first(where: { $0.artifact.hash == artifact.hash && $0.settings == settings }) {
            retired[ObjectIdentifier(pool)] = nil
            pool.revive()
            pools[key] = pool
            return pool
        }
        let pool = WorkerPool(artifact: artifact, settings: settings, limits: limits, dispatcher: self)
        pools[key] = pool
        return pool
    }

    /// The metrics of a plugin's instances.
    func figures(ofPlugin name: String) -> PluginFigures {
        if let known = figuresOfPlugins[name] { return known }
        let new = PluginFigures(plugin: name)
        figuresOfPlugins[name] = new
        return new
    }

    /// The metrics of all plugins that had instances, sorted by name.
    package var pluginFigures: [PluginFigures] { figuresOfPlugins.values.sorted { $0.plugin < $1.plugin } }

    /// The metrics of all pools, merged by artifact.
    package var poolFigures: [PoolFigures] {
        var byArtifact: [String: PoolFigures] = [:]
        for pool in allPools { byArtifact["\(pool.artifact.name) \(pool.artifact.hash)", default: pool.figures.empty].merge(pool.figures) }
        return byArtifact.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Retires all pools except `kept`: their calls end, then their workers, then they are released.
    package func retireAll(except kept: Set<ObjectIdentifier>) {
        for (key, pool) in pools where !kept.contains(ObjectIdentifier(pool)) && pool.settings.isIsolated {
            pools[key] = nil
            keep(pool)
            pool.retire()
        }
    }

    /// Keeps a retired pool that has calls or workers.
    func keep(_ pool: WorkerPool) { retired[ObjectIdentifier(pool)] = pool }

    /// Releases a retired pool without calls and workers. A request that found its function earlier may still reach it.
    func retiredPoolIsEmpty(_ pool: WorkerPool) {
        // Deferred, because the caller is a function of the pool.
        loop.endOfTurn { [self] in
            if pool.isGone { retired[ObjectIdentifier(pool)] = nil }
        }
    }

    private var allPools: [WorkerPool] { Array(pools.values) + Array(retired.values) }

    /// Sets the names of an artifact's functions, in the order of the manifest.
    package func setFunctionNames(_ names: [String], of artifact: Artifact) { functionNames[artifact.hash] = names }

    package func forgetFunctionNames(except kept: Set<String>) {
        functionNames = functionNames.filter { kept.contains($0.key) }
    }

    func functionName(of artifact: Artifact, index: UInt32) -> String? {
        guard let names = functionNames[artifact.hash], index < names.count else { return nil }
        return names[Int(index)]
    }

    /// Loads an artifact in a separate worker to read its manifest. The worker ends afterwards.
    package func probe(_ artifact: Artifact, settings: PoolSettings, completion: @escaping (Result<[UInt8], PluginRefusal>) -> Void) {
        launcher.probe(artifact, settings: settings, completion: completion)
    }

    /// Stops starting workers in advance.
    package func stopPrewarming() { launcher.stop() }

    /// Kills all worker processes at once. Their invocations get no answer.
    package func killWorkerProcesses() { launcher.killAll() }

    /// Starts the minimum of workers of each pool, and the prewarmed one.
    package func prepare() {
        for pool in pools.values { pool.prepare() }
        launcher.refillLater()
    }

    /// The working directory of an artifact's workers.
    func directory(for artifact: Artifact) -> String {
        let path = "\(workersDirectory)/\(artifact.folder)"
        mkdir(path, 0o700)
        return path
    }

    private func expire(now: UInt64) -> UInt64 {
        let next = pools.values.reduce(.max) { min($0, $1.expire(now: now)) }
        return retired.isEmpty ? next : Array(retired.values).reduce(next) { min($0, $1.expire(now: now)) }
    }

    private func lookForLife(now: UInt64) -> UInt64 {
        life.set(false)
        let busy = allPools.count { $0.lookForLife(now: now) }
        guard busy > 0 else { return .max }
        life.set(!loops.isEmpty)
        return now + LoopWatch.lookMilliseconds
    }

    /// Schedules checks of workers' event loops, because another loop has given a worker something to do.
    func watchLife() {
        life.set(true)
        lifeWatch.note(loop.nowMilliseconds + LoopWatch.lookMilliseconds)
    }

    private func shrink() {
        for pool in pools.values { pool.shrink(now: loop.nowMilliseconds) }
    }

    /// Whether no invocation runs or waits.
    package var isQuiet: Bool { allPools.allSatisfy { $0.openCount == 0 } }

    // MARK: Stopping

    /// Fails all waiting and running invocations.
    package func giveUp() {
        for pool in allPools { pool.giveUp() }
    }

    /// Lets invocations and then workers end, within `limits.drainMilliseconds`; afterwards kills the remaining workers.
    package func stop(completion: @escaping () -> Void) {
        stopCompletion = completion
        crashLog.becameIdle = { [unowned self] in poolDidShrink() }
        crashLog.stop()
        shrinkTimer = nil
        quota?.stop()
        systemFiles = nil
        launcher.stop()
        for pool in allPools { pool.stop() }
        stopTimer = Timer(loop: loop) { [unowned self] in
            for pool in allPools { pool.killAll() }
            launcher.killAll()
        }
        stopTimer?.start(afterMilliseconds: limits.drainMilliseconds)
        poolDidShrink()
    }

    /// Completes the stop if all workers have ended.
    func poolDidShrink() {
        guard stopCompletion != nil, launcher.isIdle, crashLog.isIdle, allPools.allSatisfy({ $0.workers.isEmpty }) else { return }
        let completion = stopCompletion
        stopCompletion = nil
        stopTimer = nil
        deadlines.stop()
        lifeWatch.stop()
        completion?()
    }
}

extension WorkerPool {
    /// Starts workers until there are `count`, within the pool's limits.
    package func warmUp(to count: Int) {
        while workers.count < count, startWorker() {}
    }

    /// The number of workers, including those that are starting or ending.
    package var instanceCount: Int { workers.count }

    /// Whether a worker is starting.
    package var isStarting: Bool { workers.contains { $0.state == .starting } }

    /// The number of running and waiting invocations.
    package var openCount: Int { queuedCount + workers.reduce(0) { $0 + $1.inFlight } }
}

extension WorkerPool {
    var figures: PoolFigures {
        var figures = PoolFigures(plugin: artifact.name, artifact: artifact.version)
        figures.waiting = queuedCount
        for worker in workers {
            if settings.isIsolated, worker.pid > 0 { figures.processes.append(worker.pid) }
            switch worker.state {
            case .starting: figures.starting += 1
            case .ready where worker.inFlight == 0: figures.idle += 1
            case .ready: figures.busy += 1
            case .draining: figures.draining += 1
            case .ended: break
            }
        }
        return figures
    }
}
