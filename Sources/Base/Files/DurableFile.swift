import Glibc

/// Atomic, durable file updates: after a crash of the machine a file has its old or its new contents. All functions block.
public enum DurableFile {
    /// Replaces the contents of a file.
    ///
    /// - Parameter owner: the user and the group that get the file; those of this process where nil.
    /// - Throws: `FileFailure`; the file is then unchanged.
    public static func replace(
        _ path: String, with bytes: [UInt8], mode: mode_t, owner: (user: uid_t, group: gid_t)? = nil
    ) throws(FileFailure) {
        let fresh = freshPath(of: path)
        try writeWhole(fresh, bytes, mode: mode)
        if let owner, chown(fresh, owner.user, owner.group) != 0 { throw removing(fresh) }
        guard rename(fresh, path) == 0 else { throw removing(fresh) }
        Folder.sync(Folder.parent(of: path))
    }

    /// Returns the contents of a file, which is created once if it is missing. Concurrent callers get the same contents. A file of white
    /// space only counts as missing, since it cannot have been used.
    ///
    /// - Parameter make: creates the contents.
    /// - Returns: nil for a dangling symbolic link, which is assumed to be intended.
    /// - Throws: `FileFailure` if the file cannot be read or written.
    public static func kept(
        _ path: String, sizeBytesMax: Int, mode: mode_t, make: () -> [UInt8]
    ) throws(FileFailure) -> [UInt8]? {
        // On a file system without locks, the second caller finds the first one's file below.
        let folder = open(Folder.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        if folder >= 0, flock(folder, LOCK_EX) == 0 { removeUnfinished(path) }
        if let bytes = try used(path, sizeBytesMax) { return bytes }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG { unlink(path) }
        let bytes = make()
        return try create(path, with: bytes, mode: mode) ? bytes : try used(path, sizeBytesMax)
    }

    private static func used(_ path: String, _ sizeBytesMax: Int) throws(FileFailure) -> [UInt8]? {
        guard let bytes = try WholeFile.readIfAny(path, sizeBytesMax: sizeBytesMax), bytes.contains(where: { $0 > 32 }) else { return nil }
        return bytes
    }

    /// - Returns: whether the file was created; an existing file is kept.
    private static func create(_ path: String, with bytes: [UInt8], mode: mode_t) throws(FileFailure) -> Bool {
        let fresh = freshPath(of: path)
        // A leftover of an interrupted writer may have another mode.
        unlink(fresh)
        try writeWhole(fresh, bytes, mode: mode)
        // Some file systems have no hard links.
        let isMade = link(fresh, path) == 0 || errno == EPERM && rename(fresh, path) == 0
        guard isMade || errno == EEXIST else { throw removing(fresh) }
        unlink(fresh)
        Folder.sync(Folder.parent(of: path))
        return isMade
    }

    private static func writeWhole(_ path: String, _ bytes: [UInt8], mode: mode_t) throws(FileFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileFailure("written") }
        guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }), fsync(descriptor) == 0 else {
            let failure = removing(path)
            close(descriptor)
            throw failure
        }
        guard close(descriptor) == 0 else { throw removing(path) }
    }

    /// The temporary file with the new contents, which then replaces the file.
    private static func freshPath(of path: String) -> String { "\(path).new" }

    /// Removes the temporary file that an interrupted writer has left.
    public static func removeUnfinished(_ path: String) { unlink(freshPath(of: path)) }

    private static func removing(_ path: String) -> FileFailure {
        let failure = FileFailure("written")
        unlink(path)
        return failure
    }

    /// Writes all bytes to a descriptor.
    ///
    /// - Returns: whether all was written; otherwise `errno` has the reason.
    public static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return false }
            written += count
        }
        return true
    }
}
