import FunctionDispatch

/// Knows which libraries somebody may still load: a function that was found long ago, a pool that drains. Belongs to the home loop.
package final class ArtifactLeases {
    private struct Entry {
        weak var lease: Artifact.Lease?
        var hash: String
        var folder: String
    }

    private let store: ArtifactStore
    private var entries: [Entry] = []
    private let didEnd: @Sendable () -> Void

    /// - Parameter didEnd: called on any thread when a library is held by one less.
    init(store: ArtifactStore, didEnd: @escaping @Sendable () -> Void) {
        self.store = store
        self.didEnd = didEnd
    }

    /// A library of the store.
    func artifact(plugin: String, hash: String, file: String) -> Artifact {
        let lease = Artifact.Lease(ended: didEnd)
        let artifact = Artifact(name: plugin, hash: hash, path: store.path(of: hash), displayName: file, lease: lease)
        entries.append(Entry(lease: lease, hash: hash, folder: artifact.folder))
        if entries.count > 100 { forgetEnded() }
        return artifact
    }

    private func forgetEnded() { entries.removeAll { $0.lease == nil } }

    /// The hashes and the workers' folders of all that is held.
    var inUse: (hashes: Set<String>, folders: Set<String>) {
        forgetEnded()
        return (Set(entries.map(\.hash)), Set(entries.map(\.folder)))
    }
}
