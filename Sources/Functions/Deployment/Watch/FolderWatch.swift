import Files
import EventLoop
import Logging
import PluginBuild

/// Notices changes in many folders. Belongs to a loop.
package final class FolderWatch {
    private let loop: EventLoop
    private let log: Logger
    private let isPassing: (String) -> Bool
    private let heard: () -> Void
    private var watchers: [String: (stamp: FileStamp, watcher: FileWatcher)] = [:]
    private var isExhausted = false

    /// - Parameters:
    ///   - isPassing: whether changes of a file with this name are ignored.
    ///   - heard: called for each other change.
    package init(loop: EventLoop, log: Logger, isPassing: @escaping (String) -> Bool = WatchScope.isPassing, heard: @escaping () -> Void) {
        self.loop = loop
        self.log = log
        self.isPassing = isPassing
        self.heard = heard
    }

    /// Watches exactly these folders. A folder that was replaced by another one of the same name is watched anew.
    ///
    /// - Returns: whether one of them was not watched before.
    package func watch(_ folders: [String: FileStamp]) -> Bool {
        var isNew = false
        for (path, known) in watchers where folders[path].map({ !$0.isSameFile(as: known.stamp) }) ?? true { watchers[path] = nil }
        for (path, stamp) in folders where watchers[path] == nil {
            do throws(LoopError) {
                let watcher = try FileWatcher(loop: loop, path: path) { [unowned self] name in
                    if name.map(isPassing) != true { heard() }
                }
                watchers[path] = (stamp, watcher)
                isNew = true
            } catch {
                // The folder may no longer exist. That the kernel has no watches left is logged once.
                if error.name != "ENOENT", !isExhausted {
                    isExhausted = true
                    log.error("a folder is not watched; raise fs.inotify.max_user_watches", metadata: ["reason": "\(error)"])
                }
            }
        }
        return isNew
    }
}
