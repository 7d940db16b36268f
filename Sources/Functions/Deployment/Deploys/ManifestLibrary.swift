import Configuration
import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionWorker
import Schedules

/// The manifests of libraries: from memory, from the store, or from a probe worker. Belongs to the home loop.
final class ManifestLibrary {
    private let dispatcher: Dispatcher
    private let store: ArtifactStore
    private var manifests: [String: PluginManifest] = [:]

    init(dispatcher: Dispatcher, store: ArtifactStore) {
        self.dispatcher = dispatcher
        self.store = store
    }

    /// The manifest of a library, if it is in memory.
    func known(_ hash: String) -> PluginManifest? { manifests[hash] }

    /// The manifest of a library in the store.
    ///
    /// - Throws: `PluginRefusal` if the library cannot be loaded, or its manifest is invalid.
    func manifest(of artifact: Artifact) async throws(PluginRefusal) -> PluginManifest {
        if var known = manifests[artifact.hash] {
            known.source = artifact.displayName
            return known
        }
        if let stored = await stored(artifact) { return keep(stored, artifact) }
        let bytes = try await probe(artifact)
        let manifest = try Self.checked(bytes, artifact.displayName)
        await dispatcher.loop.offload { [store, hash = artifact.hash] in store.remember(bytes, of: hash) }
        return keep(manifest, artifact)
    }

    /// Loads the stored manifest of a library into memory, even if the library no longer exists.
    func read(_ artifact: Artifact) async {
        if let manifest = await stored(artifact) { _ = keep(manifest, artifact) }
    }

    private func stored(_ artifact: Artifact) async -> PluginManifest? {
        await dispatcher.loop.offload { [store, hash = artifact.hash, name = artifact.displayName] in
            store.entry(hash).manifest.flatMap { try? PluginManifest(parsing: $0, source: name) }
        }
    }

    /// Loads the library in a separate worker, and asks for its contents.
    private func probe(_ artifact: Artifact) async throws(PluginRefusal) -> [UInt8] {
        // The worker gets no secrets, and memory for this only.
        let settings = PoolSettings(
            concurrency: 1, instancesMin: 0, instancesMax: 1, memoryBytes: 1 << 30, isIsolated: true, environment: ["TZ=UTC"])
        let result = await withCheckedContinuation { continuation in
            dispatcher.probe(artifact, settings: settings) { continuation.resume(returning: $0) }
        }
        return try result.get()
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
        try manifest.checkSchedules()
        return manifest
    }

    private func keep(_ manifest: PluginManifest, _ artifact: Artifact) -> PluginManifest {
        manifests[artifact.hash] = manifest
        dispatcher.setFunctionNames(manifest.functions.map(\.name), of: artifact)
        return manifest
    }

    /// Removes libraries that no version uses any more.
    func forget(except kept: Set<String>) {
        manifests = manifests.filter { kept.contains($0.key) }
        dispatcher.forgetFunctionNames(except: kept)
    }
}
