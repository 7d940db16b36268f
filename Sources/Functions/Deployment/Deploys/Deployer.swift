import AdminProtocol
import Configuration
import EventLoop
import Files
import FunctionDispatch
import FunctionWorker
import Logging

/// Changes the deployed functions: one deployment after the other, each completely or not at all. Belongs to the home loop.
///
/// Steps of a deployment:
/// 1. Copy each library into the store, load it in a probe worker and read its manifest (``LocalDeployment``, ``RemoteDeployment``).
/// 2. Make the plan (``DeploymentPlan``).
/// 3. Start the workers of new versions.
/// 4. Replace `deployed.json`. This is the commit point: a failure before it changes nothing.
/// 5. Publish the functions to all loops and to the triggers.
/// 6. Drain the old workers.
package final class Deployer {
    /// The host's own `functions.json`, as it was last read.
    package var configuration: Configuration
    let dispatcher: Dispatcher
    let store: ArtifactStore
    package let uploads: ArtifactUploads
    let manifests: ManifestLibrary
    package let live: LiveFunctions
    let leases: ArtifactLeases
    /// The turns of deployments, one after the other.
    let turns = LoopTurns()
    /// The turns of the store: libraries are added concurrently, and removed exclusively.
    let storeTurns = LoopTurns()
    let log: Logger
    /// The log for the lines of local deployments, if it is not `log`.
    package var localLog: Logger?
    private let file: DeployedFile

    /// The folders with libraries.
    package struct Directories {
        /// The host's own copies.
        var artifacts: String
        /// Libraries that are being uploaded.
        var uploads: String

        package init(artifacts: String, uploads: String) {
            self.artifacts = artifacts
            self.uploads = uploads
        }
    }

    /// The deployed state, as in `deployed.json`.
    package private(set) var state: DeployedState
    /// The reasons why functions of the state are not served.
    package private(set) var problems: [String: PluginRefusal] = [:]
    /// Plugins of `functions.json` that could not be loaded, with a sentence for each.
    package var leftOut: [String: [PluginRefusal]] = [:]
    /// Whether the deployed functions have been restored.
    package private(set) var isStarted = false
    /// Whether no more deployments are accepted.
    package private(set) var isStopped = false
    /// Whether another process also uses the libraries and folders, so that none may be removed.
    package var isSharing = false {
        didSet { if oldValue, !isSharing { sweepLater() } }
    }

    /// Host and port at which plugins reach the host.
    package var address = ""
    /// Publishes functions to the triggers and to every loop; returns when every loop knows them.
    package var publish: (Publication) async -> Void = { _ in }

    private var isSweepPlanned = false

    package var loop: EventLoop { dispatcher.loop }

    package init(
        _ configuration: Configuration, state: DeployedState, file: DeployedFile, directories: Directories, dispatcher: Dispatcher, log: Logger
    ) {
        self.configuration = configuration
        self.state = state
        self.file = file
        self.dispatcher = dispatcher
        self.log = log
        store = ArtifactStore(directory: directories.artifacts)
        uploads = ArtifactUploads(directory: directories.uploads, store: store)
        // Leases end on any loop, and may outlive the host.
        let reference = LoopBound(DeployerReference(), loop: dispatcher.loop)
        leases = ArtifactLeases(store: store) { [loop = dispatcher.loop] in
            loop.post { reference.value.deployer?.sweepLater() }
        }
        manifests = ManifestLibrary(dispatcher: dispatcher, store: store)
        live = LiveFunctions(dispatcher: dispatcher, leases: leases)
        reference.value.deployer = self
    }

    var resolver: VersionResolver { VersionResolver(configuration: configuration, address: address) }

    /// Accepts no more deployments.
    package func stop() { isStopped = true }

    /// Runs `act` after the current deployments. Later deployments wait for its end.
    package func inTurn<Answer>(_ act: () async -> Answer) async -> Answer { await turns.alone(act) }

    // MARK: Starting

    /// Restores the deployed functions. ``problems`` has those that could not be restored.
    package func start() async {
        await turns.alone {
            let (known, wanted) = (state, stateWithoutForgotten)
            let (prepared, problems) = await workOut(wanted, known: [:])
            self.problems = problems
            let publication = install(wanted, prepared)
            state = known
            await publish(publication)
            live.retireOthers()
            isStarted = true
            dispatcher.prepare()
            sweepLater()
        }
    }

    /// The deployed state without the functions that the local deployment is about to delete, so that no event starts them.
    private var stateWithoutForgotten: DeployedState {
        var wanted = state
        for (plugin, sight) in state.local where !configuration.plugins.contains(where: { $0.name == plugin }) {
            for function in sight.functions where state.plugin(of: function) == plugin { wanted.functions[function] = nil }
        }
        return wanted
    }

    // MARK: Steps

    /// Resolves the versions of a state that get calls but do not run yet, and creates pools for them.
    ///
    /// - Parameter known: versions that are already resolved.
    private func workOut(
        _ state: DeployedState, known: [FunctionVersion.Key: ResolvedFunction]
    ) async -> (LiveFunctions.Prepared, [String: PluginRefusal]) {
        var resolved: [ResolvedFunction] = []
        var missing: [(name: String, version: FunctionVersion)] = []
        for (name, function) in state.functions {
            for version in function.current where !live.mustWait(version) {
                let key = FunctionVersion.Key(function: name, number: version.number)
                if let known = known[key] { resolved.append(known) } else if live[key] == nil { missing.append((name, version)) }
            }
        }
        let (found, refusals) = await resolve(missing)
        return (live.prepare(resolved + found), refusals)
    }

    /// Resolves versions from the record.
    private func resolve(
        _ versions: [(name: String, version: FunctionVersion)]
    ) async -> ([ResolvedFunction], [String: PluginRefusal]) {
        guard !versions.isEmpty else { return ([], [:]) }
        let needed = Dictionary(versions.map { ($0.version.artifact, $0.version) }) { first, _ in first }
        var known: [String: Result<PluginManifest, PluginRefusal>] = [:]
        _ = await loop.concurrently(Array(needed.values)) { [self] version in
            do throws(PluginRefusal) {
                known[version.artifact] = .success(try await manifest(ofDeployed: version))
            } catch {
                known[version.artifact] = .failure(error)
            }
        }
        var candidates: [VersionResolver.Candidate] = []
        var refusals: [String: PluginRefusal] = [:]
        for (name, version) in versions {
            switch known[version.artifact] {
            case .success(let manifest)? where manifest.functions.contains(where: { $0.name == name }):
                candidates.append(VersionResolver.Candidate(name: name, version: version, manifest: manifest))
            case .failure(let refusal)?: refusals[name] = refusal
            default: refusals[name] = PluginRefusal("\(version.file): has no function \(name), although version \(version.number) of it is one")
            }
        }
        let outcome = await loop.offload { [resolver, candidates] in resolver.resolve(candidates) }
        return (outcome.functions, refusals.merging(outcome.refusals) { $1 })
    }

    private func manifest(ofDeployed version: FunctionVersion) async throws(PluginRefusal) -> PluginManifest {
        let artifact = leases.artifact(plugin: version.plugin, hash: version.artifact, file: version.file)
        guard await loop.offload({ [store] in store.contains(version.artifact) }) else {
            // Writes still raise the events of its functions.
            await manifests.read(artifact)
            throw PluginRefusal("\(version.file): its library \(version.artifact).so is gone from \(store.directory); deploy it again")
        }
        return try await manifests.manifest(of: artifact)
    }

    /// Makes a state the running one.
    ///
    /// - Returns: the functions to publish.
    private func install(_ state: DeployedState, _ prepared: LiveFunctions.Prepared) -> Publication {
        var traffic: [String: [(number: Int, percent: Int)]] = [:]
        let running = Dictionary(live.functions.map { ($0.name, $0) }) { $1 }
        for (name, function) in state.functions {
            if function.current.contains(where: live.mustWait) {
                // A plugin inside the host cannot be replaced until the host restarts.
                if let old = running[name] { traffic[name] = [(old.version, 100)] }
            } else {
                traffic[name] = function.current.map { ($0.number, function.traffic[$0.number] ?? 0) }
            }
        }
        let (versions, functions) = live.assemble(prepared, traffic: traffic)
        self.state = state
        for function in functions where problems.removeValue(forKey: function.name) != nil && isStarted {
            log.notice("function served again", metadata: ["function": "\(function.name)", "version": "\(function.version)"])
        }
        problems = problems.filter { state.functions[$0.key] != nil }
        live.didPublish(versions, functions)
        return publication
    }

    private var publication: Publication {
        Publication(
            functions: live.functions, waitingTriggers: waitingTriggers, isComplete: problems.isEmpty && leftOut.isEmpty && isLocalKnown)
    }

    /// The triggers of deployed functions that cannot run now, by function name.
    private var waitingTriggers: [String: EventTrigger] {
        let served = Set(live.functions.map(\.name))
        var triggers: [String: EventTrigger] = [:]
        for (name, function) in state.functions where !served.contains(name) {
            guard let main = function.main else { continue }
            if let event = main.event {
                triggers[name] = event
            } else {
                switch manifests.known(main.artifact)?.functions.first(where: { $0.name == name })?.trigger {
                case .event(let event): triggers[name] = event
                case .blocking(let blocking): triggers[name] = blocking.stored
                case .schedule(let schedule): triggers[name] = schedule.stored
                case .task(let queue): triggers[name] = queue.stored
                default: break
                }
            }
        }
        return triggers
    }

    /// Whether the plugins of `functions.json` have been loaded or refused.
    package private(set) var isLocalKnown = false

    /// Publishes that the plugins of `functions.json` have been loaded or refused. Returns when all loops know it.
    package func localIsKnown() async {
        guard !isLocalKnown else { return }
        isLocalKnown = true
        await publish(publication)
    }

    /// Carries out a plan. To be called in a turn of ``turns``.
    ///
    /// - Parameters:
    ///   - origin: the origin in the history.
    ///   - renewed: running versions that get new workers.
    /// - Throws: `DeploymentFailure`, with the functions whose workers do not start. Then nothing has changed.
    func commit(
        _ plan: DeploymentPlan, as origin: String, renewed: [ResolvedFunction] = []
    ) async throws(DeploymentFailure) -> DeploymentResult {
        var plan = plan
        let number = plan.conclude(origin: origin)
        let target = plan.target
        var result = DeploymentResult(deployment: number, revision: target.revision, changes: plan.changes)
        // Functions that failed to load at the start are tried again, because the library may exist now.
        guard target != state || !renewed.isEmpty || !problems.isEmpty else { return result }
        var clock = LapTimer()
        let prepared = try await workersUp(target, known: Dictionary((renewed + plan.created).map { ($0.key, $0) }) { $1 })
        result.durations.prepare = clock.lap()
        try await write(target)
        result.durations.write = clock.lap()
        await publish(install(target, prepared))
        live.retireOthers()
        result.durations.publish = clock.lap()
        tell(plan, number, origin)
        sweepLater()
        return result
    }

    /// Starts the workers of new versions.
    private func workersUp(
        _ target: DeployedState, known: [FunctionVersion.Key: ResolvedFunction]
    ) async throws(DeploymentFailure) -> LiveFunctions.Prepared {
        let (prepared, refusals) = await workOut(target, known: known)
        // Functions that could not be restored at the start do not fail the deployment.
        var failures = refusals.filter { problems[$0.key] == nil }
        if failures.isEmpty { failures = await live.warm(prepared) }
        guard failures.isEmpty else {
            live.retireOthers()
            throw DeploymentFailure(blamed: failures)
        }
        return prepared
    }

    /// Replaces `deployed.json`, if the state has changed.
    private func write(_ target: DeployedState) async throws(DeploymentFailure) {
        guard target != state else { return }
        do throws(FileFailure) {
            try await loop.offload { [file] () throws(FileFailure) in try file.write(target) }
        } catch {
            live.retireOthers()
            throw DeploymentFailure(.unavailable, "\(file.path) \(error); nothing was changed")
        }
    }

    /// Logs one line for the deployment, and at the level `debug` one for each function.
    private func tell(_ plan: DeploymentPlan, _ number: Int?, _ origin: String) {
        let changes = plan.changes.filter(\.isChange)
        guard let first = changes.first else { return }
        var common: Logger.Metadata = ["origin": "\(origin)"]
        if let number { common["deployment"] = "\(number)" }
        func metadata(of change: FunctionChange) -> Logger.Metadata {
            var own: Logger.Metadata = ["function": "\(change.function)", "plugin": "\(change.plugin)", "reason": "\(change.reason)"]
            if let version = change.toVersion { own["version"] = "\(version)" }
            return own.merging(common) { $1 }
        }
        let isOne = changes.count == 1
        let log = origin == "local" ? localLog ?? log : log
        log.info("deployed: \(FunctionChange.summary(of: changes))", metadata: isOne ? metadata(of: first) : common)
        for change in changes where !isOne {
            log.debug("function \(change.action.past)", metadata: metadata(of: change))
        }
    }

    // MARK: Cleanup

    /// Cleans up after the waiting deployments.
    func sweepLater() {
        guard !isStopped, !isSweepPlanned else { return }
        isSweepPlanned = true
        loop.task { [self] in
            await turns.alone {
                isSweepPlanned = false
                await sweep()
            }
        }
    }

    /// Removes libraries that no version uses, and folders that no worker uses.
    private func sweep() async {
        if isSharing { return }
        await storeTurns.alone {
            let (hashes, folders) = leases.inUse
            let named = state.artifacts
            let kept = named.union(hashes)
            manifests.forget(except: kept)
            await loop.offload { [store, uploads, workers = dispatcher.workersDirectory] in
                store.removeAll(except: kept)
                uploads.removeOld(deployed: named)
                for name in Folder.names(in: workers) where !folders.contains(name) { FileTree.remove("\(workers)/\(name)") }
            }
        }
    }
}

/// A reference to the deployer, for parts that are created before it.
private final class DeployerReference {
    weak var deployer: Deployer?
}

extension FunctionChange {
    /// `created addMessage; updated increment to version 3, makeUppercase to version 2`.
    static func summary(of changes: [FunctionChange], countMax: Int = 20) -> String {
        let shown = changes.prefix(countMax)
        var parts = [Action.create, .update, .delete].compactMap { action -> String? in
            let names = shown.filter { $0.action == action }.map { change in
                action == .update ? "\(change.function) to version \(change.toVersion ?? 0)" : change.function
            }
            return names.isEmpty ? nil : "\(action.past) \(names.joined(separator: ", "))"
        }
        if changes.count > countMax { parts.append("and \(changes.count - countMax) more functions") }
        return parts.joined(separator: "; ")
    }
}

extension FunctionChange.Action {
    /// The metadata for the log.
    fileprivate var past: String {
        switch self {
        case .create: "created"
        case .update: "updated"
        case .delete: "deleted"
        case .unchanged: "unchanged"
        case .keep: "kept"
        }
    }
}
