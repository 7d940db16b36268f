import FunctionDispatch

/// The libraries that may still be loaded: by a request that found its function long ago, or by a pool that drains. Belongs to the home loop.
package final class ArtifactLeases {
    private struct Entry {
        weak var lease: Artifact.Lease?
        var hash: String
        var folder: String
    }

    private let store: ArtifactStore
    private var entries: [Entry] = []
    private let didEnd: @Sendable () -> Void

    /// - Parameter didEnd: called on any thread when a user of a library has ended.
    init(store: ArtifactStore, didEnd: @escaping @Sendable () -> Void) {
        self.store = store
        self.didEnd = didEnd
    }

    /// Starts a use of a library in the store.
    func artifact(plugin: String, hash: String, file: String) -> Artifact {
        let lease = Artifact.Lease(ended: didEnd)
        let artifact = Artifact(name: plugin, hash: hash, path: store.path(of: hash), displayName: file, lease: lease)
        entries.append(Entry(lease: lease, hash: hash, folder: artifact.folder))
        if entries.count > 100 { forgetEnded() }
        return artifact
    }

    private func forgetEnded() { entries.removeAll { $0.lease == nil } }

    /// The hashes of all libraries in use, and the folders of their workers.
    var inUse: (hashes: Set<String>, folders: Set<String>) {
        forgetEnded()
        return (Set(entries.map(\.hash)), Set(entries.map(\.folder)))
    }
}
