import CLinux
import Configuration
import Files
import Glibc
import HostCore

/// The data directory and files with secrets.
extension HostExamination {
    private static let freeBytesMin = 64 << 20
    private static let freeBytesWanted = 1 << 30

    mutating func examineData() {
        let check = "data directory"
        let path = subject.dataDirectory
        var status = stat()
        guard stat(path, &status) == 0 else {
            let parent = Folder.parent(of: path)
            guard errno == ENOENT, access(parent, W_OK | X_OK) == 0 else {
                return fail(check, "\(path) cannot be used or created: \(reason()); name another with --data-dir, or make it for the host's user")
            }
            examineSpace(check, parent)
            return settle(check, "\(path) does not exist yet; the first start creates it")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return fail(check, "\(path) is not a directory; remove the file, or name another with --data-dir")
        }
        if status.st_uid != geteuid() {
            let message = "\(path) belongs to user \(status.st_uid), and this is user \(geteuid()): run this command and the host as its owner"
            if geteuid() == 0 || access(path, W_OK | X_OK) == 0 { warn(check, message) } else { return fail(check, message) }
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { return fail(check, "\(path) cannot be written to: \(reason()); chmod 700 \(path)") }
        if status.st_mode & 0o077 != 0 { fail(check, "other users can enter \(path): chmod 700 \(path)") }
        for file in secretFiles(in: path) where isReadable(file, 0o077) { fail(check, "other users can read \(file): chmod 600 \(file)") }
        examineSpace(check, path)
        settle(check, "\(path) is writable, and closed to other users")
    }

    /// Checks the files of secrets beside `functions.json`.
    mutating func examineSecretFiles(_ configuration: Configuration) {
        let folders = Set(configuration.plugins.map(\.environmentDirectory) + [configuration.directory])
        for file in folders.map({ "\($0)/.secret.local" }).sorted() where isReadable(file, 0o007) {
            warn("secrets", "other users can read \(file): chmod 600 \(file), or 640 with the host's group")
        }
    }

    /// The files in the data directory whose contents are secrets.
    private func secretFiles(in path: String) -> [String] {
        // SQLite gives databases the usual mode; the folder closes them.
        let users = Folder.names(in: "\(path)/users").filter { !$0.contains(".sqlite") }.map { "\(path)/users/\($0)" }
        return (["\(path)/admin-token", "\(path)/deployed.json"] + users.sorted()).filter { file in
            var status = stat()
            return lstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Whether the mode of a file has one of these bits.
    private func isReadable(_ file: String, _ bits: mode_t) -> Bool {
        var status = stat()
        return stat(file, &status) == 0 && status.st_mode & bits != 0
    }

    private mutating func examineSpace(_ check: String, _ path: String) {
        let free = Int(linux_free_bytes(path))
        let largest = Folder.names(in: "\(path)/database").map { name -> Int in
            var status = stat()
            return stat("\(path)/database/\(name)", &status) == 0 ? Int(status.st_size) : 0
        }.max() ?? 0
        let text = "\(free >> 20) MiB are free in \(path)"
        if free >= 0, free < Self.freeBytesMin {
            fail(check, "\(text), too few for the host: make room, or name another folder with --data-dir")
        } else if free >= 0, free < max(Self.freeBytesWanted, 2 * largest) {
            warn(check, "\(text); a host needs 1 GiB, and twice the size of its largest database for backups: make room")
        }
        guard let kind = Self.unsuitable[UInt32(truncatingIfNeeded: linux_file_system(path))] else { return }
        if kind.isVolatile, subject.mode == .development { return }
        warn(check, "\(path) is on \(kind.name), \(kind.consequence)")
    }

    private struct FileSystem {
        let name: String
        var isVolatile = false
        let consequence: String
    }

    private static let remote = "whose locks and flushes are not reliable enough for databases: use a local disk"
    /// By the number in statfs(2).
    private static let unsuitable: [UInt32: FileSystem] = [
        0x6969: FileSystem(name: "NFS", consequence: remote),
        0xFF53_4D42: FileSystem(name: "CIFS", consequence: remote),
        0xFE53_4D42: FileSystem(name: "SMB", consequence: remote),
        0x0102_1997: FileSystem(name: "9p", consequence: remote),
        0x6573_5546: FileSystem(name: "FUSE", consequence: remote),
        0x0102_1994: FileSystem(name: "tmpfs", isVolatile: true, consequence: "which is lost when the machine stops: use a disk"),
        0x8584_58F6: FileSystem(name: "ramfs", isVolatile: true, consequence: "which is lost when the machine stops: use a disk"),
        0x794C_7630: FileSystem(name: "an overlay", isVolatile: true, consequence: "which is lost with the container: mount a volume there"),
    ]

    private func reason() -> String { String(cString: strerror(errno)) }
}
