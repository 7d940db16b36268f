/// A library of a plugin. Immutable, and identified by the hash of its contents.
package final class Artifact: Sendable {
    /// The plugin's name.
    package let name: String
    /// SHA-256 of the library, in hexadecimal.
    package let hash: String
    /// The path of the host's own copy.
    let path: String
    /// The name for users: the path in the configuration, or the name of a deployed file.
    package let displayName: String
    /// The first digits of the hash, for logs.
    let version: String
    private let lease: Lease

    /// Calls `ended` when its last reference is released, which means that the library is no longer in use.
    package final class Lease: Sendable {
        private let ended: @Sendable () -> Void

        /// - Parameter ended: called on any thread.
        package init(ended: @escaping @Sendable () -> Void = {}) { self.ended = ended }

        deinit { ended() }
    }

    package init(name: String, hash: String, path: String, displayName: String, lease: Lease) {
        self.lease = lease
        self.name = name
        self.hash = hash
        self.path = path
        self.displayName = displayName
        version = String(hash.prefix(12))
    }

    /// The name of the folder for its workers.
    package var folder: String { "\(name)-\(version)" }
}
