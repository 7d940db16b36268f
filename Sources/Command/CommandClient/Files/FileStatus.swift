import Glibc

/// What a name of the file system leads to.
public struct FileStatus: Sendable {
    /// What sort of thing it is.
    public enum Kind: Sendable {
        case file, folder, other
    }

    /// What it is; `other` for sockets, devices and links that are not followed.
    public let kind: Kind
    /// The user whose it is.
    public let owner: UInt32
    /// When it was changed last, in seconds since 1970.
    public let modified: Int
    /// How long a file is; nil for what is none.
    public let sizeBytes: Int?
    private let device: UInt64
    private let node: UInt64

    /// nil where there is nothing.
    ///
    /// - Parameter followsLinks: whether a symbolic link stands for what it leads to.
    public init?(_ path: String, followsLinks: Bool = true) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    /// What is open; nil, with `errno`, where nothing is.
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

    /// Whether both are of one and the same file, whatever its names.
    public func isSameFile(as other: FileStatus) -> Bool { device == other.device && node == other.node }
}
