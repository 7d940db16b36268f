import Files
import Glibc

/// The files that backups and restores make in the data directory for a while, and that a killed host leaves there.
enum Leftovers {
    /// The start of the name of a folder with the members of an archive: `restore-PID-NUMBER`.
    static let stagePrefix = "restore-"
    /// The start of the name of a copy of a database: `backup-PID-NUMBER.sqlite`.
    static let copyPrefix = "backup-"

    /// Removes them, except for those of another living process: the host that this one takes over from. Call when interrupted restores are
    /// completed, with the lock of the directory.
    static func remove(from data: String) {
        for name in Folder.names(in: data) {
            guard let process = process(of: name), process == getpid() || kill(process, 0) != 0 && errno == ESRCH else { continue }
            FileTree.remove("\(data)/\(name)")
        }
    }

    /// The process that made a file; nil for other files.
    private static func process(of name: String) -> Int32? {
        guard let prefix = [stagePrefix, copyPrefix].first(where: name.hasPrefix) else { return nil }
        let parts = name.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let process = Int32(parts[0]), process > 0, parts[1].utf8.first.map({ (0x30...0x39).contains($0) }) == true else {
            return nil
        }
        return process
    }
}
