#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the storage asks of the file system.
enum FileSystem {
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// 0 where nothing is.
    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Makes an empty file for its owner only, and does nothing where there is one.
    static func makeFile(_ path: String, in directory: String) throws(StoreError) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        if descriptor < 0 {
            // An existing one stays closed: closing it would end SQLite's locks on it.
            guard errno == EEXIST else { throw StoreError(systemError: errno, "make \(path)") }
            return
        }
        close(descriptor)
        try sync(directory)
    }

    /// Makes a folder for its owner only, with those that it lies in.
    static func makeDirectory(_ path: String) throws(StoreError) {
        if mkdir(path, 0o700) == 0 { return }
        var failure = errno
        if failure == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try makeDirectory(String(path[..<slash]))
            if mkdir(path, 0o700) == 0 { return }
            failure = errno
        }
        guard failure == EEXIST else { throw StoreError(systemError: failure, "make \(path)") }
    }

    /// Does nothing where there is no file.
    static func remove(_ path: String) throws(StoreError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw StoreError(systemError: errno, "remove \(path)")
    }

    /// Whether so many bytes can be written there, which is tried.
    static func hasRoom(bytes: Int, in directory: String) -> Bool {
        let path = "\(directory)/room"
        let descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
        // Without descriptors nothing is known of the room, and closing databases is what helps.
        guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
        defer {
            close(descriptor)
            unlink(path)
        }
        let content = [UInt8](repeating: 0, count: bytes)
        return write(descriptor, content, bytes) == bytes
    }

    /// Makes the names in a folder durable.
    static func sync(_ directory: String) throws(StoreError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreError(systemError: errno, "open \(directory)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreError(systemError: errno, "sync \(directory)") }
    }

    /// The names in a folder; none where there is no folder.
    static func names(in directory: String) throws(StoreError) -> [String] {
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

extension StoreError {
    init(systemError: Int32, _ operation: String) {
        let kind: Kind =
            switch systemError {
            case ENOSPC, EDQUOT, EFBIG: .full
            case EROFS, EACCES, EPERM: .readOnly
            case EMFILE, ENFILE, ENOMEM: .exhausted
            default: .io
            }
        self.init(kind, "\(operation): \(String(cString: strerror(systemError)))")
    }
}
