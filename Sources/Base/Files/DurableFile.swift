import Glibc

/// Files that are either as they were or as they were to become, whenever the machine stops. Everything blocks.
public enum DurableFile {
    /// Puts these contents in the place of whatever is there.
    ///
    /// - Throws: `FileFailure`; then the file is as it was.
    public static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(FileFailure) {
        let fresh = freshPath(of: path)
        try writeWhole(fresh, bytes, mode: mode)
        guard rename(fresh, path) == 0 else { throw removing(fresh) }
        Folder.sync(Folder.parent(of: path))
    }

    /// What is in a file that is made once. All who ask for it at the same time get the same; a file with nothing but blanks counts as none,
    /// since nobody can have used it.
    ///
    /// - Parameter make: what is in it when there is none.
    /// - Returns: nil for a link that leads nowhere, which is somebody's plan.
    /// - Throws: `FileFailure` where it cannot be read or written.
    public static func kept(
        _ path: String, sizeBytesMax: Int, mode: mode_t, make: () -> [UInt8]
    ) throws(FileFailure) -> [UInt8]? {
        // Where a file system has no locks, who comes second finds the first's file below.
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

    /// - Returns: whether it was made; one that is there stays as it is.
    private static func create(_ path: String, with bytes: [UInt8], mode: mode_t) throws(FileFailure) -> Bool {
        let fresh = freshPath(of: path)
        // What an interrupted writer has left may have another mode.
        unlink(fresh)
        try writeWhole(fresh, bytes, mode: mode)
        // Not every file system has links.
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

    /// Where new contents are written before they take their place.
    private static func freshPath(of path: String) -> String { "\(path).new" }

    /// Removes what an interrupted writer of this file has left beside it.
    public static func removeUnfinished(_ path: String) { unlink(freshPath(of: path)) }

    private static func removing(_ path: String) -> FileFailure {
        let failure = FileFailure("written")
        unlink(path)
        return failure
    }

    /// Writes all of these to what is open.
    ///
    /// - Returns: whether that was done; `errno` says why not.
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
