import Configuration
import FunctionDispatch
import FunctionWorker
import HearthJSON

/// A version with all settings for its workers and calls.
struct ResolvedFunction: Sendable {
    var version: FunctionVersion
    var declaration: FunctionDeclaration
    var options: FunctionOptions
    var pool: PoolSettings
    /// The values of the function's secrets, which are not stored in the version.
    var secrets: [String: String]

    var name: String { declaration.name }
    var key: FunctionVersion.Key { FunctionVersion.Key(function: declaration.name, number: version.number) }
}

/// Resolves versions: merges the options of the code, of the deployer and of the host, and adds parameters and secrets. Reads environment
/// files, and must run on the thread pool.
struct VersionResolver: Sendable {
    let configuration: Configuration
    /// Host and port at which plugins reach the host.
    let address: String

    /// A version of the function `name` to resolve.
    struct Candidate: Sendable {
        var name: String
        var version: FunctionVersion
        var manifest: PluginManifest
    }

    /// The outcome.
    struct Outcome: Sendable {
        var functions: [ResolvedFunction] = []
        /// One sentence for each function that cannot be served.
        var refusals: [String: PluginRefusal] = [:]
        var warnings: [String] = []
    }

    /// The key of functions that may share workers.
    private struct Group: Hashable {
        var plugin: String
        var artifact: String
        var isIsolated: Bool
        var environment: [String: String]
        var region: String
        var defaults: String
        var hostDefaults: String
        /// Separates two versions of the same function.
        var round: Int
    }

    func resolve(_ candidates: [Candidate]) -> Outcome {
        var outcome = Outcome()
        var groups: [Group: [Candidate]] = [:]
        var names: [Group: Set<String>] = [:]
        var order: [Group] = []
        for candidate in candidates {
            let version = candidate.version
            var group = Group(
                plugin: version.plugin, artifact: version.artifact, isIsolated: version.isIsolated, environment: version.environment,
                region: version.host.region, defaults: Self.text(version.defaults), hostDefaults: Self.text(version.host.defaults), round: 0)
            while !names[group, default: []].insert(candidate.name).inserted { group.round += 1 }
            if groups[group] == nil { order.append(group) }
            groups[group, default: []].append(candidate)
        }
        for group in order { resolve(group: groups[group] ?? [], into: &outcome) }
        return outcome
    }

    private static func text(_ object: JSONObject) -> String { String(decoding: JSONValue.object(object).serialized(), as: UTF8.self) }

    private func resolve(group: [Candidate], into outcome: inout Outcome) {
        do throws(ConfigurationErrors) {
            let (functions, warnings) = try together(group)
            outcome.functions += functions
            outcome.warnings += warnings
        } catch {
            guard group.count > 1 else {
                for candidate in group { outcome.refusals[candidate.name] = PluginRefusal(error.sentence) }
                return
            }
            // One of them is invalid. The others are served.
            var fine: [Candidate] = []
            for candidate in group {
                do throws(ConfigurationErrors) {
                    _ = try together([candidate])
                    fine.append(candidate)
                } catch {
                    outcome.refusals[candidate.name] = PluginRefusal(error.sentence)
                }
            }
            if !fine.isEmpty, fine.count < group.count { resolve(group: fine, into: &outcome) }
        }
    }

    private func together(_ group: [Candidate]) throws(ConfigurationErrors) -> ([ResolvedFunction], [String]) {
        guard let first = group.first else { return ([], []) }
        let configuration = try configuration(for: group)
        let manifest = first.manifest.limited(to: group.map(\.name))
        let environment = try PluginEnvironment.load(
            plugin: settings(of: first.version), manifest: manifest, configuration: configuration, address: address,
            variables: first.version.environment, isDeployed: first.version.origin == .deploy)
        var options: [String: FunctionOptions] = [:]
        for declaration in manifest.functions {
            options[declaration.name] = try declaration.resolved(in: configuration, parameters: environment.parameters)
        }
        let candidates = Dictionary(group.map { ($0.name, $0) }) { first, _ in first }
        let pools = poolSettings(options, environment, isIsolated: first.version.isIsolated)
        let functions = manifest.functions.compactMap { declaration -> ResolvedFunction? in
            guard let own = options[declaration.name], let candidate = candidates[declaration.name], let pool = pools[SharedSettings(own)] else {
                return nil
            }
            return ResolvedFunction(
                version: candidate.version, declaration: declaration, options: own, pool: pool,
                secrets: environment.secrets(of: declaration.name))
        }
        return (functions, (manifest.warnings + environment.warnings).map(\.description))
    }

    private func configuration(for group: [Candidate]) throws(ConfigurationErrors) -> Configuration {
        let file = OperatorOptions.File(configuration)
        let isOwn = group.allSatisfy { $0.version.overrides.isEmpty && $0.version.defaults.isEmpty && $0.version.host == file[$0.name] }
        guard !isOwn, let first = group.first else { return configuration }
        var functions: [String: String] = [:]
        for candidate in group {
            functions[candidate.name] = Self.text(candidate.version.overrides.overlaid(with: candidate.version.host.function))
        }
        let defaults = Self.text(first.version.defaults.overlaid(with: first.version.host.defaults))
        let overlay = OptionsOverlay(
            source: "functions.json", region: first.version.host.region, defaults: defaults, functions: functions)
        return try configuration.overlaid(with: overlay)
    }

    private func settings(of version: FunctionVersion) -> PluginSettings {
        if let own = configuration.plugins.first(where: { $0.name == version.plugin }) { return own }
        return PluginSettings(
            name: version.plugin, source: .library(version.file), isolation: .process, environmentDirectory: configuration.directory)
    }

    // MARK: Pools

    /// The settings of the pools, by the settings that the functions of a pool share. A plugin inside the host has one pool, because it is loaded
    /// once.
    private func poolSettings(
        _ all: [String: FunctionOptions], _ environment: PluginEnvironment, isIsolated: Bool
    ) -> [SharedSettings: PoolSettings] {
        let sharing = Dictionary(grouping: all) { SharedSettings($0.value) }
        guard isIsolated else {
            let settings = PoolSettings(
                concurrency: all.values.map(\.concurrency).max() ?? 1, instancesMin: 1, instancesMax: 1, memoryBytes: 0, isIsolated: false,
                environment: Self.entries(environment.forAllFunctions), outgoing: outgoing(Self.union(all.values.map(\.allowedHosts))))
            return sharing.mapValues { _ in settings }
        }
        return sharing.reduce(into: [:]) { pools, sharing in
            let shared = sharing.key
            pools[shared] = PoolSettings(
                concurrency: shared.concurrency, instancesMin: shared.instancesMin, instancesMax: shared.instancesMax,
                memoryBytes: UInt64(shared.memoryBytes), isIsolated: true,
                environment: Self.entries(environment.environment(for: sharing.value.map(\.key))), outgoing: outgoing(shared.allowedHosts))
        }
    }

    private func outgoing(_ allowedHosts: [String]?) -> OutgoingPolicy {
        var policy = OutgoingPolicy()
        policy.allowedHosts = allowedHosts
        policy.allowedForAll = configuration.http.allowedHosts
        policy.responseBytesMax = configuration.http.responseBytesMax
        policy.callsMax = configuration.http.concurrentCalls
        policy.certificateAuthority = configuration.http.certificateAuthority
        return policy
    }

    /// The hosts of functions that share a process with the host itself. A function without a list may reach every public host.
    private static func union(_ lists: [[String]?]) -> [String]? {
        lists.contains { $0 != nil } ? Set(lists.flatMap { $0 ?? ["*"] }).sorted() : nil
    }

    private static func entries(_ variables: [String: String]) -> [String] { variables.map { "\($0.key)=\($0.value)" }.sorted() }

    /// The settings that functions must have in common to share workers.
    private struct SharedSettings: Hashable {
        var concurrency: Int
        var instancesMin: Int
        var instancesMax: Int
        var memoryBytes: Int
        var secrets: [String]
        var environment: [String: String]
        var allowedHosts: [String]?

        init(_ options: FunctionOptions) {
            concurrency = options.concurrency
            instancesMin = options.minInstances
            instancesMax = options.maxInstances
            memoryBytes = options.memoryBytes
            secrets = options.secrets
            environment = options.environment
            allowedHosts = options.allowedHosts
        }
    }
}

extension JSONObject {
    /// This object, with members replaced or added from another one.
    fileprivate func overlaid(with other: JSONObject) -> JSONObject {
        var merged = self
        for (key, value) in other { merged[key] = value }
        return merged
    }
}

extension ConfigurationErrors {
    /// All problems in one line.
    var sentence: String { problems.map(\.description).joined(separator: "; ") }
}
