import AdminProtocol
import Configuration
import EventLoop
import FunctionWorker

extension Deployer {
    /// Reads the secrets again. They are not stored in versions.
    ///
    /// - Parameter plugins: the plugins to check; nil for all.
    /// - Returns: the running versions with outdated values, resolved again, and for each that could not be resolved a sentence and the
    ///   plugin's name.
    func findOtherSecrets(
        only plugins: Set<String>?
    ) async -> (renewed: [ResolvedFunction], lost: [(plugin: String, refusal: PluginRefusal)]) {
        // Versions that were restored at start have the current values.
        guard isLocalKnown else { return ([], []) }
        let running = live.versions.filter {
            let version = $0.value.resolved.version
            return version.isIsolated && !$0.value.resolved.options.secrets.isEmpty && plugins?.contains(version.plugin) ?? true
        }
        let candidates = running.compactMap { key, version in
            manifests.known(version.resolved.version.artifact).map {
                VersionResolver.Candidate(name: key.function, version: version.resolved.version, manifest: $0)
            }
        }
        guard !candidates.isEmpty else { return ([], []) }
        let outcome = await loop.offload { [resolver] in resolver.resolve(candidates) }
        let lost = outcome.refusals.sorted { $0.key < $1.key }.compactMap { name, refusal in
            state.plugin(of: name).map { (plugin: $0, refusal: refusal) }
        }
        return (outcome.functions.filter { $0.secrets != live[$0.key]?.resolved.secrets }, lost)
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
