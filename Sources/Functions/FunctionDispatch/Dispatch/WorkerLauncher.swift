import EventLoop
import FunctionWorker
import Glibc
import Logging

/// Starts workers. Keeps one process started in advance, so that the next worker only has to load its plugin.
final class WorkerLauncher {
    private unowned let dispatcher: Dispatcher
    private let launch: WorkerLaunch
    private let keepsPrewarmed: Bool
    private var prewarmed: WorkerChild?
    private var refill: Timer?
    private var isRefilling = false
    private var isStopped = false
    private lazy var cleanup = CleanupProcess(loop: dispatcher.loop, executable: launch.executable, log: dispatcher.log)
    /// All running processes, including the prewarmed one. Each must be reaped before the host ends.
    private var children: [ObjectIdentifier: WorkerChild] = [:]
    /// Whether no process is running or being started.
    var isIdle: Bool { children.isEmpty && !isRefilling }

    init(dispatcher: Dispatcher, launch: WorkerLaunch, keepsPrewarmed: Bool) {
        self.dispatcher = dispatcher
        self.launch = launch
        self.keepsPrewarmed = keepsPrewarmed
    }

    /// Starts a worker for a pool, and notifies the pool when it is ready.
    ///
    /// - Throws: `PluginRefusal` if no process can be started, or if the plugin cannot be loaded into the host.
    func start(
        _ artifact: Artifact, settings: PoolSettings, pool: WorkerPool, isDebugged: Bool = false
    ) throws(PluginRefusal) -> Worker {
        guard settings.isIsolated else {
            return try InProcessWorker(artifact: artifact, settings: settings, dispatcher: dispatcher, pool: pool)
        }
        let child: WorkerChild
        do throws(LoopError) { child = try takeChild() } catch { throw PluginRefusal("\(error)") }
        let worker = ProcessWorker(
            artifact: artifact, child: child, settings: settings, dispatcher: dispatcher, isDebugged: isDebugged
        ) { worker, result in
            if case .success = result { worker.pool?.workerIsReady(worker) }
        }
        worker.pool = pool
        return worker
    }

    /// Loads an artifact in a separate worker to read its manifest. The worker ends afterwards.
    func probe(_ artifact: Artifact, settings: PoolSettings, completion: @escaping (Result<[UInt8], PluginRefusal>) -> Void) {
        do throws(LoopError) {
            let child = try takeChild()
            _ = ProcessWorker(artifact: artifact, child: child, settings: settings, dispatcher: dispatcher) { worker, result in
                if case .success = result { worker.drain() }
                completion(result)
            }
        } catch {
            completion(.failure(PluginRefusal("\(artifact.displayName): cannot be probed: \(error)")))
        }
    }

    private func takeChild() throws(LoopError) -> WorkerChild {
        defer { refillLater() }
        let child = prewarmed
        prewarmed = nil
        if let child, !child.isDeaf { return child }
        let page = try WorkerPage()
        return adopt(try ChildProcess(loop: dispatcher.loop, launch.command(page)), page)
    }

    private func adopt(_ process: ChildProcess, _ page: WorkerPage) -> WorkerChild {
        cleanup.workerDidStart(process.pid)
        let child = WorkerChild(process, page: page, loop: dispatcher.loop, launch: launch) { [unowned self] in
            cleanup.workerDidEnd($0.pid)
        } onEnd: { [unowned self] in
            didEnd($0)
        }
        children[ObjectIdentifier(child)] = child
        return child
    }

    private func didEnd(_ child: WorkerChild) {
        children[ObjectIdentifier(child)] = nil
        if prewarmed === child {
            prewarmed = nil
            refillLater()
        }
        dispatcher.poolDidShrink()
    }

    /// Starts the next prewarmed process soon, after more urgent work.
    func refillLater() {
        guard keepsPrewarmed, prewarmed == nil, refill == nil, !isRefilling, !isStopped else { return }
        refill = Timer(loop: dispatcher.loop) { [unowned self] in
            refill = nil
            guard !isStopped else { return }
            isRefilling = true
            startAhead()
        }
        refill?.start(afterMilliseconds: 20)
    }

    /// Starts a process in the background, so that calls are not delayed.
    private func startAhead() {
        do throws(LoopError) {
            let page = try WorkerPage()
            ChildProcess.start(loop: dispatcher.loop, launch.command(page)) { [unowned self] result in
                didRefill(result.map { adopt($0, page) })
            }
        } catch {
            didRefill(.failure(error))
        }
    }

    private func didRefill(_ result: Result<WorkerChild, LoopError>) {
        isRefilling = false
        switch result {
        case .success(let child):
            prewarmed = child
            if isStopped { child.kill() }
        case .failure(let error):
            dispatcher.log.warning("no prewarmed worker could be started", metadata: ["reason": "\(error)"])
            dispatcher.poolDidShrink()
        }
    }

    /// Stops starting processes, and ends the prewarmed one.
    func stop() {
        isStopped = true
        refill = nil
        prewarmed?.kill()
    }

    /// Kills all remaining processes.
    func killAll() {
        for child in children.values { child.kill() }
    }
}
