/// One library of one plugin, never changed, named by what is in it.
package final class Artifact: Sendable {
    /// The plugin's name.
    package let name: String
    /// SHA-256 of the library, in hexadecimal.
    package let hash: String
    /// The host's own copy.
    let path: String
    /// What a user calls the file: its path as configured, or its name as deployed.
    package let displayName: String
    /// The hash's first letters, which is what logs show.
    let version: String
    private let lease: Lease

    /// Tells, when its last reference is gone, that the library is no longer in use.
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

    /// The folder of its workers.
    package var folder: String { "\(name)-\(version)" }
}
