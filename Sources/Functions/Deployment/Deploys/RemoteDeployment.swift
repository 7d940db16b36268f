import AdminProtocol
import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker
import HearthJSON
import Logging

/// A deployment through the admin API: all of its plugins or none. Belongs to the home loop.
package final class RemoteDeployment {
    private let deployer: Deployer
    private let request: DeploymentRequest
    private var manifests: [String: PluginManifest] = [:]
    /// Keeps the libraries during the deployment.
    private var artifacts: [String: Artifact] = [:]
    private var absent: [String] = []

    package init(_ deployer: Deployer, _ request: DeploymentRequest) {
        self.deployer = deployer
        self.request = request
    }

    /// Carries out the deployment, after earlier ones.
    package func run() async throws(DeploymentFailure) -> DeploymentResult {
        do throws(DeploymentFailure) {
            var clock = LapTimer()
            try await load()
            let loadMilliseconds = clock.lap()
            var result = try await deployer.turns.alone { () async throws(DeploymentFailure) in try await deploy() }
            result.durations.load = loadMilliseconds
            return result
        } catch {
            // Libraries that were uploaded for this deployment may be unused now.
            deployer.sweepLater()
            throw error
        }
    }

    // MARK: Loading

    private func load() async throws(DeploymentFailure) {
        let refusals = await deployer.loop.concurrently(request.plugins) { [self] plugin -> PluginRefusal? in
            do throws(PluginRefusal) {
                manifests[plugin.name] = try await manifest(of: plugin)
                return nil
            } catch {
                return error
            }
        }.compactMap { $0 }
        guard refusals.isEmpty else {
            throw DeploymentFailure(refusals: refusals.sorted { $0.description < $1.description }, absent: absent.sorted())
        }
    }

    private func manifest(of plugin: DeploymentRequest.Plugin) async throws(PluginRefusal) -> PluginManifest {
        if request.validateOnly, let manifest = plugin.manifest {
            return try ManifestLibrary.checked(manifest.serialized(), plugin.file)
        }
        let artifact = try await deployer.storeTurns.together { () async throws(PluginRefusal) in try await admit(plugin) }
        artifacts[plugin.name] = artifact
        return try await deployer.manifests.manifest(of: artifact)
    }

    /// Moves an uploaded library into the store, unless it is already there.
    private func admit(_ plugin: DeploymentRequest.Plugin) async throws(PluginRefusal) -> Artifact {
        let (store, uploads) = (deployer.store, deployer.uploads)
        let isThere = try await deployer.loop.offload { () throws(PluginRefusal) -> Bool in
            if store.contains(plugin.artifact) { return true }
            guard uploads.status(of: plugin.artifact).state == .complete else { return false }
            _ = try store.adopt(file: uploads.completePath(of: plugin.artifact), hash: plugin.artifact, name: plugin.file)
            return true
        }
        guard isThere else {
            absent.append(plugin.artifact)
            throw PluginRefusal("\(plugin.file): its library \(plugin.artifact) was not uploaded; upload it and deploy again")
        }
        return deployer.leases.artifact(plugin: plugin.name, hash: plugin.artifact, file: plugin.file)
    }

    // MARK: In its turn

    private func deploy() async throws(DeploymentFailure) -> DeploymentResult {
        let state = deployer.state
        guard !deployer.isStopped else { throw DeploymentFailure(.unavailable, "the host is stopping") }
        if let expected = request.expectedRevision, expected != state.revision {
            throw DeploymentFailure(
                .conflict, "the revision is \(state.revision), not \(expected): another deployment came first; look at the plan again")
        }
        if let failure = filterFailure(state) { throw failure }
        let candidates = candidates()
        let outcome = await deployer.loop.offload { [resolver = deployer.resolver] in resolver.resolve(candidates) }
        guard outcome.refusals.isEmpty else {
            throw DeploymentFailure(refusals: outcome.refusals.sorted { $0.key < $1.key }.map(\.value))
        }
        let (plan, collisions) = plan(outcome)
        guard collisions.isEmpty else { throw DeploymentFailure(refusals: collisions) }
        if request.validateOnly { return DeploymentResult(revision: state.revision, changes: plan.changes) }
        for warning in outcome.warnings { deployer.log.warning("\(warning)") }
        return try await deployer.commit(plan, as: "deploy")
    }

    private func filterFailure(_ state: DeployedState) -> DeploymentFailure? {
        var functions: [(plugin: String, function: String)] = []
        for plugin in request.plugins {
            functions += (manifests[plugin.name]?.functions ?? []).map { (plugin.name, $0.name) }
            functions += state.functions.compactMap { $0.value.main?.plugin == plugin.name ? (plugin.name, $0.key) : nil }
        }
        let names = Set(functions.map(\.function)).sorted()
        let missing = (request.only?.missing(among: functions).map(\.text) ?? []) + (request.names ?? []).filter { !names.contains($0) }.sorted()
        guard !missing.isEmpty else { return nil }
        return DeploymentFailure(
            .refused, "no function matches \(missing.joined(separator: ", ")); there are \(names.joined(separator: ", "))")
    }

    private func isSelected(_ function: String, _ plugin: String) -> Bool {
        if let names = request.names, !names.contains(function) { return false }
        return request.only?.matches(plugin: plugin, function: function) ?? true
    }

    private func candidates() -> [VersionResolver.Candidate] {
        let host = OperatorOptions.File(deployer.configuration)
        return request.plugins.flatMap { plugin -> [VersionResolver.Candidate] in
            guard let manifest = manifests[plugin.name] else { return [] }
            let settings = deployer.configuration.plugins.first { $0.name == plugin.name }
            return manifest.functions.filter { isSelected($0.name, plugin.name) }.map { declaration in
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
            where function.main?.plugin == plugin.name && isSelected(name, plugin.name) && proposed[name] == nil {
                // The function is declared but not proposed, so its options contain `omit`.
                let reason = declared.contains(name) ? "options say omit" : "no longer in the plugin"
                if request.removes { plan.remove(name, reason: reason) } else { plan.keep(name, reason: reason) }
            }
        }
        for function in served {
            let deployed = Set(request.plugins.map(\.name))
            if let owner = plan.target.functions[function.name]?.main, owner.plugin != function.version.plugin,
                !deployed.contains(owner.plugin) || manifests[owner.plugin]?.functions.contains(where: { $0.name == function.name }) ?? false
            {
                let sentence = "\(function.version.file): its function \(function.name) already belongs to the plugin \(owner.plugin); rename it"
                refusals.append(PluginRefusal(sentence))
                continue
            }
            plan.propose(function, isForced: request.force)
        }
        return (plan, refusals)
    }
}
