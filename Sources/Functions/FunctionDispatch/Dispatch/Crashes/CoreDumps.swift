import EventLoop
import Files
import FunctionWorker
import Glibc
import Logging
import Logs

/// Moves the core dumps of crashed workers from their folders into `cores` of the data directory, and keeps the newest. Belongs to the
/// dispatcher's loop.
final class CoreDumps {
    private let loop: EventLoop
    private let folders: String
    private let directory: String
    private let limits: CoreDumpLimits
    private let log: Logger

    /// - Parameter folders: the folder with the folders of workers.
    init(loop: EventLoop, folders: String, directory: String, limits: CoreDumpLimits, log: Logger) {
        self.loop = loop
        self.folders = folders
        self.directory = directory
        self.limits = limits
        self.log = log
        guard let obstacle = CorePattern.current.obstacle else { return }
        log.warning("no core dumps of functions are kept", metadata: ["because": "\(obstacle)"])
    }

    /// Keeps the dump of a worker that has ended.
    func collect(of artifact: Artifact, pid: Int32) {
        guard let prefix = CorePattern.current.prefix else { return }
        let store = CoreDumpStore(directory: directory, limits: limits)
        let (folder, name) = ("\(folders)/\(artifact.folder)", artifact.name)
        loop.offload { store.keep(from: folder, prefix: prefix, name: name, pid: pid) } then: { [log, limits] kept in
            guard let kept else {
                return log.warning("no core dump of an instance was found", metadata: ["plugin": "\(name)", "pid": "\(pid)"])
            }
            var facts: Logger.Metadata = ["plugin": "\(name)", "pid": "\(pid)", "file": "\(kept.file)", "bytes": "\(kept.bytes)"]
            if kept.bytes >= limits.bytesMax { facts["cut"] = "true" }
            log.notice("a core dump of an instance was kept", metadata: facts)
        }
    }
}

/// The pattern by which the kernel names core dumps (core(5)).
package struct CorePattern {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// The machine's own.
    package static var current: CorePattern {
        let text = (try? WholeFile.readText("/proc/sys/kernel/core_pattern", sizeBytesMax: 512)) ?? "core"
        return CorePattern(text.filter { $0 != "\n" })
    }

    /// The beginning of the names of dumps in the folder of a process; nil if the kernel puts none there.
    package var prefix: String? {
        guard !text.hasPrefix("|"), !text.contains("/") else { return nil }
        let prefix = text.prefix { $0 != "%" }
        return prefix.isEmpty ? nil : String(prefix)
    }

    /// The reason why no dumps can be kept, with a remedy; nil if they can.
    package var obstacle: String? {
        if let limit = Self.hardLimit, limit == 0 {
            return "the hard limit of core dumps of this process is 0: raise it (ulimit -Hc unlimited, or LimitCORE=infinity of the service)"
        }
        guard prefix == nil else { return nil }
        let remedy = "to keep them in the data directory: sysctl kernel.core_pattern=core"
        if text.hasPrefix("|") {
            let program = text.dropFirst().prefix { $0 != " " }
            let place = program.hasSuffix("systemd-coredump") ? " (coredumpctl lists them)" : ""
            return "the kernel passes core dumps to \(program), whatever their size\(place); \(remedy)"
        }
        return "kernel.core_pattern is \(text), where workers may not write; \(remedy)"
    }

    private static var hardLimit: UInt? {
        var limits = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limits) == 0 ? UInt(limits.rlim_max) : nil
    }
}

/// The folder of kept dumps. All functions block.
struct CoreDumpStore: Sendable {
    let directory: String
    let limits: CoreDumpLimits

    private static let suffix = ".core"
    /// The most files of a folder that are looked at.
    private static let lookedAtMax = 1000

    /// Moves the dump out of a worker's folder, and removes the oldest kept ones.
    ///
    /// - Returns: nil if there is none.
    func keep(from folder: String, prefix: String, name: String, pid: Int32) -> (file: String, bytes: Int)? {
        guard let found = newest(in: folder, prefix, pid) else { return nil }
        defer { close(found.descriptor) }
        mkdir(directory, 0o700)
        // The time is the host's: the plugin could set that of the file.
        let file = "\(directory)/\(WallClock.now().unixMilliseconds)-\(name)-\(pid)\(Self.suffix)"
        // By its descriptor, before it gets its name: another worker of the plugin may put something else in its place at any time.
        guard fchmod(found.descriptor, 0o600) == 0, rename(found.path, file) == 0 else { return nil }
        guard Self.isSame(file, found.descriptor) else {
            FileTree.remove(file)
            return nil
        }
        for old in kept.dropLast(limits.countMax) { unlink("\(directory)/\(old)") }
        return (file, found.bytes)
    }

    /// Whether a path leads to an open file itself.
    private static func isSame(_ path: String, _ descriptor: Int32) -> Bool {
        var (named, opened) = (stat(), stat())
        return lstat(path, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
    }

    /// The names of the kept dumps, oldest first.
    private var kept: [String] { Folder.names(in: directory).filter { $0.hasSuffix(Self.suffix) }.sorted() }

    /// The core dump of a process in a folder: one with its id in the name, otherwise the newest. Files of other kinds, links, and files with
    /// several names are left alone: the plugin may have made them.
    private func newest(in folder: String, _ prefix: String, _ pid: Int32) -> (path: String, descriptor: Int32, bytes: Int)? {
        let names = Folder.names(in: folder).filter { $0.hasPrefix(prefix) }
        let own = names.filter { $0.split { !$0.isNumber }.contains { $0 == "\(pid)" } }
        var newest: (path: String, descriptor: Int32, bytes: Int, time: Int)?
        for name in (own.isEmpty ? names : own).prefix(Self.lookedAtMax) {
            let path = "\(folder)/\(name)"
            let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { continue }
            guard let status = Self.status(ofDump: file), status.st_size <= limits.bytesMax, newest.map({ status.st_mtim.tv_sec >= $0.time }) ?? true
            else {
                close(file)
                continue
            }
            if let newest { close(newest.descriptor) }
            newest = (path, file, Int(status.st_size), status.st_mtim.tv_sec)
        }
        return newest.map { ($0.path, $0.descriptor, $0.bytes) }
    }

    private static func status(ofDump file: Int32) -> stat? {
        var status = stat()
        var head = [UInt8](repeating: 0, count: 18)
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1, status.st_uid == geteuid(),
            read(file, &head, 18) == 18, head.starts(with: [0x7F, 0x45, 0x4C, 0x46]), head[16] == 4
        else { return nil }
        return status
    }
}
