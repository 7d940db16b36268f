import Configuration
import EventLoop
import FunctionDispatch
import FunctionWorker

/// The running versions, with their pools. Belongs to the home loop.
package final class LiveFunctions {
    /// A running version.
    struct Version {
        var resolved: ResolvedFunction
        var artifact: Artifact
        var pool: WorkerPool
    }

    /// Versions that will run soon.
    typealias Prepared = [FunctionVersion.Key: Version]

    private let dispatcher: Dispatcher
    private let leases: ArtifactLeases
    private(set) var versions: Prepared = [:]
    /// The functions that were published last, in the order of names.
    package private(set) var functions: [RegisteredFunction] = []
    /// The libraries that are loaded into the host itself, by plugin. Another library of the same plugin must wait for the next start.
    private var inside: [String: (artifact: String, environment: [String: String])] = [:]

    init(dispatcher: Dispatcher, leases: ArtifactLeases) {
        self.dispatcher = dispatcher
        self.leases = leases
    }

    subscript(key: FunctionVersion.Key) -> Version? { versions[key] }

    /// Whether a version cannot run before the next start of the host.
    func mustWait(_ version: FunctionVersion) -> Bool {
        guard !version.isIsolated, let loaded = inside[version.plugin] else { return false }
        return loaded.artifact != version.artifact || loaded.environment != version.environment
    }

    /// Creates pools for versions. They get no requests yet.
    func prepare(_ resolved: [ResolvedFunction]) -> Prepared {
        var prepared: Prepared = [:]
        var artifacts: [String: Artifact] = [:]
        for function in resolved {
            let version = function.version
            let place = "\(version.plugin) \(version.artifact)"
            let artifact = artifacts[place] ?? leases.artifact(plugin: version.plugin, hash: version.artifact, file: version.file)
            artifacts[place] = artifact
            prepared[function.key] = Version(
                resolved: function, artifact: artifact, pool: dispatcher.pool(for: artifact, settings: function.pool))
        }
        return prepared
    }

    /// Starts as many workers in each new pool as in the pool that it replaces, at least the minimum.
    ///
    /// - Returns: the functions whose workers do not start, with a sentence for each.
    func warm(_ prepared: Prepared) async -> [String: PluginRefusal] {
        let running = Set(versions.values.map { ObjectIdentifier($0.pool) })
        var wanted: [ObjectIdentifier: (pool: WorkerPool, count: Int, names: [String])] = [:]
        for (key, version) in prepared where !running.contains(ObjectIdentifier(version.pool)) {
            let before = versions.filter { $0.key.function == key.function }.map(\.value.pool.readyCount).max() ?? 0
            let known = wanted[ObjectIdentifier(version.pool)]
            wanted[ObjectIdentifier(version.pool)] = (version.pool, max(before, known?.count ?? 0), (known?.names ?? []) + [key.function])
        }
        var failures: [String: PluginRefusal] = [:]
        _ = await dispatcher.loop.concurrently(Array(wanted.values)) { pool, count, names in
            guard let reason = await Self.warm(pool, count) else { return }
            for name in names {
                failures[name] = PluginRefusal("\(pool.artifact.displayName): a worker for \(name) does not start: \(reason)")
            }
        }
        return failures
    }

    private static func warm(_ pool: WorkerPool, _ count: Int) async -> String? {
        await withCheckedContinuation { continuation in pool.warm(count) { continuation.resume(returning: $0) } }
    }

    /// The running versions and the callable functions, when `prepared` runs in addition to the present versions.
    ///
    /// - Parameter traffic: for each function its versions with their percentages, the largest first.
    func assemble(_ prepared: Prepared, traffic: [String: [(number: Int, percent: Int)]]) -> (Prepared, [RegisteredFunction]) {
        var live: Prepared = [:]
        var registered: [RegisteredFunction] = []
        let known = Dictionary(functions.map { ($0.name, $0) }) { $1 }
        for (name, shares) in traffic.sorted(by: { $0.key < $1.key }) {
            let found = shares.compactMap { share -> (Version, Int)? in
                let key = FunctionVersion.Key(function: name, number: share.number)
                guard let version = prepared[key] ?? versions[key] else { return nil }
                live[key] = version
                return (version, share.percent)
            }
            guard let (main, _) = found.first else { continue }
            let other = found.dropFirst().first
            if let old = known[name], old.version == main.resolved.version.number, old.pool === main.pool, other == nil,
                old.alternative == nil, old.options == main.resolved.options
            {
                registered.append(old)
                continue
            }
            registered.append(Self.registered(main, other.map { ($0.0, $0.1) }))
        }
        return (live, registered)
    }

    private static func registered(_ version: Version, _ other: (version: Version, percent: Int)?) -> RegisteredFunction {
        RegisteredFunction(
            declaration: version.resolved.declaration, version: version.resolved.version.number, options: version.resolved.options,
            artifact: version.artifact, pool: version.pool, alternative: other.map { registered($0.version, nil) },
            alternativePercent: other?.percent ?? 0)
    }

    /// Sets the running versions.
    func didPublish(_ live: Prepared, _ registered: [RegisteredFunction]) {
        versions = live
        functions = registered
        for version in live.values where !version.resolved.version.isIsolated {
            let own = version.resolved.version
            inside[own.plugin] = (own.artifact, own.environment)
        }
    }

    /// Ends the pools that no version uses any more, after their last answers.
    func retireOthers() {
        dispatcher.retireAll(except: Set(versions.values.map { ObjectIdentifier($0.pool) }))
        dispatcher.services.keepOnly(plugins: Set(versions.values.map(\.artifact.name)))
    }
}
