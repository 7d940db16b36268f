import EventLoop
import Files
import FunctionWorker
import Glibc

/// Notices when a system file, such as `/etc/resolv.conf`, is replaced. Running workers may read only the former file.
final class SystemFileWatch {
    private static let settleMilliseconds: UInt64 = 200
    private let loop: EventLoop
    private let changed: () -> Void
    private var watchers: [FileWatcher] = []
    private var timer: Timer?
    private var known = SystemFileWatch.identities

    /// - Parameter changed: called on the loop, once for changes that follow each other closely.
    /// - Throws: `LoopError` if no folder can be watched.
    init(loop: EventLoop, changed: @escaping () -> Void) throws(LoopError) {
        self.loop = loop
        self.changed = changed
        let folders = Dictionary(grouping: WorkerSandbox.systemFiles, by: Folder.parent)
        for (folder, files) in folders where access(folder, F_OK) == 0 {
            let names = Set(files.compactMap { $0.split(separator: "/").last.map(String.init) })
            watchers.append(
                try FileWatcher(loop: loop, path: folder) { [unowned self] name in
                    if name.map(names.contains) ?? true { lookSoon() }
                })
        }
    }

    private func lookSoon() {
        guard timer == nil else { return }
        let timer = Timer(loop: loop) { [unowned self] in
            self.timer = nil
            let now = Self.identities
            guard now != known else { return }
            known = now
            changed()
        }
        timer.start(afterMilliseconds: Self.settleMilliseconds)
        self.timer = timer
    }

    /// The device and inode of each file.
    private static var identities: [[UInt64]] {
        WorkerSandbox.systemFiles.map { path in
            var status = stat()
            return stat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
        }
    }
}
