import Configuration
import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionWorker

/// What libraries say of themselves: remembered, read from the store, or asked in a probe worker. Belongs to the home loop.
final class ManifestLibrary {
    private let dispatcher: Dispatcher
    private let store: ArtifactStore
    private var manifests: [String: PluginManifest] = [:]

    init(dispatcher: Dispatcher, store: ArtifactStore) {
        self.dispatcher = dispatcher
        self.store = store
    }

    /// The manifest of a library that was asked for before.
    func known(_ hash: String) -> PluginManifest? { manifests[hash] }

    /// - Parameter completion: gets the manifest of a library that is in the store, or why there is none.
    func manifest(of artifact: Artifact, completion: @escaping (Result<PluginManifest, PluginRefusal>) -> Void) {
        if var known = manifests[artifact.hash] {
            known.source = artifact.displayName
            return completion(.success(known))
        }
        let (store, hash, name) = (store, artifact.hash, artifact.displayName)
        dispatcher.loop.offload {
            store.entry(hash).manifest.flatMap { try? PluginManifest(parsing: $0, source: name) }
        } then: { [self] manifest in
            if let manifest { return finish(manifest, artifact, completion) }
            probe(artifact, completion)
        }
    }

    /// Brings the manifest of a library that was probed before into memory.
    func read(_ artifact: Artifact, completion: @escaping () -> Void) {
        let (store, hash, name) = (store, artifact.hash, artifact.displayName)
        dispatcher.loop.offload {
            store.entry(hash).manifest.flatMap { try? PluginManifest(parsing: $0, source: name) }
        } then: { [self] manifest in
            if let manifest { finish(manifest, artifact) { _ in } }
            completion()
        }
    }

    private func probe(_ artifact: Artifact, _ completion: @escaping (Result<PluginManifest, PluginRefusal>) -> Void) {
        // The plugin is only asked what it offers: without secrets, and with memory for that.
        let settings = PoolSettings(
            concurrency: 1, instancesMin: 0, instancesMax: 1, memoryBytes: 1 << 30, isIsolated: true, environment: ["TZ=UTC"])
        dispatcher.probe(artifact, settings: settings) { [self] result in
            switch result {
            case .failure(let refusal): completion(.failure(refusal))
            case .success(let bytes):
                do throws(PluginRefusal) {
                    let manifest = try Self.checked(bytes, artifact.displayName)
                    let (store, hash) = (store, artifact.hash)
                    dispatcher.loop.offload { store.remember(bytes, of: hash) } then: { [self] in finish(manifest, artifact, completion) }
                } catch {
                    completion(.failure(error))
                }
            }
        }
    }

    /// Reads and checks the manifest of a library that is new to the host.
    static func checked(_ bytes: [UInt8], _ name: String) throws(PluginRefusal) -> PluginManifest {
        let manifest: PluginManifest
        do throws(ConfigurationErrors) {
            manifest = try PluginManifest(parsing: bytes, source: name)
        } catch {
            throw PluginRefusal(error.sentence)
        }
        try manifest.checkTriggers()
        return manifest
    }

    private func finish(
        _ manifest: PluginManifest, _ artifact: Artifact, _ completion: @escaping (Result<PluginManifest, PluginRefusal>) -> Void
    ) {
        manifests[artifact.hash] = manifest
        dispatcher.setFunctionNames(manifest.functions.map(\.name), of: artifact)
        completion(.success(manifest))
    }

    /// Forgets libraries that no version names any more.
    func forget(except kept: Set<String>) {
        manifests = manifests.filter { kept.contains($0.key) }
        dispatcher.forgetFunctionNames(except: kept)
    }
}
