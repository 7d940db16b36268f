import Glibc

/// What tells one state of a file from another without reading it.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    /// When its contents were written last, as far as whoever wrote them tells.
    private let written: timespec
    /// When anything of it changed last, which nobody can set back.
    let changed: timespec
    /// Whether it is a folder.
    public let isFolder: Bool

    /// nil when there is no such file.
    public init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        size = Int(status.st_size)
        written = status.st_mtim
        changed = status.st_ctim
        isFolder = status.st_mode & S_IFMT == S_IFDIR
    }

    public static func == (left: FileStamp, right: FileStamp) -> Bool {
        left.device == right.device && left.inode == right.inode && left.size == right.size && left.written.tv_sec == right.written.tv_sec
            && left.written.tv_nsec == right.written.tv_nsec && left.changed.tv_sec == right.changed.tv_sec
            && left.changed.tv_nsec == right.changed.tv_nsec
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(inode)
        hasher.combine(changed.tv_nsec)
    }

    /// Whether it is the same file or folder, whatever has become of its contents.
    public func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }

    /// Whether it may have changed after `moment`, of the real-time clock. The kernel's stamps lag by up to a tick.
    public func isSince(_ moment: timespec) -> Bool {
        let lag = 20_000_000
        return (changed.tv_sec - moment.tv_sec) * 1_000_000_000 + changed.tv_nsec - moment.tv_nsec > -lag
    }

    /// Whether its contents claim to be from `moment`'s second or before, as those of a file that was moved here.
    package func isWritten(bySecondOf moment: timespec) -> Bool { written.tv_sec <= moment.tv_sec }

    /// The real-time clock, by which the kernel stamps files.
    public static func now() -> timespec {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        return moment
    }
}

extension Folder {
    /// The names of what is in a folder, those that begin with a dot left out, and whether each is a folder; empty where it cannot be read.
    public static func entries(_ path: String) -> [(name: String, isFolder: Bool)] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var entries: [(name: String, isFolder: Bool)] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix(".") else { continue }
            var isFolder = entry.pointee.d_type == UInt8(DT_DIR)
            if entry.pointee.d_type == UInt8(DT_LNK) || entry.pointee.d_type == UInt8(DT_UNKNOWN) {
                var status = stat()
                isFolder = stat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            }
            entries.append((name, isFolder))
        }
        return entries.sorted { $0.name < $1.name }
    }

    /// All names below a folder, as lines; folders end with a slash. Nothing is followed deeper than 64 levels.
    package static func structure(_ path: String, depth: Int = 0) -> String {
        var text = ""
        for (name, isFolder) in entries(path) {
            text += isFolder ? "\(path)/\(name)/\n" : "\(path)/\(name)\n"
            if isFolder, depth < 64 { text += structure("\(path)/\(name)", depth: depth + 1) }
        }
        return text
    }
}
