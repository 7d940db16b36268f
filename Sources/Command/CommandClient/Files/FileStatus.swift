import Glibc

/// The status of a path in the file system.
public struct FileStatus: Sendable {
    /// The kind of a file.
    public enum Kind: Sendable {
        case file, folder, other
    }

    /// The kind; `other` for sockets, devices and links that are not followed.
    public let kind: Kind
    /// The owning user.
    public let owner: UInt32
    /// The modification time, in seconds since 1970.
    public let modified: Int
    /// The size of a file; nil for other kinds.
    public let sizeBytes: Int?
    private let device: UInt64
    private let node: UInt64

    /// Nil if there is no such file.
    ///
    /// - Parameter followsLinks: whether to follow symbolic links.
    public init?(_ path: String, followsLinks: Bool = true) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    /// The status of an open file; nil, with `errno`, on failure.
    public init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        default: kind = .other
        }
        owner = status.st_uid
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
        modified = status.st_mtim.tv_sec
        sizeBytes = kind == .file ? Int(status.st_size) : nil
    }

    /// Whether both describe the same file, under any names.
    public func isSameFile(as other: FileStatus) -> Bool { device == other.device && node == other.node }
}
