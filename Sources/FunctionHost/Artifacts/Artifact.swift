/// One version of one plugin: a library that is never changed, named by what is in it.
final class Artifact: Sendable {
    /// The plugin's name in `functions.json`.
    let name: String
    /// SHA-256 of the library, in hexadecimal.
    let hash: String
    /// The host's own copy.
    let path: String
    /// What a user calls the file: its path as configured.
    let displayName: String
    /// The hash's first letters, which is what logs show.
    let version: String

    init(name: String, hash: String, path: String, displayName: String) {
        self.name = name
        self.hash = hash
        self.path = path
        self.displayName = displayName
        version = String(hash.prefix(12))
    }
}
