import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker
import HearthJSON
import Logging
import Logs

/// Brings what runs into step with the plugins and options of the host's own `functions.json`.
///
/// A plugin that cannot be loaded, and a function that cannot be served, stay as they were. Plugins that load in good time are
/// deployed together; one that takes long holds up nobody and follows on its own. Belongs to the home loop.
final class LocalDeployment {
    private let deployer: Deployer
    private let configuration: Configuration
    private let host: OperatorOptions.File
    /// The plugins to look at; nil for all.
    private let wanted: Set<String>?
    /// Plugins that stay as they are, because their libraries are still to be built.
    private let kept: Set<String>
    private let refused: (PluginRefusal) -> Void
    private let completion: (DeploymentResult) -> Void
    private var loading: Set<String> = []
    private var loaded: [LocalPlugin] = []
    private var hasLookedAtOthers = false
    private var isCommitting = false
    private var patience: Timer?
    private var result = DeploymentResult()
    private var clock = LapTimer()

    /// How long those that are loaded wait for the others.
    private static let patienceMilliseconds: UInt64 = 1000
    /// Stands for what is the fault of no single plugin.
    private static let wholeFile = "functions.json"

    init(
        _ deployer: Deployer, _ configuration: Configuration, plugins: Set<String>?, keeping kept: Set<String>,
        refused: @escaping (PluginRefusal) -> Void, completion: @escaping (DeploymentResult) -> Void
    ) {
        self.deployer = deployer
        self.configuration = configuration
        host = OperatorOptions.File(configuration)
        wanted = plugins
        self.kept = kept
        self.refused = refused
        self.completion = completion
    }

    func begin() {
        let plugins = configuration.plugins.filter { isLookedAt($0.name) }
        // What was wrong at the last look is looked at again.
        deployer.leftOut = deployer.leftOut.filter { !isLookedAt($0.key) && $0.key != Self.wholeFile }
        loading = Set(plugins.map(\.name))
        if plugins.isEmpty { return deployLoaded() }
        patience = Timer(loop: deployer.loop) { [self] in deployLoaded() }
        patience?.start(afterMilliseconds: Self.patienceMilliseconds)
        for settings in plugins {
            deployer.loadLocal(settings, configuration) { [self] in didLoad(settings, $0) }
        }
    }

    private func isLookedAt(_ plugin: String) -> Bool { wanted?.contains(plugin) ?? true && !kept.contains(plugin) }

    private func didLoad(_ settings: PluginSettings, _ loadedPlugin: Result<LocalPlugin, PluginRefusal>) {
        loading.remove(settings.name)
        switch loadedPlugin {
        case .failure(let refusal): leaveOut(settings.name, refusal)
        case .success(let plugin):
            deployer.leftOut[settings.name] = nil
            loaded.append(plugin)
        }
        // Those that come late come alone.
        if loading.isEmpty || patience == nil { deployLoaded() }
    }

    private func leaveOut(_ plugin: String, _ refusal: PluginRefusal) {
        refused(refusal)
        deployer.leftOut[plugin, default: []] = (deployer.leftOut[plugin] ?? []).filter { $0.description != refusal.description } + [refusal]
        result.refusals.append(refusal)
    }

    private func deployLoaded() {
        patience = nil
        guard !isCommitting else { return }
        isCommitting = true
        if result.durations.load == 0 { result.durations.load = clock.lap() }
        let order = configuration.plugins.map(\.name)
        let batch = loaded.sorted { (order.firstIndex(of: $0.settings.name) ?? 0) < (order.firstIndex(of: $1.settings.name) ?? 0) }
        loaded = []
        deployer.perform { [self] done in
            deployer.configuration = configuration
            deploy(batch, without: []) { [self] in
                done()
                isCommitting = false
                if !loaded.isEmpty { return deployLoaded() }
                if loading.isEmpty { finish() }
            }
        }
    }

    private func finish() {
        result.revision = deployer.state.revision
        completion(result)
    }

    // MARK: One batch

    /// - Parameter excluded: functions that were tried and do not come up.
    private func deploy(_ batch: [LocalPlugin], without excluded: Set<String>, done: @escaping () -> Void) {
        var candidates = batch.flatMap { differing($0) }
        if wanted == nil, !hasLookedAtOthers { candidates += others(batch) }
        candidates.removeAll { excluded.contains($0.name) }
        deployer.loop.offload { [resolver = deployer.resolver, candidates] in
            resolver.resolve(candidates)
        } then: { [self] outcome in
            for warning in outcome.warnings { deployer.log.warning("\(warning)") }
            for (name, refusal) in outcome.refusals.sorted(by: { $0.key < $1.key }) {
                leaveOut(candidates.first { $0.name == name }?.version.plugin ?? name, refusal)
                result.refused.insert(name)
            }
            let plan = plan(batch, outcome, refused: excluded.union(outcome.refusals.keys))
            deployer.findOtherSecrets(only: wanted) { [self] renewed, lost in
                for (plugin, refusal) in lost { leaveOut(plugin, refusal) }
                commit(plan, batch, candidates, renewed.filter { !excluded.contains($0.name) }, without: excluded, done: done)
            }
        }
    }

    private func commit(
        _ plan: DeploymentPlan, _ batch: [LocalPlugin], _ candidates: [VersionResolver.Candidate], _ renewed: [ResolvedFunction],
        without excluded: Set<String>, done: @escaping () -> Void
    ) {
        deployer.commit(plan, as: "local", renewed: renewed) { [self] answer, blamed in
            let plugins = Dictionary(candidates.map { ($0.name, $0.version.plugin) }) { first, _ in first }
            switch answer {
            case .success(let answer):
                hasLookedAtOthers = true
                didDeploy(answer)
                let changed = Set(answer.changes.filter(\.isChange).map(\.function))
                result.changes += renewed.filter { !changed.contains($0.name) }.map { FunctionChange(renewing: $0) }
                done()
            case .failure where !blamed.isEmpty && !excluded.isSuperset(of: blamed.keys):
                for (name, refusal) in blamed.sorted(by: { $0.key < $1.key }) { leaveOut(plugins[name] ?? name, refusal) }
                result.refused.formUnion(blamed.keys)
                deploy(batch, without: excluded.union(blamed.keys), done: done)
            case .failure(let failure):
                for sentence in failure.sentences { leaveOut(Self.wholeFile, PluginRefusal(sentence)) }
                done()
            }
        }
    }

    private func didDeploy(_ answer: DeploymentResult) {
        result.deployment = answer.deployment ?? result.deployment
        result.changes += answer.changes
        result.durations.prepare += answer.durations.prepare
        result.durations.write += answer.durations.write
        result.durations.publish += answer.durations.publish
    }

    /// The functions of a plugin that differ from what the last local deployment saw.
    private func differing(_ plugin: LocalPlugin) -> [VersionResolver.Candidate] {
        let state = deployer.state
        let sight = state.local[plugin.settings.name]
        let new = plugin.sight(functions: [])
        return plugin.manifest.functions.compactMap { declaration in
            let name = declaration.name
            let isKnown = sight.map { $0.isSameLibrary(as: new) && $0.functions.contains(name) } ?? false
            if isKnown {
                guard state.seen[name] != host[name] else { return nil }
                // Only options have changed: what was deployed from afar keeps its library.
                if let main = state.functions[name]?.main, main.artifact != new.artifact { return rebased(name, main) }
            }
            let version = FunctionVersion(
                number: 0, plugin: plugin.settings.name, artifact: plugin.artifact.hash, file: plugin.artifact.displayName,
                isIsolated: plugin.isIsolated, overrides: JSONObject(), defaults: JSONObject(), host: host[name],
                environment: plugin.environment, time: "", origin: .local, deployment: 0)
            return VersionResolver.Candidate(name: name, version: version, manifest: plugin.manifest)
        }
    }

    /// Functions that were deployed from afar and of which `functions.json` says something else now.
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
        // First what goes: a function may move from one plugin to another.
        for plugin in batch { removeVanished(plugin, outcome, &plan) }
        removeForgottenPlugins(&plan)
        var left = refused
        for name in order + outcome.functions.map(\.name).filter({ !order.contains($0) }) {
            guard let function = outcome.functions.first(where: { $0.name == name && !left.contains(name) }), !function.options.omit else { continue }
            if let owner = plan.target.functions[name]?.main, owner.plugin != function.version.plugin {
                left.insert(name)
                let sentence = "\(function.version.file): its function \(name) is left out, because \(owner.file) has one of that name"
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
    /// Looks at the plugins of a `functions.json`, and deploys what differs from what the last local deployment saw.
    ///
    /// - Parameters:
    ///   - configuration: the file as it is now; its options, environment files and plugins count, the server's settings do not.
    ///   - plugins: those to look at; nil for all, and for what the file says of functions that were deployed from afar.
    ///   - kept: those of them that stay as they are.
    ///   - refused: told of everything that stays as it was, as soon as that is known.
    ///   - completion: gets what changed, and the same sentences.
    package func deployLocal(
        _ configuration: Configuration, plugins: Set<String>? = nil, keeping kept: Set<String> = [],
        refused: @escaping (PluginRefusal) -> Void = { _ in }, completion: @escaping (DeploymentResult) -> Void
    ) {
        LocalDeployment(self, configuration, plugins: plugins, keeping: kept, refused: refused, completion: completion).begin()
    }

    /// The plugins whose deployed library was built as another configuration than the one that is wanted now. A library of the wanted one
    /// that is there is of any age: it may lack functions that are deployed.
    package func builtOtherwise(_ configuration: Configuration) -> Set<String> {
        guard let wanted = configuration.productFolders.first?.split(separator: "/").last else { return [] }
        let plugins = configuration.plugins.filter { plugin in
            guard case .product(let product) = plugin.source, let sight = state.local[plugin.name] else { return false }
            return !sight.file.hasSuffix("/\(wanted)/lib\(product).so")
        }
        return Set(plugins.map(\.name))
    }

    /// A plan that begins with what runs now.
    func newPlan(_ origin: FunctionVersion.Origin) -> DeploymentPlan {
        DeploymentPlan(
            state, origin: origin, time: WallClock.now().rfc3339, options: { [live] in live[$0]?.resolved.options },
            mustWait: { [live] in live.mustWait($0) })
    }
}
