import Configuration
import EventLoop
import Files
import FunctionDispatch
import FunctionWorker
import Logging

/// Changes what a host runs: one deployment after the other, each as a whole or not at all. Belongs to the home loop.
///
/// A deployment goes like this: libraries are admitted and describe themselves in a probe worker; the plan is made; the workers of
/// new versions are started; `deployed.json` is replaced; every loop and the triggers learn of it in one act; what ran before
/// drains. Until the file is replaced nothing has changed.
package final class Deployer {
    /// What the host's own `functions.json` said last.
    package var configuration: Configuration
    let dispatcher: Dispatcher
    let store: ArtifactStore
    package let uploads: ArtifactUploads
    let manifests: ManifestLibrary
    package let live: LiveFunctions
    let leases: ArtifactLeases
    let turns = DiskTurns()
    let log: Logger
    /// Gets the lines of local deployments, where another log than `log` does.
    package var localLog: Logger?
    private let file: DeployedFile

    /// Where libraries are kept.
    package struct Directories {
        /// The host's own copies.
        var artifacts: String
        /// Libraries that are being sent.
        var uploads: String

        package init(artifacts: String, uploads: String) {
            self.artifacts = artifacts
            self.uploads = uploads
        }
    }

    /// What runs, as `deployed.json` has it.
    package private(set) var state: DeployedState
    /// Why functions of the state are not served.
    package private(set) var problems: [String: PluginRefusal] = [:]
    /// Plugins of `functions.json` that could not be loaded, with a sentence for each.
    package var leftOut: [String: [PluginRefusal]] = [:]
    /// Whether what was deployed has been brought back.
    package private(set) var isStarted = false
    /// Whether nothing more is taken.
    package private(set) var isStopped = false
    /// Whether another process uses libraries and folders, too, so that none is removed.
    package var isSharing = false {
        didSet { if oldValue, !isSharing { sweepLater() } }
    }

    /// Host and port at which plugins reach the host.
    package var address = ""
    /// Lets every loop and the triggers know; the completion is called once every loop does.
    package var publish: (Publication, @escaping () -> Void) -> Void = { $1() }

    private var waiting: [(@escaping () -> Void) -> Void] = []
    private var isBusy = false
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
        // What is held ends on any loop, and outlives the host's last word.
        let reference = LoopBound(DeployerReference(), loop: dispatcher.loop)
        leases = ArtifactLeases(store: store) { [loop = dispatcher.loop] in
            loop.post { reference.value.deployer?.sweepLater() }
        }
        manifests = ManifestLibrary(dispatcher: dispatcher, store: store)
        live = LiveFunctions(dispatcher: dispatcher, leases: leases)
        reference.value.deployer = self
    }

    var resolver: VersionResolver { VersionResolver(configuration: configuration, address: address) }

    /// Takes no more deployments.
    package func stop() { isStopped = true }

    // MARK: One after the other

    /// Runs an act when those before it are over; it calls what it is given at its end.
    package func perform(_ act: @escaping (@escaping () -> Void) -> Void) {
        waiting.append(act)
        goOn()
    }

    private func goOn() {
        guard !isBusy, !waiting.isEmpty else { return }
        isBusy = true
        let act = waiting.removeFirst()
        act { [self] in
            isBusy = false
            // Acts that end at once must not run on the stack of each other.
            loop.endOfTurn { [self] in goOn() }
        }
    }

    // MARK: Starting

    /// Brings back what is deployed.
    ///
    /// - Parameter completion: called once it is reachable; ``problems`` has what could not be brought back.
    package func start(completion: @escaping () -> Void) {
        perform { [self] done in
            let (known, wanted) = (state, stateWithoutForgotten)
            workOut(wanted, known: [:]) { [self] prepared, problems in
                self.problems = problems
                show(wanted, prepared) { [self] in
                    isStarted = true
                    dispatcher.prepare()
                    sweep { done() }
                    completion()
                }
                state = known
            }
        }
    }

    /// What is deployed, without what the local deployment is about to delete: no event may begin in it.
    private var stateWithoutForgotten: DeployedState {
        var wanted = state
        for (plugin, sight) in state.local where !configuration.plugins.contains(where: { $0.name == plugin }) {
            for function in sight.functions where state.plugin(of: function) == plugin { wanted.functions[function] = nil }
        }
        return wanted
    }

    // MARK: Steps

    /// Resolves and makes pools for the versions of a state that get calls and do not run yet.
    ///
    /// - Parameter known: those that were resolved already.
    func workOut(
        _ state: DeployedState, known: [FunctionVersion.Key: ResolvedFunction],
        completion: @escaping (LiveFunctions.Prepared, [String: PluginRefusal]) -> Void
    ) {
        var resolved: [ResolvedFunction] = []
        var missing: [(name: String, version: FunctionVersion)] = []
        for (name, function) in state.functions {
            for version in function.current where !live.mustWait(version) {
                let key = FunctionVersion.Key(function: name, number: version.number)
                if let known = known[key] { resolved.append(known) } else if live[key] == nil { missing.append((name, version)) }
            }
        }
        resolve(missing) { [self] found, refusals in
            completion(live.prepare(resolved + found), refusals)
        }
    }

    /// Works out versions that were deployed before.
    private func resolve(
        _ versions: [(name: String, version: FunctionVersion)],
        completion: @escaping ([ResolvedFunction], [String: PluginRefusal]) -> Void
    ) {
        guard !versions.isEmpty else { return completion([], [:]) }
        var known: [String: Result<PluginManifest, PluginRefusal>] = [:]
        let needed = Dictionary(versions.map { ($0.version.artifact, $0.version) }) { first, _ in first }
        let countdown = Countdown(needed.count) { [self] in
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
            loop.offload { [resolver, candidates] in resolver.resolve(candidates) } then: { outcome in
                completion(outcome.functions, refusals.merging(outcome.refusals) { $1 })
            }
        }
        let store = store
        for (hash, version) in needed {
            let artifact = leases.artifact(plugin: version.plugin, hash: hash, file: version.file)
            loop.offload { store.contains(hash) } then: { [self] isThere in
                guard isThere else {
                    known[hash] = .failure(
                        PluginRefusal("\(version.file): its library \(hash).so is gone from \(store.directory); deploy it again"))
                    // Writes go on raising the events of its functions.
                    return manifests.read(artifact) { countdown.hit() }
                }
                manifests.manifest(of: artifact) { result in
                    known[hash] = result
                    countdown.hit()
                }
            }
        }
    }

    /// Makes a state the one that runs.
    private func show(_ state: DeployedState, _ prepared: LiveFunctions.Prepared, completion: @escaping () -> Void) {
        var traffic: [String: [(number: Int, percent: Int)]] = [:]
        let running = Dictionary(live.functions.map { ($0.name, $0) }) { $1 }
        for (name, function) in state.functions {
            if function.current.contains(where: live.mustWait) {
                // What runs inside the host goes on until the host starts again.
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
        publish(publication) { [self] in
            live.retireOthers()
            completion()
        }
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
            } else if case .event(let event)? = manifests.known(main.artifact)?.functions.first(where: { $0.name == name })?.trigger {
                triggers[name] = event
            }
        }
        return triggers
    }

    /// Whether the plugins of `functions.json` have been looked at.
    package var isLocalKnown = false {
        didSet { if isLocalKnown != oldValue { publish(publication) {} } }
    }

    /// Carries out a plan.
    ///
    /// - Parameters:
    ///   - origin: what the history says.
    ///   - renewed: versions that run and get new workers all the same.
    ///   - completion: gets the functions that are to blame, too, where their workers do not come up.
    func commit(
        _ plan: DeploymentPlan, as origin: String, renewed: [ResolvedFunction] = [],
        completion: @escaping (Result<DeploymentResult, DeploymentFailure>, [String: PluginRefusal]) -> Void
    ) {
        var plan = plan
        let number = plan.conclude(origin: origin)
        var result = DeploymentResult(deployment: number, revision: plan.target.revision, changes: plan.changes)
        // Functions that failed to load at start are tried again: the library may be there now.
        guard plan.target != state || !renewed.isEmpty || !problems.isEmpty else { return completion(.success(result), [:]) }
        let target = plan.target
        var clock = LapTimer()
        let known = Dictionary((renewed + plan.created).map { ($0.key, $0) }) { $1 }
        workOut(target, known: known) { [self] prepared, refusals in
            // What could not be brought back at start is nobody's fault now.
            let blamed = refusals.filter { problems[$0.key] == nil }
            guard blamed.isEmpty else { return abandon(blamed, completion) }
            live.warm(prepared) { [self] failures in
                guard failures.isEmpty else { return abandon(failures, completion) }
                result.durations.prepare = clock.lap()
                let isSame = target == state
                loop.offload { [file] in isSame ? nil : file.result(of: target) } then: { [self] failure in
                    if let failure {
                        live.retireOthers()
                        return completion(.failure(DeploymentFailure(.unavailable, "\(file.path) \(failure); nothing was changed")), [:])
                    }
                    result.durations.write = clock.lap()
                    show(target, prepared) { [self] in
                        result.durations.publish = clock.lap()
                        tell(plan, number, origin)
                        completion(.success(result), [:])
                        sweepLater()
                    }
                }
            }
        }
    }

    private func abandon(
        _ failures: [String: PluginRefusal],
        _ completion: (Result<DeploymentResult, DeploymentFailure>, [String: PluginRefusal]) -> Void
    ) {
        live.retireOthers()
        let refusals = failures.sorted { $0.key < $1.key }.map(\.value)
        completion(.failure(DeploymentFailure(refusals: refusals)), failures)
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

    // MARK: Sweeping

    /// Sweeps when nothing else is to be done.
    func sweepLater() {
        guard !isStopped, !isSweepPlanned else { return }
        isSweepPlanned = true
        perform { [self] done in
            isSweepPlanned = false
            sweep(completion: done)
        }
    }

    /// Removes libraries that no version names and folders that no worker stands in.
    private func sweep(completion: @escaping () -> Void) {
        if isSharing { return completion() }
        turns.sweep { [self] done in
            let (hashes, folders) = leases.inUse
            let named = state.artifacts
            let kept = named.union(hashes)
            manifests.forget(except: kept)
            let (store, uploads, workers) = (store, uploads, dispatcher.workersDirectory)
            loop.offload {
                store.removeAll(except: kept)
                uploads.removeOld(deployed: named)
                for name in Folder.names(in: workers) where !folders.contains(name) { FileTree.remove("\(workers)/\(name)") }
            } then: {
                done()
                completion()
            }
        }
    }
}

/// What is made after those who need it.
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
    /// For a log.
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
