import Files

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Functions on the files of stores, with errors of the kinds that stores distinguish. All of them block.
public enum StoreFiles {
    /// Whether there is a file of this name.
    public static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The size in bytes; 0 where there is no file.
    public static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Makes an empty file that only its owner can read. Does nothing if it exists. SQLite would make it readable for everyone.
    public static func makeFile(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor < 0 {
            // An existing file is not opened: closing it would end SQLite's locks on it.
            guard errno == EEXIST else { throw StoreError(systemError: errno, "make \(path)") }
            return
        }
        close(descriptor)
        try sync(Folder.parent(of: path))
    }

    /// Makes a folder for its owner only, and its parents.
    public static func makeDirectory(_ path: String) throws(StoreError) {
        if mkdir(path, 0o700) == 0 { return }
        var failure = errno
        if failure == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try makeDirectory(String(path[..<slash]))
            if mkdir(path, 0o700) == 0 { return }
            failure = errno
        }
        guard failure == EEXIST else { throw StoreError(systemError: failure, "make \(path)") }
    }

    /// Removes a file; does nothing if there is none.
    public static func remove(_ path: String) throws(StoreError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw StoreError(systemError: errno, "remove \(path)")
    }

    /// The number of bytes that may be written to the disk of a file; `Int.max` if it is not known.
    static func freeBytes(around path: String) -> Int {
        var state = statvfs()
        guard statvfs(path, &state) == 0 else { return .max }
        let (bytes, isTooMuch) = Int(clamping: state.f_bavail).multipliedReportingOverflow(by: Int(clamping: state.f_frsize))
        return isTooMuch ? .max : bytes
    }

    /// Whether `bytes` can be written to a folder. Writes them to find out.
    public static func hasRoom(bytes: Int, in directory: String) -> Bool {
        let path = "\(directory)/room"
        let descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
        // Without descriptors the free room is unknown, and closing databases is what helps.
        guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
        defer {
            close(descriptor)
            unlink(path)
        }
        let content = [UInt8](repeating: 0, count: bytes)
        return write(descriptor, content, bytes) == bytes
    }

    /// Makes the names in a folder durable.
    public static func sync(_ directory: String) throws(StoreError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError(systemError: errno, "open \(directory)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreError(systemError: errno, "sync \(directory)") }
    }

    /// The names in a folder; none where there is no folder.
    public static func names(in directory: String) throws(StoreError) -> [String] {
        guard let folder = opendir(directory) else {
            guard errno == ENOENT else { throw StoreError(systemError: errno, "list \(directory)") }
            return []
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }
}
