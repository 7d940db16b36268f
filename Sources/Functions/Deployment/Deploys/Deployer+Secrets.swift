import Configuration
import EventLoop
import FunctionWorker

extension Deployer {
    /// Reads the secrets again, which no version keeps.
    ///
    /// - Parameters:
    ///   - plugins: those to look at; nil for all.
    ///   - completion: gets the versions that run with other values than are there now, worked out anew; and a sentence for each that
    ///     could not be, with the plugin's name.
    func findOtherSecrets(
        only plugins: Set<String>?, completion: @escaping ([ResolvedFunction], [(plugin: String, refusal: PluginRefusal)]) -> Void
    ) {
        // What was just brought back has today's.
        guard isLocalKnown else { return completion([], []) }
        let running = live.versions.filter {
            let version = $0.value.resolved.version
            return version.isIsolated && !$0.value.resolved.options.secrets.isEmpty && plugins?.contains(version.plugin) ?? true
        }
        let candidates = running.compactMap { key, version in
            manifests.known(version.resolved.version.artifact).map {
                VersionResolver.Candidate(name: key.function, version: version.resolved.version, manifest: $0)
            }
        }
        guard !candidates.isEmpty else { return completion([], []) }
        loop.offload { [resolver] in resolver.resolve(candidates) } then: { [self] outcome in
            let lost = outcome.refusals.sorted { $0.key < $1.key }.compactMap { name, refusal in
                state.plugin(of: name).map { (plugin: $0, refusal: refusal) }
            }
            completion(outcome.functions.filter { $0.secrets != live[$0.key]?.resolved.secrets }, lost)
        }
    }
}

extension FunctionChange {
    /// A version that gets new workers.
    init(renewing function: ResolvedFunction) {
        let (version, name) = (function.version, function.name)
        self.init(
            function: name, plugin: version.plugin, action: .update, reason: "secrets changed", fromVersion: version.number,
            toVersion: version.number)
    }
}
