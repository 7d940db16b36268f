import AdminProtocol
import Synchronization

/// The last build of each plugin, for `/_/api/builds`. Read on every loop.
package final class BuildLedger: Sendable {
    private let entries = Mutex<[String: BuildEntry]>([:])
    private let settings = Mutex<(isWatching: Bool, configuration: String?)>((false, nil))

    /// A ledger without builds.
    package init() {}

    func watches(_ configuration: String?) { settings.withLock { $0 = (true, configuration) } }

    func record(_ entry: BuildEntry) { entries.withLock { $0[entry.plugin] = entry } }

    func forget(_ plugin: String) { entries.withLock { $0[plugin] = nil } }

    subscript(plugin: String) -> BuildEntry? { entries.withLock { $0[plugin] } }

    /// The answer to an administrator.
    package var list: BuildList {
        let (isWatching, configuration) = settings.withLock { $0 }
        let builds = entries.withLock { $0.values.sorted { $0.plugin < $1.plugin } }.map { entry in
            var entry = entry
            entry.buildMilliseconds?.round()
            entry.switchMilliseconds?.round()
            return entry
        }
        return BuildList(watching: isWatching, configuration: configuration, builds: builds)
    }
}
