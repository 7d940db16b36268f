import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker
import HearthJSON
import Logging

/// A deployment over the administration: all of its plugins or nothing. Belongs to the home loop.
package final class RemoteDeployment {
    package typealias Answer = Result<DeploymentResult, DeploymentFailure>

    private let deployer: Deployer
    private let request: DeploymentRequest
    private let completion: (Answer) -> Void
    private var artifacts: [String: Artifact] = [:]
    private var manifests: [String: PluginManifest] = [:]
    private var refusals: [PluginRefusal] = []
    private var absent: [String] = []
    private var clock = LapTimer()
    private var loadMilliseconds = 0.0

    package init(_ deployer: Deployer, _ request: DeploymentRequest, completion: @escaping (Answer) -> Void) {
        self.deployer = deployer
        self.request = request
        self.completion = { answer in
            if case .failure = answer { deployer.sweepLater() }
            completion(answer)
        }
    }

    package func begin() {
        let countdown = Countdown(request.plugins.count) { [self] in didLoad() }
        for plugin in request.plugins {
            load(plugin) { [self] refusal in
                if let refusal { refusals.append(refusal) }
                countdown.hit()
            }
        }
    }

    // MARK: Loading

    private enum Arrival: Sendable {
        case held, absent
        case refused(PluginRefusal)
    }

    private func load(_ plugin: DeploymentRequest.Plugin, completion: @escaping (PluginRefusal?) -> Void) {
        if request.validateOnly, let manifest = plugin.manifest {
            do throws(PluginRefusal) {
                manifests[plugin.name] = try ManifestLibrary.checked(manifest, plugin.file)
                return completion(nil)
            } catch {
                return completion(error)
            }
        }
        let (store, uploads) = (deployer.store, deployer.uploads)
        deployer.turns.comeIn { [self] isHeld in
            deployer.loop.offload { () -> Arrival in
                do throws(PluginRefusal) {
                    if store.contains(plugin.artifact) { return .held }
                    guard uploads.status(of: plugin.artifact).state == .complete else { return .absent }
                    _ = try store.adopt(file: uploads.completePath(of: plugin.artifact), hash: plugin.artifact, name: plugin.file)
                    return .held
                } catch {
                    return .refused(error)
                }
            } then: { [self] arrival in
                switch arrival {
                case .held: break
                case .absent:
                    isHeld()
                    absent.append(plugin.artifact)
                    return completion(
                        PluginRefusal("\(plugin.file): its library \(plugin.artifact) was not uploaded; upload it and deploy again"))
                case .refused(let refusal):
                    isHeld()
                    return completion(refusal)
                }
                let artifact = deployer.leases.artifact(plugin: plugin.name, hash: plugin.artifact, file: plugin.file)
                artifacts[plugin.name] = artifact
                isHeld()
                deployer.manifests.manifest(of: artifact) { [self] result in
                    switch result {
                    case .success(let manifest): manifests[plugin.name] = manifest
                    case .failure(let refusal): return completion(refusal)
                    }
                    completion(nil)
                }
            }
        }
    }

    private func didLoad() {
        loadMilliseconds = clock.lap()
        guard refusals.isEmpty else {
            return completion(
                .failure(DeploymentFailure(refusals: refusals.sorted { $0.description < $1.description }, absent: absent.sorted())))
        }
        deployer.perform { [self] done in
            deploy { [self] answer in
                completion(answer)
                done()
            }
        }
    }

    // MARK: In its turn

    private func deploy(completion: @escaping (Answer) -> Void) {
        let state = deployer.state
        guard !deployer.isStopped else { return completion(.failure(DeploymentFailure(.unavailable, "the host is stopping"))) }
        if let expected = request.expectedRevision, expected != state.revision {
            let sentence = "the revision is \(state.revision), not \(expected): somebody else has deployed meanwhile; look at the plan again"
            return completion(.failure(DeploymentFailure(.conflict, sentence)))
        }
        if let failure = filterFailure(state) { return completion(.failure(failure)) }
        let candidates = candidates()
        deployer.loop.offload { [resolver = deployer.resolver] in resolver.resolve(candidates) } then: { [self] outcome in
            guard outcome.refusals.isEmpty else {
                return completion(.failure(DeploymentFailure(refusals: outcome.refusals.sorted { $0.key < $1.key }.map(\.value))))
            }
            let (plan, collisions) = plan(outcome)
            guard collisions.isEmpty else { return completion(.failure(DeploymentFailure(refusals: collisions))) }
            if request.validateOnly {
                return completion(.success(DeploymentResult(revision: state.revision, changes: plan.changes)))
            }
            for warning in outcome.warnings { deployer.log.warning("\(warning)") }
            deployer.commit(plan, as: "deploy") { [self] answer, _ in
                completion(answer.map { result in
                    var result = result
                    result.durations.load = loadMilliseconds
                    return result
                })
            }
        }
    }

    private func filterFailure(_ state: DeployedState) -> DeploymentFailure? {
        var functions: [(name: String, plugin: String)] = []
        for plugin in request.plugins {
            functions += (manifests[plugin.name]?.functions ?? []).map { ($0.name, plugin.name) }
            functions += state.functions.compactMap { $0.value.main?.plugin == plugin.name ? ($0.key, plugin.name) : nil }
        }
        let names = Set(functions.map(\.name)).sorted()
        let missing = (request.only?.missing(among: functions) ?? []) + (request.names ?? []).filter { !names.contains($0) }.sorted()
        guard !missing.isEmpty else { return nil }
        return DeploymentFailure(
            .refused, "no function matches \(missing.joined(separator: ", ")); there are \(names.joined(separator: ", "))")
    }

    private func isMeant(_ function: String, _ plugin: String) -> Bool {
        if let names = request.names, !names.contains(function) { return false }
        return request.only?.matches(function, plugin: plugin) ?? true
    }

    private func candidates() -> [VersionResolver.Candidate] {
        let host = OperatorOptions.File(deployer.configuration)
        return request.plugins.flatMap { plugin -> [VersionResolver.Candidate] in
            guard let manifest = manifests[plugin.name] else { return [] }
            let settings = deployer.configuration.plugins.first { $0.name == plugin.name }
            return manifest.functions.filter { isMeant($0.name, plugin.name) }.map { declaration in
                let version = FunctionVersion(
                    number: 0, plugin: plugin.name, artifact: plugin.artifact, file: plugin.file,
                    isIsolated: settings.map { $0.isolation == .process } ?? true,
                    overrides: plugin.functions[declaration.name]?.object ?? JSONObject(), defaults: plugin.defaults,
                    host: host[declaration.name], environment: plugin.environment, time: "", origin: .deploy, deployment: 0)
                return VersionResolver.Candidate(name: declaration.name, version: version, manifest: manifest)
            }
        }
    }

    private func plan(_ outcome: VersionResolver.Outcome) -> (DeploymentPlan, [PluginRefusal]) {
        var plan = deployer.newPlan(.deploy)
        var refusals: [PluginRefusal] = []
        let served = outcome.functions.filter { !$0.options.omit }
        var proposed: [String: ResolvedFunction] = [:]
        for function in served {
            if let other = proposed[function.name] {
                let sentence = "\(function.version.file): its function \(function.name) is in \(other.version.file) too; rename one of them"
                refusals.append(PluginRefusal(sentence))
            }
            proposed[function.name] = function
        }
        guard refusals.isEmpty else { return (plan, refusals) }
        for plugin in request.plugins {
            let declared = Set((manifests[plugin.name]?.functions ?? []).map(\.name))
            for (name, function) in plan.target.functions.sorted(by: { $0.key < $1.key })
            where function.main?.plugin == plugin.name && isMeant(name, plugin.name) && proposed[name] == nil {
                // Declared and not proposed: its options say that it is left out.
                let reason = declared.contains(name) ? "options say omit" : "no longer in the plugin"
                if request.removes { plan.remove(name, reason: reason) } else { plan.keep(name, reason: reason) }
            }
        }
        for function in served {
            let deployed = Set(request.plugins.map(\.name))
            if let owner = plan.target.functions[function.name]?.main, owner.plugin != function.version.plugin,
                !deployed.contains(owner.plugin) || manifests[owner.plugin]?.functions.contains(where: { $0.name == function.name }) ?? false
            {
                let sentence = "\(function.version.file): its function \(function.name) is one of the plugin \(owner.plugin) already; rename it"
                refusals.append(PluginRefusal(sentence))
                continue
            }
            plan.propose(function, isForced: request.force)
        }
        return (plan, refusals)
    }
}
