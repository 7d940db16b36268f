import AdminProtocol
import EventLoop

/// The operations on the host as a whole that administrators can ask for, on any loop. Completions are called on `loop`.
package protocol HostControl: Sendable {
    /// The data directory, from which backups are made.
    var dataDirectory: String { get }
    /// Hands the host over to a new process.
    func upgrade(timeoutSeconds: Int, on loop: EventLoop, completion: @escaping (Result<UpgradeReport, UpgradeFailure>) -> Void)
    /// Begins a restore; `completion` gets its id.
    func beginRestore(on loop: EventLoop, completion: @escaping (Result<String, AdminError>) -> Void)
    /// Takes a piece of a backup; `completion` gets the number of bytes that have arrived.
    func writeRestore(_ id: String, offset: Int, _ bytes: [UInt8], on loop: EventLoop, completion: @escaping (Result<Int, AdminError>) -> Void)
    /// Checks a backup and puts it in place of the data.
    func applyRestore(_ id: String, on loop: EventLoop, completion: @escaping (Result<RestoreReport, AdminError>) -> Void)
    /// Abandons a restore.
    func removeRestore(_ id: String)
}

/// What an upgrade has done.
public struct UpgradeReport: Sendable {
    /// The process that serves now.
    public var pid: Int32
    /// From the beginning to the new host's serving.
    public var milliseconds: Int
    /// For how long requests waited.
    public var heldMilliseconds: Int
    /// For how long nobody had the databases.
    public var gapMilliseconds: Int
    /// Of a restore: where the data of before is now.
    public var kept = ""

    package init(pid: Int32, milliseconds: Int, heldMilliseconds: Int, gapMilliseconds: Int, kept: String = "") {
        self.pid = pid
        self.milliseconds = milliseconds
        self.heldMilliseconds = heldMilliseconds
        self.gapMilliseconds = gapMilliseconds
        self.kept = kept
    }
}

/// Why an upgrade was not done: a sentence. The host goes on as before.
public struct UpgradeFailure: Error, Sendable, CustomStringConvertible {
    /// For whoever asked for it; says what stood in the way.
    public let description: String

    package init(description: String) {
        self.description = description
    }
}

/// What a restore has done.
package struct RestoreReport: Sendable {
    /// Files that were restored.
    var members: Int
    /// Where what was there is now.
    var kept: String
    var upgrade: UpgradeReport

    package init(members: Int, kept: String, upgrade: UpgradeReport) {
        self.members = members
        self.kept = kept
        self.upgrade = upgrade
    }
}
