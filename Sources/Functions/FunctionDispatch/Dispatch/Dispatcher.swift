import EventLoop
import Files
import FunctionWorker
import Glibc
import HTTP
import Logging

/// Runs invocations: owns the pools, the processes and the clock that they are held to. Belongs to one loop, the host's
/// home loop; connections on other loops send their invocations here.
package final class Dispatcher {
    package let loop: EventLoop
    let limits: PoolLimits
    /// The budget for memory held for clients and plugins.
    let memory: MemoryBudget
    package let services = ServiceBroker()
    let functionLog: FunctionLog
    let log: Logger
    private(set) lazy var crashLog = CrashLog(loop: loop, functionLog: functionLog, executable: launch.executable)
    private(set) lazy var launcher = WorkerLauncher(dispatcher: self, launch: launch, keepsPrewarmed: keepsPrewarmed)
    private(set) lazy var deadlines = DeadlineWatch(loop: loop) { [unowned self] in expire(now: $0) }
    /// Looks at workers that have something to do, to see whether their loops turn.
    private(set) lazy var lifeWatch = DeadlineWatch(loop: loop) { [unowned self] in lookForLife(now: $0) }
    private let launch: WorkerLaunch
    private let keepsPrewarmed: Bool

    private struct PoolKey: Hashable {
        var hash: String
        var settings: PoolSettings
    }

    /// The traces of what the host itself begins, events above all.
    package var traces = TraceSource()
    /// What is counted of functions.
    package var figures = FunctionFigureBook()
    private var figuresOfPlugins: [String: PluginFigures] = [:]

    private var pools: [PoolKey: WorkerPool] = [:]
    /// Pools of versions that get no more calls, until what has begun in them is over.
    private var retired: [ObjectIdentifier: WorkerPool] = [:]
    private var functionNames: [String: [String]] = [:]
    package let workersDirectory: String
    private var shrinkTimer: Timer?
    private var quota: FolderQuota?
    private var systemFiles: SystemFileWatch?
    private var stopCompletion: (() -> Void)?
    private var stopTimer: Timer?

    /// - Parameters:
    ///   - executable: the program whose `worker` command a worker is.
    ///   - dataDirectory: workers get their working directories in it.
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
        let hostPID = getpid()
        let groups = ControlGroups.detect(hostPID: hostPID)
        groups.removeAbandoned(hasOwn: false)
        self.keepsPrewarmed = keepsPrewarmed
        let variables = WorkerLaunchVariables(
            hostPID: hostPID, openFiles: limits.openFiles, tasks: limits.tasks, folderBytes: limits.folderBytes,
            landlockVersion: WorkerSandbox.version, groups: groups)
        launch = WorkerLaunch(executable: executable, variables: variables, directory: workersDirectory)
        Self.tell(variables, isSandboxed: limits.isSandboxed, log)
        let shrinkTimer = Timer(loop: loop) { [unowned self] in shrink() }
        let interval = min(max(limits.idleMilliseconds / 4, 50), 10_000)
        shrinkTimer.start(afterMilliseconds: interval, repeatMilliseconds: interval)
        self.shrinkTimer = shrinkTimer
        if limits.isSandboxed { watchWorkers() }
    }

    /// Removes control groups of processes that have ended without removing them.
    package func removeAbandonedGroups() {
        EventLoop.offload { [groups = launch.variables.groups] in groups.removeAbandoned(hasOwn: true) }
    }

    /// Starts the watches that sandboxed workers need: folder sizes and system files.
    private func watchWorkers() {
        quota = FolderQuota(loop: loop, bytesMax: limits.folderBytes) { [unowned self] in
            let isolated = Dictionary(grouping: allPools.filter { $0.settings.isIsolated && !$0.workers.isEmpty }) { $0.artifact.folder }
            return isolated.map { .init(folder: "\(workersDirectory)/\($0.key)", workers: $0.value.flatMap { $0.workers.map(\.pid) }) }
        } exceeded: { [unowned self] in
            emptyFolder($0)
        }
        do throws(LoopError) {
            systemFiles = try SystemFileWatch(loop: loop) { [unowned self] in
                log.notice("a setting of the system was replaced: so are the workers, which can read the former one only")
                for pool in pools.values { pool.replaceWorkers() }
            }
        } catch {
            log.notice("settings of the system are not watched: workers that run do not see new ones", metadata: ["reason": "\(error)"])
        }
    }

    /// Ends the workers that stand in a folder which holds too much, and gives those that follow an empty one.
    private func emptyFolder(_ folder: String) {
        let reason = "its folder holds more than \(limits.folderBytes) bytes (workers.folderBytes), and is emptied"
        for pool in allPools where folder == "\(workersDirectory)/\(pool.artifact.folder)" { pool.killWorkers(reason: reason) }
        // Rename first, so that no worker finds it; the next sweep removes leftovers.
        let former = "\(workersDirectory)/.full-\(loop.nowNanoseconds)"
        guard rename(folder, former) == 0 else { return }
        mkdir(folder, 0o700)
        loop.offload { FileTree.remove(former) } then: {}
    }

    /// Says what keeps workers within their bounds on this machine, and what does not.
    private static func tell(_ variables: WorkerLaunchVariables, isSandboxed: Bool, _ log: Logger) {
        let groups = variables.groups
        log.info("workers are limited", metadata: ["by": "\(groups.description)"])
        var missing = isSandboxed ? WorkerSandbox.missing(version: variables.landlockVersion) : []
        if groups.folders[.memory] == nil { missing.append("each process of a worker may take the memory that the worker may take") }
        if groups.folders[.tasks] == nil { missing.append("the processes of one worker are not counted on their own") }
        if !isSandboxed { missing.append("`workers.sandbox` is false, so that workers may do all that the host's user may") }
        guard !missing.isEmpty else { return }
        let level: Logger.Level = variables.landlockVersion == 0 || !isSandboxed ? .warning : .notice
        log.log(level: level, "workers are confined less than they could be", metadata: ["because": "\(missing.joined(separator: "; "))"])
    }

    /// The pool for functions of `artifact` that need `settings`, made at the first call.
    package func pool(for artifact: Artifact, settings: PoolSettings) -> WorkerPool {
        // What runs inside the host is loaded once, whatever is asked of it later.
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

    /// What is counted of the instances of a plugin.
    func figures(ofPlugin name: String) -> PluginFigures {
        if let known = figuresOfPlugins[name] { return known }
        let new = PluginFigures(plugin: name)
        figuresOfPlugins[name] = new
        return new
    }

    /// The figures of every plugin that had instances, in order.
    package var pluginFigures: [PluginFigures] { figuresOfPlugins.values.sorted { $0.plugin < $1.plugin } }

    /// What the pools are doing, those of one artifact together.
    package var poolFigures: [PoolFigures] {
        var byArtifact: [String: PoolFigures] = [:]
        for pool in allPools { byArtifact["\(pool.artifact.name) \(pool.artifact.hash)", default: pool.figures.empty].merge(pool.figures) }
        return byArtifact.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Lets go of every pool but these: what has begun in them ends, then their workers, then they are gone.
    package func retireAll(except kept: Set<ObjectIdentifier>) {
        for (key, pool) in pools where !kept.contains(ObjectIdentifier(pool)) && pool.settings.isIsolated {
            pools[key] = nil
            keep(pool)
            pool.retire()
        }
    }

    /// A retired pool has work, or workers.
    func keep(_ pool: WorkerPool) { retired[ObjectIdentifier(pool)] = pool }

    /// A retired pool has neither. It may still be asked by a request that found its function long ago.
    func retiredPoolIsEmpty(_ pool: WorkerPool) {
        // Not within the call that led here, which is one of the pool's own.
        loop.endOfTurn { [self] in
            if pool.isGone { retired[ObjectIdentifier(pool)] = nil }
        }
    }

    private var allPools: [WorkerPool] { Array(pools.values) + Array(retired.values) }

    /// Remembers what an artifact's functions are called, in the manifest's order.
    package func setFunctionNames(_ names: [String], of artifact: Artifact) { functionNames[artifact.hash] = names }

    package func forgetFunctionNames(except kept: Set<String>) {
        functionNames = functionNames.filter { kept.contains($0.key) }
    }

    func functionName(of artifact: Artifact, index: UInt32) -> String? {
        guard let names = functionNames[artifact.hash], index < names.count else { return nil }
        return names[Int(index)]
    }

    /// Loads an artifact in a worker of its own, to ask for its manifest; the worker ends with the answer.
    package func probe(_ artifact: Artifact, settings: PoolSettings, completion: @escaping (Result<[UInt8], PluginRefusal>) -> Void) {
        launcher.probe(artifact, settings: settings, completion: completion)
    }

    /// Starts no more workers ahead of their use.
    package func stopPrewarming() { launcher.stop() }

    /// Kills every worker process at once, without answers to what they run.
    package func killWorkerProcesses() { launcher.killAll() }

    /// Starts the workers that functions want to have at all times, and the prewarmed one.
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
        let busy = allPools.count { $0.lookForLife(now: now) }
        return busy > 0 ? now + LoopWatch.lookMilliseconds : .max
    }

    private func shrink() {
        for pool in pools.values { pool.shrink(now: loop.nowMilliseconds) }
    }

    /// Whether nothing runs and nothing waits.
    package var isQuiet: Bool { allPools.allSatisfy { $0.openCount == 0 } }

    // MARK: Stopping

    /// Answers everything that is still open in the functions' place.
    package func giveUp() {
        for pool in allPools { pool.giveUp() }
    }

    /// Lets invocations end, then the workers, for as long as `limits.drainMilliseconds`; then ends what is left.
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

    /// A worker has ended; the last one ends the stop.
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
    /// Starts workers until there are so many, as far as the pool may have them.
    package func warmUp(to count: Int) {
        while workers.count < count, startWorker() {}
    }

    /// How many workers it has, those included that start or end.
    package var instanceCount: Int { workers.count }

    /// Whether a worker is on its way.
    package var isStarting: Bool { workers.contains { $0.state == .starting } }

    /// Invocations that run or wait.
    package var openCount: Int { queuedCount + workers.reduce(0) { $0 + $1.inFlight } }
}

extension WorkerPool {
    var figures: PoolFigures {
        var figures = PoolFigures(plugin: artifact.name, artifact: artifact.version)
        figures.waiting = queuedCount
        for worker in workers {
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
