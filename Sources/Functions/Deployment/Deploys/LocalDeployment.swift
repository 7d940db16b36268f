import AdminProtocol
import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker
import HearthJSON
import Logging
import Logs

/// Deploys the plugins and options of the host's own `functions.json`.
///
/// A plugin that cannot be loaded, and a function that cannot be served, stay as they were. Plugins that load in time are deployed
/// together; one that takes long does not delay the others and follows on its own. Belongs to the home loop.
final class LocalDeployment {
    private let deployer: Deployer
    private let configuration: Configuration
    private let host: OperatorOptions.File
    /// The plugins to deploy; nil for all.
    private let wanted: Set<String>?
    /// Plugins that are left unchanged, because their libraries have not been built yet.
    private let kept: Set<String>
    private let refused: (PluginRefusal) -> Void
    private var loading: Set<String> = []
    private var loaded: [LocalPlugin] = []
    private var arrival: CheckedContinuation<Void, Never>?
    private var hasArrived = false
    private var hasLookedAtOthers = false
    private var result = DeploymentResult()
    private var clock = LapTimer()

    /// How long loaded plugins wait for the others.
    private static let patienceMilliseconds: UInt64 = 1000
    /// The key of refusals that no single plugin has caused.
    private static let wholeFile = "functions.json"

    init(
        _ deployer: Deployer, _ configuration: Configuration, plugins: Set<String>?, keeping kept: Set<String>,
        refused: @escaping (PluginRefusal) -> Void
    ) {
        self.deployer = deployer
        self.configuration = configuration
        host = OperatorOptions.File(configuration)
        wanted = plugins
        self.kept = kept
        self.refused = refused
    }

    func run() async -> DeploymentResult {
        let plugins = configuration.plugins.filter { isLookedAt($0.name) }
        // Earlier refusals are dropped, because the plugins are loaded again.
        deployer.leftOut = deployer.leftOut.filter { !isLookedAt($0.key) && $0.key != Self.wholeFile }
        loading = Set(plugins.map(\.name))
        for settings in plugins { deployer.loop.task { [self] in await load(settings) } }
        await waitForAll()
        result.durations.load = clock.lap()
        repeat {
            await deployLoaded()
            while loaded.isEmpty, !loading.isEmpty { await waitForArrival() }
        } while !loaded.isEmpty
        result.revision = deployer.state.revision
        return result
    }

    private func isLookedAt(_ plugin: String) -> Bool { wanted?.contains(plugin) ?? true && !kept.contains(plugin) }

    // MARK: Loading

    private func load(_ settings: PluginSettings) async {
        do throws(PluginRefusal) {
            let plugin = try await deployer.loadLocal(settings, configuration)
            deployer.leftOut[settings.name] = nil
            loaded.append(plugin)
        } catch {
            leaveOut(settings.name, error)
        }
        loading.remove(settings.name)
        arrive()
    }

    /// Waits until all plugins are loaded or refused, but not longer than loaded ones may wait.
    private func waitForAll() async {
        var isPatient = true
        let patience = Timer(loop: deployer.loop) { [self] in
            isPatient = false
            arrive()
        }
        patience.start(afterMilliseconds: Self.patienceMilliseconds)
        while isPatient, !loading.isEmpty { await waitForArrival() }
        patience.close()
    }

    /// Waits until a plugin has arrived since the last wait.
    private func waitForArrival() async {
        await withCheckedContinuation { continuation in
            if hasArrived { continuation.resume() } else { arrival = continuation }
        }
        hasArrived = false
    }

    private func arrive() {
        hasArrived = true
        arrival?.resume()
        arrival = nil
    }

    private func leaveOut(_ plugin: String, _ refusal: PluginRefusal) {
        refused(refusal)
        deployer.leftOut[plugin, default: []] = (deployer.leftOut[plugin] ?? []).filter { $0.description != refusal.description } + [refusal]
        result.refusals.append(refusal)
    }

    private func deployLoaded() async {
        let order = configuration.plugins.map(\.name)
        let batch = loaded.sorted { (order.firstIndex(of: $0.settings.name) ?? 0) < (order.firstIndex(of: $1.settings.name) ?? 0) }
        loaded = []
        await deployer.turns.alone {
            deployer.configuration = configuration
            var excluded: Set<String> = []
            while let blamed = await deploy(batch, without: excluded) { excluded.formUnion(blamed) }
        }
    }

    // MARK: One batch

    /// - Parameter excluded: functions that were tried and do not start.
    /// - Returns: further functions that do not start. Then nothing has changed, and the others are to be tried without them. Nil at the end.
    private func deploy(_ batch: [LocalPlugin], without excluded: Set<String>) async -> Set<String>? {
        var candidates = batch.flatMap { differing($0) }
        if wanted == nil, !hasLookedAtOthers { candidates += others(batch) }
        candidates.removeAll { excluded.contains($0.name) }
        let outcome = await deployer.loop.offload { [resolver = deployer.resolver, candidates] in resolver.resolve(candidates) }
        let plugins = Dictionary(candidates.map { ($0.name, $0.version.plugin) }) { first, _ in first }
        for warning in outcome.warnings { deployer.log.warning("\(warning)") }
        for (name, refusal) in outcome.refusals.sorted(by: { $0.key < $1.key }) {
            leaveOut(plugins[name] ?? name, refusal)
            result.refused.insert(name)
        }
        let plan = plan(batch, outcome, refused: excluded.union(outcome.refusals.keys))
        let (outdated, lost) = await deployer.findOtherSecrets(only: wanted)
        for (plugin, refusal) in lost { leaveOut(plugin, refusal) }
        let renewed = outdated.filter { !excluded.contains($0.name) }
        do throws(DeploymentFailure) {
            didDeploy(try await deployer.commit(plan, as: "local", renewed: renewed), renewed)
            return nil
        } catch {
            guard !error.blamed.isEmpty, !excluded.isSuperset(of: error.blamed.keys) else {
                for sentence in error.sentences { leaveOut(Self.wholeFile, PluginRefusal(sentence)) }
                return nil
            }
            for (name, refusal) in error.blamed.sorted(by: { $0.key < $1.key }) { leaveOut(plugins[name] ?? name, refusal) }
            result.refused.formUnion(error.blamed.keys)
            return Set(error.blamed.keys)
        }
    }

    private func didDeploy(_ answer: DeploymentResult, _ renewed: [ResolvedFunction]) {
        hasLookedAtOthers = true
        result.deployment = answer.deployment ?? result.deployment
        result.changes += answer.changes
        result.durations.prepare += answer.durations.prepare
        result.durations.write += answer.durations.write
        result.durations.publish += answer.durations.publish
        let changed = Set(answer.changes.filter(\.isChange).map(\.function))
        result.changes += renewed.filter { !changed.contains($0.name) }.map { FunctionChange(renewing: $0) }
    }

    /// The functions of a plugin that differ from the last local deployment.
    private func differing(_ plugin: LocalPlugin) -> [VersionResolver.Candidate] {
        let state = deployer.state
        let sight = state.local[plugin.settings.name]
        let new = plugin.sight(functions: [])
        return plugin.manifest.functions.compactMap { declaration in
            let name = declaration.name
            let isKnown = sight.map { $0.isSameLibrary(as: new) && $0.functions.contains(name) } ?? false
            if isKnown {
                guard state.seen[name] != host[name] else { return nil }
                // Only options have changed. A remotely deployed function keeps its library.
                if let main = state.functions[name]?.main, main.artifact != new.artifact { return rebased(name, main) }
            }
            let version = FunctionVersion(
                number: 0, plugin: plugin.settings.name, artifact: plugin.artifact.hash, file: plugin.artifact.displayName,
                isIsolated: plugin.isIsolated, overrides: JSONObject(), defaults: JSONObject(), host: host[name],
                environment: plugin.environment, time: "", origin: .local, deployment: 0)
            return VersionResolver.Candidate(name: name, version: version, manifest: plugin.manifest)
        }
    }

    /// Remotely deployed functions whose options in `functions.json` have changed.
    private func others(_ batch: [LocalPlugin]) -> [VersionResolver.Candidate] {
        let state = deployer.state
        let local = Set(state.local.values.flatMap(\.functions) + batch.flatMap { $0.manifest.functions.map(\.name) })
        return state.functions.compactMap { name, function in
            guard !local.contains(name), state.seen[name] != host[name], let main = function.main else { return nil }
            return rebased(name, main)
        }
    }

    private func rebased(_ name: String, _ version: FunctionVersion) -> VersionResolver.Candidate? {
        guard let resolved = deployer.live[FunctionVersion.Key(function: name, number: version.number)]?.resolved else { return nil }
        var version = version
        version.host = host[name]
        var manifest = deployer.manifests.known(version.artifact)
        manifest?.functions = [resolved.declaration]
        return manifest.map { VersionResolver.Candidate(name: name, version: version, manifest: $0) }
    }

    private func plan(_ batch: [LocalPlugin], _ outcome: VersionResolver.Outcome, refused: Set<String>) -> DeploymentPlan {
        var plan = deployer.newPlan(.local)
        let order = batch.flatMap { $0.manifest.functions.map(\.name) }
        // Removed functions come first, because a function may move from one plugin to another.
        for plugin in batch { removeVanished(plugin, outcome, &plan) }
        removeForgottenPlugins(&plan)
        var left = refused
        for name in order + outcome.functions.map(\.name).filter({ !order.contains($0) }) {
            guard let function = outcome.functions.first(where: { $0.name == name && !left.contains(name) }), !function.options.omit else { continue }
            if let owner = plan.target.functions[name]?.main, owner.plugin != function.version.plugin {
                left.insert(name)
                let sentence = "\(function.version.file): its function \(name) is left out, because \(owner.file) has a function of that name"
                leaveOut(function.version.plugin, PluginRefusal(sentence))
                continue
            }
            plan.propose(function)
        }
        for plugin in batch {
            let names = plugin.manifest.functions.map(\.name).filter { !left.contains($0) }
            for name in names { plan.remember(host[name], of: name) }
            plan.remember(plugin.sight(functions: names), of: plugin.settings.name)
        }
        return plan
    }

    private func removeVanished(_ plugin: LocalPlugin, _ outcome: VersionResolver.Outcome, _ plan: inout DeploymentPlan) {
        let name = plugin.settings.name
        let declared = Set(plugin.manifest.functions.map(\.name))
        for function in plan.target.local[name]?.functions ?? [] where !declared.contains(function) {
            guard plan.target.plugin(of: function) == name else { continue }
            plan.remove(function, reason: "no longer in the plugin")
        }
        for function in outcome.functions where function.options.omit && function.version.plugin == name {
            guard plan.target.plugin(of: function.name) == name else { continue }
            plan.remove(function.name, reason: "options say omit")
        }
    }

    private func removeForgottenPlugins(_ plan: inout DeploymentPlan) {
        let named = Set(configuration.plugins.map(\.name))
        for (name, sight) in plan.target.local.sorted(by: { $0.key < $1.key }) where !named.contains(name) {
            guard wanted?.contains(name) ?? true else { continue }
            for function in sight.functions where plan.target.plugin(of: function) == name {
                plan.remove(function, reason: "its plugin is no longer in functions.json")
            }
            plan.remember(nil, of: name)
            deployer.leftOut[name] = nil
        }
    }
}

extension Deployer {
    /// Deploys the plugins of a `functions.json` that differ from the last local deployment.
    ///
    /// - Parameters:
    ///   - configuration: the current file. Its options, environment files and plugins are used, the server's settings are not.
    ///   - plugins: the plugins to deploy; nil for all, and for changed options of remotely deployed functions.
    ///   - kept: plugins among them that are left unchanged.
    ///   - refused: gets the reason for everything that is left unchanged, as soon as it is known.
    /// - Returns: the changes, and the same reasons.
    package func deployLocal(
        _ configuration: Configuration, plugins: Set<String>? = nil, keeping kept: Set<String> = [],
        refused: @escaping (PluginRefusal) -> Void = { _ in }
    ) async -> DeploymentResult {
        await LocalDeployment(self, configuration, plugins: plugins, keeping: kept, refused: refused).run()
    }

    /// The plugins whose deployed library was built in another configuration than the wanted one. An existing library of the wanted
    /// configuration may be old, and lack functions that are deployed.
    package func builtOtherwise(_ configuration: Configuration) -> Set<String> {
        guard let wanted = configuration.productFolders.first?.split(separator: "/").last else { return [] }
        let plugins = configuration.plugins.filter { plugin in
            guard case .product(let product) = plugin.source, let sight = state.local[plugin.name] else { return false }
            return !sight.file.hasSuffix("/\(wanted)/lib\(product).so")
        }
        return Set(plugins.map(\.name))
    }

    /// A plan that starts with the running state.
    func newPlan(_ origin: FunctionVersion.Origin) -> DeploymentPlan {
        DeploymentPlan(
            state, origin: origin, time: WallClock.now().rfc3339, options: { [live] in live[$0]?.resolved.options },
            mustWait: { [live] in live.mustWait($0) })
    }
}
