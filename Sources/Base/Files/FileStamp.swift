import Glibc

/// Metadata that identifies one state of a file without reading it.
public struct FileStamp: Hashable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    /// Modification time, which can be set by programs.
    private let written: timespec
    /// Change time, which cannot be set back.
    let changed: timespec
    /// Whether it is a folder.
    public let isFolder: Bool

    /// Nil if there is no such file.
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

    /// Whether it is the same file or folder, regardless of its contents.
    public func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }

    /// Whether it may have changed after `moment`, a time of the real-time clock. The kernel's time stamps lag by up to a tick.
    public func isSince(_ moment: timespec) -> Bool {
        let lag = 20_000_000
        return (changed.tv_sec - moment.tv_sec) * 1_000_000_000 + changed.tv_nsec - moment.tv_nsec > -lag
    }

    /// Whether its modification time is in `moment`'s second or before, as for a file that was moved here.
    package func isWritten(bySecondOf moment: timespec) -> Bool { written.tv_sec <= moment.tv_sec }

    /// The real-time clock, which the kernel uses for time stamps.
    public static func now() -> timespec {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        return moment
    }
}

extension Folder {
    /// The entries of a folder except those that begin with a dot, and whether each is a folder; empty if it cannot be read.
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

    /// All names below a folder, as lines; folders end with a slash. At most 64 levels deep.
    package static func structure(_ path: String, depth: Int = 0) -> String {
        var text = ""
        for (name, isFolder) in entries(path) {
            text += isFolder ? "\(path)/\(name)/\n" : "\(path)/\(name)\n"
            if isFolder, depth < 64 { text += structure("\(path)/\(name)", depth: depth + 1) }
        }
        return text
    }
}
