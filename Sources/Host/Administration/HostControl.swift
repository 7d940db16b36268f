import AdminProtocol

/// The operations on the host as a whole that administrators can ask for, from any loop.
package protocol HostControl: Sendable {
    /// The data directory, from which backups are made.
    var dataDirectory: String { get }
    /// Hands the host over to a new process.
    func upgrade(timeoutSeconds: Int) async throws(AdminError) -> UpgradeReport
    /// Begins a restore, and returns its id.
    func beginRestore() async throws(AdminError) -> String
    /// Takes a piece of a backup, and returns the number of bytes that have arrived.
    func writeRestore(_ id: String, offset: Int, _ bytes: [UInt8]) async throws(AdminError) -> Int
    /// Checks a backup and replaces the data by it.
    func applyRestore(_ id: String) async throws(AdminError) -> RestoreReport
    /// Abandons a restore.
    func removeRestore(_ id: String) async throws(AdminError)
}
