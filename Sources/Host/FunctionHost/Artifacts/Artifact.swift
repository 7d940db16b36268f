/// One library of one plugin, never changed, named by what is in it.
final class Artifact: Sendable {
    /// The plugin's name.
    let name: String
    /// SHA-256 of the library, in hexadecimal.
    let hash: String
    /// The host's own copy.
    let path: String
    /// What a user calls the file: its path as configured, or its name as deployed.
    let displayName: String
    /// The hash's first letters, which is what logs show.
    let version: String
    private let lease: ArtifactLeases.Lease

    init(name: String, hash: String, path: String, displayName: String, lease: ArtifactLeases.Lease) {
        self.lease = lease
        self.name = name
        self.hash = hash
        self.path = path
        self.displayName = displayName
        version = String(hash.prefix(12))
    }

    /// The folder of its workers.
    var folder: String { "\(name)-\(version)" }
}
